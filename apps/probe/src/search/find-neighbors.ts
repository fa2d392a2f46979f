import type { Clock } from "@lanthorn/runtime";
import { createLossProbes, type LossProbes } from "../probing/loss-probes.ts";
import { createPermutation } from "../probing/permutation.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import { createArpWriter } from "../probing/frames/packet-writers.ts";
import { createScanPump, type ScanPump } from "../probing/scan-pump.ts";
import type { ScanLink } from "../probing/scan-link.ts";
import { createScanRate, type ScanRate } from "../probing/scan-rate.ts";
import type { AnswerClaims } from "./answer-claims.ts";
import { createNeighborAnswers, type NeighborAnswers } from "./neighbor-answers.ts";
import { createNeighborPlaces, type NeighborPlaces, type NeighborRange } from "./neighbor-places.ts";

/** Who is there. */
export interface HostSearch {
  /** Asks for every address until who is there has answered. @throws PacketIoError of sending, and the signal's reason. */
  find(): Promise<void>;
  /** Afterwards: asks the silent once more, and takes answers that come late. @throws As `find`. */
  findLate(): Promise<void>;
  /** How far it is, from 0 to 1. */
  readonly progress: number;
}

/** After the last answer and the last packet: hosts that are awake answer within a few milliseconds. */
const QUIET_MS = 60;
const FIRST_QUIET_MS = 40;
/**
 * The last frames of a pass go to so many of those who have answered: until half of them have answered again, or for so long, answers are on
 * their way, and it is not quiet. A busy processor makes all of them late.
 */
const LAST_FRAMES = 16;
const LAST_FRAMES_MS = 500;
/** Where a host is known to be there, or answers were slow, so long: dozing phones answer after two seconds. */
const MAX_WAIT_MS = 3000;
/** The silent are asked again until nobody new answers: a first loss is found by the second pass, a second one by the third. */
const MAX_PASSES = 5;
/** Of a large network a third pass must be worth it: the second found somebody by so many packets. What it leaves the late pass finds. */
const PACKETS_FOR_ONE = 2000;
/** More than so many answers to repetitions mean that packets or answers get lost. */
const LOSS_SHARE = 0.01;
/** Late answers: dozing phones wake up within 2.5 s, and are asked once more on the way. */
const LATE_REPEAT_MS = 1000;
const LATE_MS = 4500;
/** Where hardly anybody is there, one of so many frames is a loss probe: so many of those who have answered are asked again in turns. */
const LOSS_PROBE_EVERY = 32;
const LOSS_PROBE_PATIENCE_MS = 120;
const FIRST_RATE = 20_000;
const MIN_RATE = 1000;
/** At this rate a /16 is asked within seconds: what is done with its hosts can wait until then. */
const BURST_RATE = 10_000;
/** A smaller search brings no burst: whoever watches the link hears its answers as frames, as all others. */
const MIN_CLAIMED = 4096;

/** What a search of neighbors needs. */
export interface NeighborSearchDeps {
  readonly link: ScanLink;
  readonly mac: Uint8Array;
  readonly ranges: readonly NeighborRange[];
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Addresses where somebody was lately; they are waited for. */
  readonly expected: ReadonlySet<number>;
  /** Each address once, with the MAC that it answered by; the bytes are the receiver's own. A burst's answers come when it is over. */
  readonly onFound: (host: HostTarget) => void;
  /** Absent where nobody else hears the link, or is to hear these answers by itself. */
  readonly claims?: AnswerClaims;
}

