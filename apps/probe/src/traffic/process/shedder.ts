import type { FrameBlock } from "@lanthorn/packet-io";
import { type Clock, type Log } from "@lanthorn/runtime";
import type { Sink, SinkName } from "../sinks.ts";

/** Hands blocks to the sinks, and at overload leaves out the last ones. */
export interface Shedder {
  /** @param octets Of the block's frames on the wire. */
  dispatch(block: FrameBlock, interfaceId: number, octets: number): void;
  /** Whether all sinks that are given frames now have room for a block. */
  isReady(): boolean;
  /** Looks at the load. To be called some times a second; `dispatch` does it too. */
  look(): void;
  state(): ShedState;
}

/** Sums since the process began. */
export interface ShedState {
  /** What waited at least, in the last of the steps in which it is looked at: 0 to 1. */
  readonly load: number;
  /** Sinks that are not given everything now. */
  readonly shedding: number;
  readonly sinks: readonly { readonly name: SinkName; readonly frames: number; readonly octets: number; readonly since: number | null }[];
}

/**
 * Half of the kernel's ring waits, or of ours, at every look of two steps in a row, and not clearly less in the second. Once it does so whenever this process did not run
 * for a quarter of a second, as happens on a busy machine: what waits then is read within some milliseconds, and nothing has to be left out.
 */
const SHED_ABOVE = 0.5;
const CLEARLY_LESS = 0.05;
/** The way back is far from there, so that what is given back does not bring the overload back at once. */
const RESTORE_BELOW = 0.25;
/** So long there must be room before a sink is given frames again: longer each time that the overload comes back soon. */
const RESTORE_FIRST_MS = 250;
const RESTORE_LONGEST_MS = 4000;
const SOON_MS = 5000;
/** One more step each so many milliseconds: the load shows by then what the one before has brought. */
const STEP_MS = 20;
/** A sink that can do with a part of the blocks loses a quarter of them at a time: what there is time for is kept. */
const PARTS = 4;

/**
 * @param deps.sinks The most important first. The first one is the ring, which always gets everything.
 * @param deps.load What waits in the kernel, or in the ring for the sinks: 0 to 1. A slow disk is not lessened by leaving out what does not write to it.
 */
export function createShedder(deps: {
  readonly sinks: readonly Sink[];
  readonly load: () => number;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "info" | "warn">;
}): Shedder {
  const { sinks, clock, log } = deps;
  const shares = createShares(sinks);
  let [load, before, least] = [0, 0, Number.POSITIVE_INFINITY];
  let restoreAfterMs = RESTORE_FIRST_MS;
  let restoredAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let calmSince: number | null = null;

  function leaveOut(now: number): void {
    if (shares.isWhole()) restoreAfterMs = now - restoredAt < SOON_MS ? Math.min(restoreAfterMs * 2, RESTORE_LONGEST_MS) : RESTORE_FIRST_MS;
    const shed = shares.leaveOut();
    if (shed.since !== null) return;
    shed.since = clock.now();
    log.warn({ sink: shed.name, load }, shed.of > 1 ? "overload: this sink is given fewer frames" : "overload: this sink is given no frames");
  }

  function giveBack(now: number): void {
    const shed = shares.giveBack();
    calmSince = now;
    restoredAt = now;
    if (shed.parts > 0) return;
    shed.since = null;
    log.info({ sink: shed.name }, "the sink is given frames again");
  }

  function look(): void {
    const now = clock.monotonic();
    least = Math.min(least, deps.load());
    if (now - lookedAt < STEP_MS) return;
    lookedAt = now;
    [before, load, least] = [load, least, Number.POSITIVE_INFINITY];
    if (load > RESTORE_BELOW) calmSince = null;
    else calmSince ??= now;
    if (load > SHED_ABOVE && before > SHED_ABOVE && load > before - CLEARLY_LESS && !shares.isSpent()) leaveOut(now);
    else if (calmSince !== null && !shares.isWhole() && now - calmSince >= restoreAfterMs / shares.partsOfLast()) giveBack(now);
  }

  return {
    look,
    isReady: () => sinks.every((sink, index) => !shares.isGiven(index) || (sink.isReady?.() ?? true)),
    dispatch(block, interfaceId, octets) {
      look();
      for (let index = 0; index < sinks.length; index += 1) {
        const sink = sinks[index] as Sink;
        if (shares.isGiven(index)) {
          sink.onBlock(block, interfaceId);
          continue;
        }
        shares.count(index, block.frames, octets);
        sink.shed(block.frames, octets, interfaceId);
      }
      shares.nextBlock();
    },
    state: () => ({ load, shedding: shares.all.filter(({ parts }) => parts > 0).length, sinks: shares.all.map(({ name, frames, octets, since }) => ({ name, frames, octets, since })) }),
  };
}

/** What one sink is not given. Changed in place. */
interface Shed {
  readonly name: SinkName;
  /** In so many parts it can be left out. */
  readonly of: number;
  /** So many of them are left out now. */
  parts: number;
  frames: number;
  octets: number;
  since: number | null;
}

/** Which sinks are given the next block. Parts are left out the last sink first, and given back in the opposite order; never those of the first sink. */
function createShares(sinks: readonly Sink[]) {
  const all = sinks.map(({ name, isDivisible = false }): Shed => ({ name, of: isDivisible ? PARTS : 1, parts: 0, frames: 0, octets: 0, since: null }));
  const steps = all.slice(1).flatMap((shed) => Array.from({ length: shed.of }, () => shed)).toReversed();
  let [taken, blocks] = [0, 0];
  return {
    all,
    isWhole: () => taken === 0,
    isSpent: () => taken === steps.length,
    /** In how many parts the sink can be left out that is the next to get something back. */
    partsOfLast: () => steps[taken - 1]?.of ?? 1,
    leaveOut(): Shed {
      const shed = steps[taken] as Shed;
      taken += 1;
      shed.parts += 1;
      return shed;
    },
    giveBack(): Shed {
      taken -= 1;
      const shed = steps[taken] as Shed;
      shed.parts -= 1;
      return shed;
    },
    isGiven(index: number): boolean {
      const { of, parts } = all[index] as Shed;
      return parts === 0 || blocks % of >= parts;
    },
    count(index: number, frames: number, octets: number): void {
      const shed = all[index] as Shed;
      shed.frames += frames;
      shed.octets += octets;
    },
    nextBlock(): void {
      blocks += 1;
    },
  };
}
