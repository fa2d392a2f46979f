import type { Clock } from "@lanthorn/runtime";
import type { AlertNotice } from "../messages.ts";
import type { FrameHeaders, HeaderView } from "../ring/frame-headers.ts";
import { type MemoryRing, millisecondsOf, type RingBlock } from "../ring/memory-ring.ts";
import { type AddressView, packetsInside } from "./inner-frames.ts";
import { createPartyFilter, createPartyTable, type PartyFilter, type PartyTable } from "./party-filter.ts";
import { createWantedPackets, type WantedPackets } from "./wanted-packets.ts";

/** Where a frame lies: in which block of the ring, and the how many-th there, from 0. */
export interface FoundFrame {
  readonly sequence: number;
  readonly index: number;
  /** When it was seen: milliseconds since the epoch. */
  readonly at: number;
}

/** Looks for the frames that raised alerts. The ring is walked once for all of them, from the newest block back, in turns that are as short as is asked for. */
export interface FrameSearch {
  /** Takes an alert; it is looked for from the next walk on. @returns False where too many wait. */
  add(alert: AlertNotice): boolean;
  /** Goes on where it stopped. @param isSpent Whether the turn is over; asked after some microseconds of work each. @returns Whether there is more to do now. */
  run(isSpent: () => boolean): boolean;
  /** Ends the search for all that wait, with what is known of them. */
  giveUp(): void;
}

/** The daemon sees a frame and reports it before its block comes here: on a loaded machine the block is a second late. No walk takes longer either. */
const MAX_SEARCH_MS = 1500;
const MAX_WAITING = 64;
/** Blocks of several interfaces come in their order up to this. */
const SLACK_MS = 1000;
/** Frames between two looks at the clock. */
const FRAMES_A_LOOK = 64;
/** What holding a frame against a filter costs, counted in frames. */
const FILTER_COST = 2;

interface Sought {
  readonly alert: AlertNotice;
  readonly filter: PartyFilter;
  readonly since: number;
  /** Blocks before this were looked at. */
  from: number;
  /** Of the frames that are equal to one of its packets, the nearest in time. */
  equal: FoundFrame | null;
  /** The device's last one before the alert: it stands for the frame that raised it, where that is not known. */
  guess: FoundFrame | null;
  /** The blocks that are left of this walk cannot have it. */
  isDone: boolean;
}

interface Walk {
  readonly sought: readonly Sought[];
  readonly packets: WantedPackets<Sought>;
  readonly parties: PartyTable;
  readonly top: number;
  readonly begunAt: number;
  /** The block that is next, and the frame in it. */
  next: number;
  index: number;
  /** Since the clock was looked at, in frames. */
  worked: number;
}

