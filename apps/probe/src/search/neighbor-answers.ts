import { ipv4Number } from "@lanthorn/packets";
import { nextTurn } from "@lanthorn/runtime";
import type { LossProbes } from "../probing/loss-probes.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import type { ScanRate } from "../probing/scan-rate.ts";
import type { NeighborPlaces } from "./neighbor-places.ts";

/**
 * Who has answered a search. An answer costs no object and no call into the rest of the probe: a host that answers is noted by number, and
 * is handed over when the burst is over. Answers come by the ten thousand a second, and what is done with each of them meanwhile is time
 * in which the ring runs full.
 */
export interface NeighborAnswers {
  /** Reads a frame where the kernel wrote it, and keeps nothing of `bytes`. */
  take(bytes: Uint8Array, offset: number, length: number): void;
  hasAnswered(place: number): boolean;
  /** How many have answered, our own addresses left out. */
  readonly found: number;
  /** Addresses where somebody was lately and nobody has answered. */
  readonly missing: number;
  /**
   * Hands over some where answers come slowly, or have waited for long. Call it while there is nothing to send.
   * @param isBurst The search sends so fast that what is done with a host is left until it ends.
   */
  handOverWaiting(now: number, isBurst: boolean): void;
  /** Hands over all, a part in each turn of the event loop. @param between Called between two parts. */
  handOver(between: () => void): Promise<void>;
}

/** Some milliseconds of work. */
const HANDED_AT_ONCE = 512;
/** Fewer answers than this in a period are no burst. */
const PERIOD_MS = 250;
const SLOW_ANSWERS = 256;
/** A burst does not keep a host waiting for longer. */
const MAX_WAIT_MS = 5000;
/** So many of those who have answered can be loss probes. */
const MAX_PROBED = 256;
const MIN_ARP_LENGTH = 42;

/**
 * @param deps.expected Addresses where somebody was lately.
 * @param deps.onFound Each address once, with the MAC that it answered by; the bytes are the receiver's own.
 * @param deps.onOther Another MAC answers for an address that has answered before.
 */
export function createNeighborAnswers(deps: {
  readonly places: NeighborPlaces;
  readonly rate: Pick<ScanRate, "answered">;
  readonly lossProbes: LossProbes;
  readonly expected: ReadonlySet<number>;
  readonly onFound: (host: HostTarget) => void;
  readonly onOther: (host: HostTarget) => void;
}): NeighborAnswers {
  const { places, rate, lossProbes } = deps;
  const answered = new Uint8Array(places.total);
  const macs = new Uint8Array(places.total * 6);
  /** Places in the order in which they answered. */
  const order = new Uint32Array(places.total);
  let heard = 0;
  let handed = 0;
  let found = 0;
  let missing = 0;
  for (const ip of deps.expected) if (places.placeOf(ip) >= 0) missing += 1;
  let periodAt = Number.NEGATIVE_INFINITY;
  let heardBefore = 0;
  /** When nobody waited. */
  let emptyAt = Number.NEGATIVE_INFINITY;

  const isSameMac = (place: number, bytes: Uint8Array, at: number): boolean => {
    for (let index = 0; index < 6; index += 1) if (macs[place * 6 + index] !== bytes[at + index]) return false;
    return true;
  };
  const noteAgain = (place: number, bytes: Uint8Array, offset: number) => {
    lossProbes.answered(place, 0);
    if (!isSameMac(place, bytes, offset + 22)) deps.onOther({ ip: places.ipAt(place), mac: bytes.slice(offset + 22, offset + 28) });
  };
  /** @returns Whether there are more. */
  const handOverSome = (): boolean => {
    const end = Math.min(heard, handed + HANDED_AT_ONCE);
    for (; handed < end; handed += 1) {
      const place = order[handed] as number;
      deps.onFound({ ip: places.ipAt(place), mac: macs.slice(place * 6, place * 6 + 6) });
    }
    return handed < heard;
  };
  return {
    take(bytes, offset, length) {
      // Any ARP packet of theirs shows that they are there; its sender is what counts, as a wireless bridge puts its own MAC before it.
      if (length < MIN_ARP_LENGTH || bytes[offset + 12] !== 0x08 || bytes[offset + 13] !== 0x06) return;
      if (((bytes[offset + 22] as number) & 1) !== 0) return;
      const ip = ipv4Number(bytes, offset + 28);
      const place = places.placeOf(ip);
      if (place < 0) return;
      if (answered[place] === 1) return noteAgain(place, bytes, offset);
      answered[place] = 1;
      for (let index = 0; index < 6; index += 1) macs[place * 6 + index] = bytes[offset + 22 + index] as number;
      order[heard] = place;
      heard += 1;
      rate.answered();
      // Somebody else may have our own address, too.
      if (!places.own.has(ip)) found += 1;
      if (heard <= MAX_PROBED) lossProbes.note(place, 0, true);
      if (missing > 0 && deps.expected.has(ip)) missing -= 1;
    },
    hasAnswered: (place) => answered[place] === 1,
    get found() {
      return found;
    },
    get missing() {
      return missing;
    },
    handOverWaiting(now, isBurst) {
      if (now - periodAt < PERIOD_MS) return;
      const isLater = isBurst || heard - heardBefore > SLOW_ANSWERS;
      if (handed === heard || periodAt === Number.NEGATIVE_INFINITY) emptyAt = now;
      periodAt = now;
      heardBefore = heard;
      if (!isLater || now - emptyAt >= MAX_WAIT_MS) handOverSome();
    },
    async handOver(between) {
      for (let isMore = true; isMore; ) {
        isMore = handOverSome();
        between();
        if (isMore) await nextTurn();
      }
    },
  };
}