/** Searches IPv4 ranges of own subnets by ARP, at most 65,536 addresses: eleven bytes for each are all that is held. */
export function createNeighborSearch(deps: NeighborSearchDeps): HostSearch {
  const { clock, ranges } = deps;
  const places = createNeighborPlaces(ranges);
  const claims = places.total >= MIN_CLAIMED ? deps.claims : undefined;
  const others = places.total - places.own.size;
  const rate = createScanRate({ first: FIRST_RATE, most: deps.framesPerSecond, least: Math.min(MIN_RATE, deps.framesPerSecond) });
  const onOutcome = (at: number, isAnswered: boolean) => {
    rate.noteLossProbe(at, isAnswered);
    if (isAnswered) passes.noteAnswered(at);
  };
  const lossProbes = createLossProbes({ patienceMs: LOSS_PROBE_PATIENCE_MS, onOutcome });
  let isFinding = false;
  const hear = (host: HostTarget) => {
    if (isFinding) claims?.heard(host);
  };
  const answers = createNeighborAnswers({
    ...deps, places, rate, lossProbes, onOther: hear,
    onFound(host) {
      deps.onFound(host);
      hear(host);
    },
  });
  const pump = createScanPump({
    ...deps, onFrame: answers.take, onIdle: (now) => answers.handOverWaiting(now, isFinding && rate.framesPerSecond >= BURST_RATE),
  });
  const passes = createPasses({ ...deps, places, answers, rate, lossProbes, pump });
  /** When somebody new was heard last, as far as it was looked for. */
  let heardAt = 0;
  let heard = 0;
  const isQuiet = (quietMs: number) => {
    const now = clock.monotonic();
    if (answers.found > heard) heardAt = now;
    heard = answers.found;
    if (heard >= others) return true;
    return passes.isDelivered(now) && now - passes.endedAt >= quietMs && now - heardAt >= Math.min(quietMs, FIRST_QUIET_MS);
  };
  const isWorthAnother = (recovered: number): boolean => {
    if (answers.found >= others || passes.count >= MAX_PASSES) return false;
    return passes.count === 1 || recovered * PACKETS_FOR_ONE > others - answers.found;
  };
  const askAll = async () => {
    let before = 0;
    for (let again = true; again; ) {
      await passes.askSilent();
      // How slowly the last ones answered tells how long others may need.
      await pump.listen(MAX_WAIT_MS, () => isQuiet(passes.count === 1 ? FIRST_QUIET_MS : QUIET_MS));
      const recovered = passes.count === 1 ? 0 : answers.found - before;
      if (recovered > answers.found * LOSS_SHARE && recovered > 2) rate.backOff();
      again = isWorthAnother(recovered);
      before = answers.found;
    }
    await pump.listen(MAX_WAIT_MS, () => answers.missing <= 0);
  };
  return {
    async find() {
      const release = claims?.claim(ranges);
      isFinding = true;
      try {
        await askAll();
      } finally {
        // What was heard is reported also where sending failed.
        await answers.handOver(pump.read);
        release?.();
        isFinding = false;
      }
    },
    async findLate() {
      if (answers.found >= others) return;
      await pump.listen(LATE_REPEAT_MS, () => false);
      await passes.askSilent();
      await pump.listen(LATE_MS - LATE_REPEAT_MS, () => answers.found >= others);
      await answers.handOver(pump.read);
    },
    get progress() {
      return Math.min(0.99, passes.asked / (places.total * 2));
    },
  };
}

interface Passes {
  /** Asks each address that has not answered, in an order drawn anew. */
  askSilent(): Promise<void>;
  readonly count: number;
  /** Addresses that were looked at, in all passes. */
  readonly asked: number;
  /** When the last pass's last frame was sent. */
  readonly endedAt: number;
  /** A loss probe that was sent at `at` was answered. */
  noteAnswered(at: number): void;
  /** Whether what was sent before the last pass's last frames has arrived, or was lost. */
  isDelivered(now: number): boolean;
}

function createPasses({ places, answers, rate, lossProbes, pump, ...deps }: Pick<NeighborSearchDeps, "mac" | "ranges" | "clock" | "random"> & {
  readonly places: NeighborPlaces;
  readonly answers: Pick<NeighborAnswers, "hasAnswered">;
  readonly rate: ScanRate;
  readonly lossProbes: Pick<LossProbes, "next">;
  readonly pump: Pick<ScanPump, "send">;
}): Passes {
  const writers = deps.ranges.map(({ ownIp }) => createArpWriter({ mac: deps.mac, ip: ownIp }));
  let count = 0;
  let asked = 0;
  let endedAt = 0;
  /** The last frames of the last pass. */
  const last = { at: 0, sent: 0, answered: 0 };
  const ask = (bytes: Uint8Array, at: number, place: number): number => {
    const ip = places.ipAt(place);
    return places.own.has(ip) ? 0 : (writers[places.rangeAt(place)] as ReturnType<typeof createArpWriter>)(bytes, at, ip);
  };
  const sendLast = async () => {
    Object.assign(last, { at: deps.clock.monotonic(), sent: 0, answered: 0 });
    await pump.send((bytes, at) => {
      const lossProbe = last.sent < LAST_FRAMES ? lossProbes.next(deps.clock.monotonic()) : null;
      if (!lossProbe) return -1;
      last.sent += 1;
      return ask(bytes, at, lossProbe.host);
    }, rate);
  };
  return {
    async askSilent() {
      const visit = createPermutation(places.total, deps.random);
      let next = 0;
      let untilLossProbe = LOSS_PROBE_EVERY;
      rate.askOthers();
      await pump.send((bytes, at) => {
        if (next >= places.total) return -1;
        if (untilLossProbe === 0) {
          untilLossProbe = LOSS_PROBE_EVERY;
          const lossProbe = rate.isBlind ? lossProbes.next(deps.clock.monotonic()) : null;
          if (lossProbe) return ask(bytes, at, lossProbe.host);
        }
        const place = visit(next);
        next += 1;
        asked += 1;
        if (answers.hasAnswered(place)) return 0;
        untilLossProbe -= 1;
        return ask(bytes, at, place);
      }, rate);
      await sendLast();
      count += 1;
      endedAt = deps.clock.monotonic();
    },
    noteAnswered(at) {
      if (at >= last.at) last.answered += 1;
    },
    isDelivered: (now) => last.answered * 2 >= last.sent || now - endedAt >= LAST_FRAMES_MS,
    get count() {
      return count;
    },
    get asked() {
      return asked;
    },
    get endedAt() {
      return endedAt;
    },
  };
}