/** @param deps.onFound What is known of an alert's frame: null where the ring has none of the device. */
export function createFrameSearch(deps: {
  readonly ring: Pick<MemoryRing, "blockAt" | "lastSequence">; readonly headers: FrameHeaders; readonly beforeSeconds: number;
  readonly onFound: (alert: AlertNotice, found: FoundFrame | null) => void; readonly clock: Pick<Clock, "monotonic">;
}): FrameSearch {
  const { ring, headers, clock } = deps;
  let waiting: Sought[] = [];
  let walk: Walk | null = null;

  function settle(one: Sought): void {
    waiting = waiting.filter((other) => other !== one);
    deps.onFound(one.alert, one.equal ?? one.guess);
  }

  function begin(): Walk | null {
    const top = ring.lastSequence();
    const now = clock.monotonic();
    const idle = waiting.filter(({ from }) => top === null || from > top);
    for (const one of idle) if (one.alert.packets.length === 0 || now - one.since >= MAX_SEARCH_MS) settle(one);
    if (top === null || waiting.every(({ from }) => from > top)) return null;
    return createWalk([...waiting], top, now);
  }

  /** What is left of an alert whose blocks were all looked at. */
  function end({ sought, top }: Walk): void {
    walk = null;
    for (const one of sought) {
      if (!waiting.includes(one)) continue;
      one.from = top + 1;
      if (one.equal !== null || one.alert.packets.length === 0 || clock.monotonic() - one.since >= MAX_SEARCH_MS) settle(one);
    }
  }

  /** @returns Whether this or an older block may have something for anybody. */
  function mayGoOn({ sought }: Walk, block: RingBlock): boolean {
    for (const one of sought) {
      if (one.isDone) continue;
      const { alert: { at }, equal } = one;
      const earliest = (equal ? at - Math.abs(equal.at - at) : at - deps.beforeSeconds * 1000) - SLACK_MS;
      one.isDone = block.sequence < one.from || block.lastMs < earliest;
      if (one.isDone && equal) settle(one);
    }
    return sought.some(({ isDone }) => !isDone);
  }

  return {
    add(alert) {
      if (waiting.length >= MAX_WAITING) return false;
      waiting.push({ alert, filter: createPartyFilter(alert.device, alert.peer), since: clock.monotonic(), from: 0, equal: null, guess: null, isDone: false });
      return true;
    },
    run(isSpent) {
      for (walk ??= begin(); walk !== null; walk.next -= 1, walk.index = 0) {
        const block = ring.blockAt(walk.next);
        if (!block || block.sequence !== walk.next || !mayGoOn(walk, block) || clock.monotonic() - walk.begunAt >= MAX_SEARCH_MS) {
          end(walk);
          // Alerts that came meanwhile.
          return waiting.some(({ from }) => from <= (ring.lastSequence() ?? -1));
        }
        if (!look(walk, block, headers, isSpent)) return true;
      }
      return false;
    },
    giveUp() {
      walk = null;
      for (const one of waiting) settle(one);
    },
  };
}

function createWalk(sought: readonly Sought[], top: number, begunAt: number): Walk {
  const packets = createWantedPackets<Sought>();
  const parties = createPartyTable();
  for (const one of sought) {
    one.isDone = false;
    parties.add(one.alert.device);
    for (const text of one.alert.packets) packets.add(text, one);
  }
  return { sought, packets, parties, top, begunAt, next: top, index: 0, worked: 0 };
}

/** @returns Whether the block is done. */
function look(walk: Walk, block: RingBlock, headers: FrameHeaders, isSpent: () => boolean): boolean {
  const guessing = walk.sought.filter(({ isDone, equal, guess }) => !isDone && !equal && (!guess || block.lastMs >= guess.at));
  let isStopped = false;
  walk.index = headers.visit(block, walk.index, (frame) => {
    walk.worked += 1;
    if (walk.worked >= FRAMES_A_LOOK) {
      walk.worked = 0;
      isStopped = isSpent();
      if (isStopped) return false;
    }
    walk.worked += walk.packets.match(frame, (one) => takeEqual(one, block, frame));
    if (guessing.length === 0) return true;
    const inside = packetsInside(frame);
    if (walk.parties.mayHave(frame) || inside.some(walk.parties.mayHave)) {
      walk.worked += guessing.length * FILTER_COST * (1 + inside.length);
      takeGuess(guessing, block, { frame, inside });
    }
    return true;
  });
  return !isStopped;
}

function takeEqual(one: Sought, block: RingBlock, frame: HeaderView): void {
  if (one.isDone || block.sequence < one.from) return;
  const at = millisecondsOf(frame);
  const wanted = one.alert.at;
  if (one.equal === null || Math.abs(at - wanted) < Math.abs(one.equal.at - wanted)) one.equal = { sequence: block.sequence, index: frame.index, at };
}

function takeGuess(guessing: readonly Sought[], block: RingBlock, { frame, inside }: { readonly frame: HeaderView; readonly inside: readonly AddressView[] }): void {
  const at = millisecondsOf(frame);
  for (const one of guessing) {
    if (at <= one.alert.at && at >= (one.guess?.at ?? 0) && block.sequence >= one.from && (one.filter(frame) || inside.some(one.filter))) {
      one.guess = { sequence: block.sequence, index: frame.index, at };
    }
  }
}
