import type { Link } from "../capture/link.ts";
import { encodeAddressRequest } from "../egress/request-frames.ts";
import { type Host, macBytes, standingMs } from "../hosts/host.ts";
import { notePolled, startAnew, type Watch } from "../hosts/presence.ts";
import { duePolls, isStillNeeded, type Poll, watchOf } from "./due-polls.ts";
import { createSilenceJudge, type SilenceJudgeDeps } from "./silence-judge.ts";

/** Polls hosts that fell silent, and says who is gone. */
export interface Checks {
  /**
   * Judges who did not answer in time, and queues new polls. Call it each second while the link is up.
   * @param limit Most polls to queue.
   */
  tick(now: number, limit: number): void;
  /** Whether polls are queued. */
  readonly waiting: boolean;
  /**
   * The queued polls as frames, each made, and counted as sent, when it is taken.
   * @param others Other frames to send: however many of them unknown hosts cause, a known host that fell silent is polled before the next one.
   */
  packets(link: Link, others: readonly Iterable<Uint8Array>[]): Generator<Uint8Array>;
  /** Nothing could be heard until `now`: no miss before it counts. */
  startAnew(now: number): void;
}

/** Who was there for so long is known: a flood of hosts that were not waits for it. Twice this, and a pool of MACs that is used anew is polled. */
const KNOWN_AFTER_MS = 120_000;
/** What is left for the others where all known hosts are silent, of the rate. */
const OTHERS_SHARE = 0.1;
/** What known hosts that have missed a poll may take before the walk through all known ones, of the rate. */
const DOUBT_SHARE = 0.5;

/** @param deps.mayAsk Whether all addresses of a host may be polled. */
export function createChecks(deps: SilenceJudgeDeps & { readonly mayAsk: (host: Host) => boolean }): Checks {
  const { table, clock } = deps;
  const judge = createSilenceJudge(deps);
  const queues: { readonly known: Poll[]; readonly others: Poll[] } = { known: [], others: [] };
  const queued = new Set<Watch>();
  const walks = { known: table.all(), others: table.all() };

  function enqueue(host: Host, now: number): void {
    if (!deps.mayAsk(host)) return;
    for (const poll of duePolls(host, now)) {
      const watch = watchOf(poll);
      if (queued.has(watch)) continue;
      queued.add(watch);
      queues[kindOf(host)].push(poll);
    }
  }

  /** It goes on where it ended, so that with more silent hosts than the rate allows each has its turn. */
  function walkOn(kind: "known" | "others", now: number, limit: number): void {
    for (let left = table.size; left > 0 && queues[kind].length < limit; left -= 1) {
      let next = walks[kind].next();
      if (next.done === true) {
        walks[kind] = table.all();
        next = walks[kind].next();
      }
      if (next.done === true) break;
      if (kindOf(next.value) === kind) enqueue(next.value, now);
    }
  }

  function* take(queue: Poll[], link: Link): Generator<Uint8Array> {
    for (let poll = queue.shift(); poll; poll = queue.shift()) {
      const { host, binding, isDirected } = poll;
      const watch = watchOf(poll);
      queued.delete(watch);
      const now = clock.monotonic();
      // The host may have left the table.
      if (table.byMac(host.key) !== host || !isStillNeeded(poll, now)) continue;
      const frame = encodeAddressRequest(link, binding.bytes, isDirected ? macBytes(host.key) : null);
      if (!frame) continue;
      notePolled(watch, now);
      notePolled(binding.watch, now);
      yield frame;
    }
  }

  return {
    tick(now, limit) {
      for (const host of table.all()) {
        judge.judge(host, now);
        // The table has those first that were found first: of known hosts that are in doubt, they are polled before the others.
        if (host.watch.misses > 0 && kindOf(host) === "known" && queues.known.length < limit * DOUBT_SHARE) enqueue(host, now);
      }
      walkOn("known", now, limit);
      walkOn("others", now, Math.max(limit - queues.known.length, Math.ceil(limit * OTHERS_SHARE)));
    },
    get waiting() {
      return queues.known.length + queues.others.length > 0;
    },
    *packets(link, others) {
      for (const frames of [...others, take(queues.others, link)]) {
        for (const frame of frames) {
          yield* take(queues.known, link);
          yield frame;
        }
      }
      yield* take(queues.known, link);
    },
    startAnew(now) {
      judge.startAnew(now);
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
