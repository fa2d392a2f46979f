import type { Clock } from "@lanthorn/runtime";
import { ipv4Number } from "@lanthorn/packets";
import { createLossProbes } from "../probing/loss-probes.ts";
import { createPermutation } from "../probing/permutation.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import { createArpWriter } from "../probing/frames/packet-writers.ts";
import { createScanPump, type ScanPump } from "../probing/scan-pump.ts";
import type { ScanLink } from "../probing/scan-link.ts";
import { createScanRate } from "../probing/scan-rate.ts";

/** A run of addresses, and who of us asks for them. */
export interface NeighborRange {
  readonly first: number;
  readonly count: number;
  /** Our own address in their subnet. */
  readonly ownIp: number;
}

/** Who is there. */
export interface HostSearch {
  /** Asks for every address until who is there has answered. @throws PacketIoError of sending, and the signal's reason. */
  find(): Promise<void>;
  /** Afterwards: asks the silent once more, and takes answers that come late. @throws As `find`. */
  findLate(): Promise<void>;
  /** How far it is, from 0 to 1. */
  readonly progress: number;
}

/** After the last answer and the last question: hosts that are awake answer within a few milliseconds. */
const QUIET_MS = 60;
const FIRST_QUIET_MS = 40;
/** Where a host is known to be there, or answers were slow, so long: dozing phones answer after two seconds. */
const MAX_WAIT_MS = 3000;
/** The silent are asked again until nobody new answers: a first loss is found by the second pass, a second one by the third. */
const MAX_PASSES = 5;
/** Of a large network a third pass must be worth it: the second found somebody by so many questions. What it leaves the late pass finds. */
const QUESTIONS_FOR_ONE = 2000;
/** More than so many answers to repetitions mean that questions or answers get lost. */
const LOSS_SHARE = 0.01;
/** Late answers: dozing phones wake up within 2.5 s, and are asked once more on the way. */
const LATE_REPEAT_MS = 1000;
const LATE_MS = 4500;
/** Where hardly anybody is there, one of so many frames is a loss probe: so many of those who have answered are asked again in turns. */
const LOSS_PROBE_EVERY = 32;
const MAX_PROBED = 256;
const LOSS_PROBE_PATIENCE_MS = 120;
const FIRST_RATE = 20_000;
const MIN_RATE = 1000;

/**
 * Searches IPv4 ranges of own subnets by ARP, at most 65,536 addresses: a byte for each is all that is held.
 * @param deps.expected Addresses where somebody was lately; they are waited for.
 * @param deps.onFound Each address once, with the MAC that it answered by; the bytes are the receiver's own.
 */
