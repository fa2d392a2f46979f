import type { Clock } from "@lanthorn/runtime";
import { type Binding, type Host, macBytes, standingMs } from "../hosts/host.ts";
import type { HostTable } from "../hosts/host-table.ts";
import {
  CHECK_AFTER_MS,
  endQuestion,
  isGone,
  missesNeeded,
  noteAsked,
  OFFLINE_FLOOR_MISSES,
  SILENCE_BELIEVED_MS,
  startAnew,
  type Watch,
} from "../hosts/presence.ts";
import type { Link } from "../capture/link.ts";
import { askFor } from "../egress/request-frames.ts";

/** Looks after hosts that fell silent: asks them, and says who is gone. */
export interface Checks {
  /**
   * Ends questions that had their time and queues new ones. Call it each second while the link is up.
   * @param limit Most questions to queue.
   */
  look(now: number, limit: number): void;
  /** Whether questions wait. */
  readonly waiting: boolean;
  /**
   * The queued questions as frames, each made, and counted as asked, when it is taken.
   * @param others What else is to be asked: however many packets unknown hosts cause, a known host that fell silent is polled before the next of them.
   */
  questions(link: Link, others: readonly Iterable<Uint8Array>[]): Generator<Uint8Array>;
  /** Nothing could be heard until `now`: no miss before it counts. */
  startAnew(now: number): void;
}

/** Hosts fall silent together, after each sweep: their checks are spread over this time. */
const SPREAD_MS = 10_000;
/** How fresh another host's word must be to show that the link works: all quiet hosts are asked within forty seconds. */
const PROOF_MS = 45_000;
/** An address of a host that is alive at another one. */
const ADDRESS_CHECK_AFTER_MS = 300_000;
/** While one address is in doubt, the others are asked too: only a host that is awake can show that it has left an address. */
const WITNESS_CHECK_AFTER_MS = 10_000;
/** Addresses of a silent host that are asked in turn. */
const ADDRESSES_ASKED = 4;

/** Who was there for so long is known: a flood of hosts that were not waits for it. Twice this, and a pool of MACs that is used anew is asked. */
const KNOWN_AFTER_MS = 120_000;
/** What is left for the others where all known hosts are silent, of the rate. */
const OTHERS_SHARE = 0.1;
/** What known hosts that have missed a question may take before the walk through all known ones, of the rate. */
const DOUBT_SHARE = 0.5;

interface Question {
  /** Whether the host is there at all, or whether it still has this address. */
  readonly about: "host" | "address";
  readonly host: Host;
  readonly binding: Binding;
  /** Its own MAC alone, or everyone: an access point keeps unicast frames for a sleeper, and broadcast reaches a moved one. */
  readonly isDirected: boolean;
}

