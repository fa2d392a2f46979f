import { hashText } from "../../fnv.ts";

/** With fewer, somebody is first. */
const MIN_DEVICES = 3;
/** Less than a millisecond's work. */
const IN_A_PIECE = 64;

/** What is used in an hour: it counts at once, and is kept only where the hour is to be learned. */
export interface HourOfUse {
  /** The hour is over, and is compared from now on, beside the next one. */
  readonly closeHour: () => void;
  /** The hour that is over was compared, and becomes part of what is kept, in pieces. @param except What these devices used is not kept. Null keeps nothing. */
  readonly settleHour: (except: readonly string[] | null) => Iterable<undefined>;
  /** The hour that is counted now is not to be trusted. */
  readonly dropHour: () => void;
}

/** Which regions or peers are known to how many devices of the site. */
export interface HostUse extends HourOfUse {
  readonly use: (what: string, device: string) => void;
  /** Whether three devices or more talk to it: then it is no news that another does. */
  readonly isCommon: (what: string) => boolean;
  readonly clear: () => void;
}

/** Of 64 devices, a bit for each. */
type Bits = [low: number, high: number];
type Users = Map<string, Bits>;

/** Bits for each, of which a device sets one. @param max Of what is kept, and of what is used in an hour; what was not used for longest gives way. */
export function createHostUse(max: number): HostUse {
  const known: Users = new Map();
  let [hour, closed]: [Users, Users] = [new Map(), new Map()];

  function add(users: Users, what: string, [low, high]: Readonly<Bits>): void {
    const bits = users.get(what) ?? [0, 0];
    users.delete(what);
    users.set(what, bits);
    if (users.size > max) users.delete(users.keys().next().value ?? "");
    bits[0] |= low;
    bits[1] |= high;
  }

  return {
    use: (what, device) => add(hour, what, bitOf(device)),
    isCommon(what) {
      let [low, high] = [0, 0];
      for (const users of [known, closed, hour]) {
        const bits = users.get(what);
        low |= bits?.[0] ?? 0;
        high |= bits?.[1] ?? 0;
      }
      return countOnes(low) + countOnes(high) >= MIN_DEVICES;
    },
    closeHour() {
      [hour, closed] = [new Map(), hour];
    },
    *settleHour(except) {
      let [low, high] = [-1, -1];
      for (const device of except ?? []) {
        const bit = bitOf(device);
        low &= ~bit[0];
        high &= ~bit[1];
      }
      let count = 0;
      for (const [what, bits] of except ? closed : []) {
        const kept: Bits = [bits[0] & low, bits[1] & high];
        if (kept[0] !== 0 || kept[1] !== 0) add(known, what, kept);
        count += 1;
        if (count % IN_A_PIECE === 0) yield;
      }
      closed = new Map();
    },
    dropHour() {
      hour = new Map();
    },
    clear() {
      known.clear();
      [hour, closed] = [new Map(), new Map()];
    },
  };
}

function bitOf(device: string): Bits {
  const bit = hashText(device) % 64;
  return bit < 32 ? [1 << bit, 0] : [0, 1 << (bit - 32)];
}

function countOnes(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