export function createNeighborSearch(deps: {
  readonly link: ScanLink;
  readonly mac: Uint8Array;
  readonly ranges: readonly NeighborRange[];
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly expected: ReadonlySet<number>;
  readonly onFound: (host: HostTarget) => void;
}): HostSearch {
  const { clock, ranges } = deps;
  const total = ranges.reduce((sum, { count }) => sum + count, 0);
  const own = new Set(ranges.filter(({ first, count, ownIp }) => ownIp >= first && ownIp < first + count).map(({ ownIp }) => ownIp));
  const others = total - own.size;
  const answered = new Uint8Array(total);
  const writers = ranges.map(({ ownIp }) => createArpWriter({ mac: deps.mac, ip: ownIp }));
  const rate = createScanRate({ first: FIRST_RATE, most: deps.framesPerSecond, least: Math.min(MIN_RATE, deps.framesPerSecond) });
  const onOutcome = (at: number, isAnswered: boolean) => rate.noteLossProbe(at, isAnswered);
  const lossProbes = createLossProbes({ patienceMs: LOSS_PROBE_PATIENCE_MS, onOutcome });
  let heardAt = 0;
  let askedAt = 0;
  let found = 0;
  let asked = 0;
  let passes = 0;
  /** Addresses where somebody was lately and nobody has answered. */
  let missing = 0;

  /** @returns The range that holds the place, and the address there. */
  const locate = (place: number) => {
    let rest = place;
    for (let index = 0; index < ranges.length; index += 1) {
      const { first, count, ownIp } = ranges[index] as NeighborRange;
      if (rest < count) return { index, ip: first + rest, isOwn: first + rest === ownIp };
      rest -= count;
    }
    return null;
  };
  const placeOf = (ip: number) => {
    let before = 0;
    for (const { first, count } of ranges) {
      if (ip >= first && ip < first + count) return before + ip - first;
      before += count;
    }
    return -1;
  };
  const onFrame = (bytes: Uint8Array, offset: number, length: number) => {
    // Any ARP packet of theirs shows that they are there; its sender is what counts, as a wireless bridge puts its own MAC before it.
    if (length < 42 || bytes[offset + 12] !== 0x08 || bytes[offset + 13] !== 0x06 || ((bytes[offset + 22] as number) & 1) !== 0) return;
    const ip = ipv4Number(bytes, offset + 28);
    const place = placeOf(ip);
    if (place < 0) return;
    if (answered[place] === 1) return lossProbes.answered(place, 0);
    answered[place] = 1;
    // Somebody else may have our own address, too.
    if (!own.has(ip)) found += 1;
    if (found <= MAX_PROBED) lossProbes.note(place, 0, true);
    heardAt = clock.monotonic();
    rate.answered();
    if (deps.expected.has(ip)) missing -= 1;
    deps.onFound({ ip, mac: bytes.slice(offset + 22, offset + 28) });
  };
  const pump: ScanPump = createScanPump({ ...deps, onFrame });

  const ask = (bytes: Uint8Array, at: number, place: number): number => {
    const here = locate(place);
    return !here || here.isOwn ? 0 : (writers[here.index] as ReturnType<typeof createArpWriter>)(bytes, at, here.ip);
  };
  const askSilent = async () => {
    const visit = createPermutation(total, deps.random);
    let place = 0;
    let untilLossProbe = LOSS_PROBE_EVERY;
    rate.askOthers();
    await pump.send((bytes, at) => {
      if (place >= total) return -1;
      if (untilLossProbe === 0) {
        untilLossProbe = LOSS_PROBE_EVERY;
        const lossProbe = rate.isBlind ? lossProbes.next(clock.monotonic()) : null;
        if (lossProbe) return ask(bytes, at, lossProbe.host);
      }
      const index = visit(place);
      place += 1;
      asked += 1;
      if (answered[index] === 1) return 0;
      untilLossProbe -= 1;
      return ask(bytes, at, index);
    }, rate);
    passes += 1;
    askedAt = clock.monotonic();
  };
  const isQuiet = (quietMs: number) => {
    const now = clock.monotonic();
    return found >= others || (now - askedAt >= quietMs && now - heardAt >= Math.min(quietMs, FIRST_QUIET_MS));
  };
  return {
    async find() {
      for (const ip of deps.expected) if (placeOf(ip) >= 0 && answered[placeOf(ip)] === 0) missing += 1;
      let before = 0;
      for (let again = true; again; ) {
        await askSilent();
        // How slowly the last ones answered tells how long others may need.
        await pump.listen(MAX_WAIT_MS, () => isQuiet(passes === 1 ? FIRST_QUIET_MS : QUIET_MS));
        const recovered = passes === 1 ? 0 : found - before;
        if (recovered > found * LOSS_SHARE && recovered > 2) rate.backOff();
        again = found < others && passes < MAX_PASSES && (passes === 1 || recovered * QUESTIONS_FOR_ONE > others - found);
        before = found;
      }
      await pump.listen(MAX_WAIT_MS, () => missing <= 0);
    },
    async findLate() {
      if (found >= others) return;
      await pump.listen(LATE_REPEAT_MS, () => false);
      await askSilent();
      await pump.listen(LATE_MS - LATE_REPEAT_MS, () => found >= others);
    },
    get progress() {
      return Math.min(0.99, asked / (total * 2));
    },
  };
}