/** @param deps.last Updated in place by its owner, see `Evidence.last`. */
export function createChecks(deps: {
  readonly table: HostTable;
  readonly clock: Clock;
  /** The last evidence of any host. */
  readonly last: { readonly host: Host | null; readonly at: number };
  /** Whether all its addresses may be asked. */
  readonly mayAsk: (host: Host) => boolean;
  /** It is offline from now on. */
  readonly onGone: (host: Host) => void;
  readonly onAddressGone: (host: Host, binding: Binding) => void;
}): Checks {
  const { table, clock, last } = deps;
  const queues: { known: Question[]; others: Question[] } = { known: [], others: [] };
  const queued = new Set<Watch>();
  const walks = { known: table.all(), others: table.all() };
  let aliveFrom = clock.monotonic();

  const linkWorks = (host: Host, now: number) => {
    const others = table.online - (host.presence === "online" ? 1 : 0);
    if (others === 0) return true;
    if (last.host !== host && now - last.at < PROOF_MS) return true;
    return now - Math.max(last.at, aliveFrom) > SILENCE_BELIEVED_MS;
  };
  const judgeHost = (host: Host, now: number) => {
    if (!endQuestion(host.watch, now, linkWorks(host, now))) return;
    if (host.presence === "offline") {
      if (!isGone(host.watch, now, OFFLINE_FLOOR_MISSES)) return;
      host.confirmedOffline = true;
      host.unreported = true;
    } else if (isGone(host.watch, now, missesNeeded(host.watch)) && linkWorks(host, now)) {
      host.missedChecks = host.watch.misses;
      host.confirmedOffline = true;
      table.setPresence(host, "offline");
      deps.onGone(host);
    }
  };
  const judgeAddresses = (host: Host, now: number) => {
    // Backwards, as one may leave.
    for (let at = host.bindings.length - 1; at >= 0; at -= 1) {
      const binding = host.bindings[at] as Binding;
      const isHostHeard = now - host.watch.seenAt < CHECK_AFTER_MS;
      if (!endQuestion(binding.watch, now, isHostHeard) || !isHostHeard || host.bindings.length < 2) continue;
      if (isGone(binding.watch, now, missesNeeded(host.watch))) deps.onAddressGone(host, binding);
    }
  };
  const enqueue = (watch: Watch, question: Question) => {
    if (queued.has(watch)) return;
    queued.add(watch);
    queues[kindOf(question.host)].push(question);
  };
  const queueQuestions = (host: Host, now: number) => {
    const { watch, bindings } = host;
    const isSilent = now - watch.silentFrom >= CHECK_AFTER_MS + (host.key % SPREAD_MS);
    if (isSilent && watch.askedAt === null && !(host.presence === "offline" && host.confirmedOffline)) {
      const inTurn =
        bindings.length < 2 ? bindings : bindings.toSorted((a, b) => doubt(a) - doubt(b) || b.watch.silentFrom - a.watch.silentFrom);
      const binding = inTurn[Math.floor(watch.misses / 2) % Math.min(inTurn.length, ADDRESSES_ASKED)];
      if (binding) enqueue(watch, { about: "host", host, binding, isDirected: watch.misses % 2 === 0 });
    }
    if (isSilent || bindings.length < 2) return;
    const isOneInDoubt = bindings.some((binding) => isInDoubt(binding));
    for (const binding of bindings) {
      const { watch } = binding;
      const isDue = isInDoubt(binding) || now - watch.silentFrom >= (isOneInDoubt ? WITNESS_CHECK_AFTER_MS : ADDRESS_CHECK_AFTER_MS);
      if (isDue && watch.askedAt === null) enqueue(watch, { about: "address", host, binding, isDirected: watch.misses % 2 === 0 });
    }
  };
  /** It goes on where it ended, so that with more silent hosts than the rate allows each has its turn. */
  const walkOn = (kind: "known" | "others", now: number, limit: number) => {
    for (let left = table.size; left > 0 && queues[kind].length < limit; left -= 1) {
      let next = walks[kind].next();
      if (next.done === true) {
        walks[kind] = table.all();
        next = walks[kind].next();
      }
      if (next.done === true) break;
      if (kindOf(next.value) === kind && deps.mayAsk(next.value)) queueQuestions(next.value, now);
    }
  };
  function* take(queue: Question[], link: Link): Generator<Uint8Array> {
    for (let question = queue.shift(); question; question = queue.shift()) {
      const { about, host, binding, isDirected } = question;
      const watch = about === "host" ? host.watch : binding.watch;
      queued.delete(watch);
      // It left the table, or spoke while the question waited.
      const now = clock.monotonic();
      const isNeeded = now - watch.silentFrom >= (about === "host" ? CHECK_AFTER_MS : WITNESS_CHECK_AFTER_MS) || isInDoubt(binding);
      const frame =
        table.byMac(host.key) === host && isNeeded ? askFor(link, binding.bytes, isDirected ? macBytes(host.key) : null) : null;
      if (!frame) continue;
      noteAsked(watch, now);
      noteAsked(binding.watch, now);
      yield frame;
    }
  }
  return {
    look(now, limit) {
      for (const host of table.all()) {
        judgeHost(host, now);
        judgeAddresses(host, now);
        // The table has those first that were found first: of known hosts that are in doubt, they are asked before the others.
        const isDoubtful = host.watch.misses > 0 && kindOf(host) === "known" && queues.known.length < limit * DOUBT_SHARE;
        if (isDoubtful && deps.mayAsk(host)) queueQuestions(host, now);
      }
      walkOn("known", now, limit);
      walkOn("others", now, Math.max(limit - queues.known.length, Math.ceil(limit * OTHERS_SHARE)));
    },
    get waiting() {
      return queues.known.length + queues.others.length > 0;
    },
    *questions(link, others) {
      for (const frames of [...others, take(queues.others, link)]) {
        for (const frame of frames) {
          yield* take(queues.known, link);
          yield frame;
        }
      }
      yield* take(queues.known, link);
    },
    startAnew(now) {
      aliveFrom = now;
      queues.known.length = 0;
      queues.others.length = 0;
      queued.clear();
      for (const host of table.all()) {
        startAnew(host.watch, now);
        for (const { watch } of host.bindings) startAnew(watch, now);
      }
    },
  };
}

function kindOf(host: Host): "known" | "others" {
  return standingMs(host) >= KNOWN_AFTER_MS ? "known" : "others";
}

function isInDoubt({ doubted, watch }: Binding): boolean {
  return doubted || watch.misses > 0;
}

/** Low for the address that is most likely to be answered; IPv4 first, as it is asked by everyone. */
function doubt({ doubted, watch, bytes }: Binding): number {
  return watch.misses + (doubted ? 1 : 0) + (bytes.length === 4 ? 0 : 2);
}
