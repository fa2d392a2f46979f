import type { FrameBlock } from "@lanthorn/packet-io";
import { type Clock, createBackoff, type Log } from "@lanthorn/runtime";
import type { Sink, SinkName } from "../sinks.ts";

/** Hands blocks to the sinks, and at overload leaves out the last ones. */
export interface Shedder {
  /** @param octets Of the block's frames on the wire. */
  dispatch(block: FrameBlock, interfaceId: number, octets: number): void;
  /** Whether all sinks that are given frames now have room for a block. @param waiting Which part of the ring waits for them: 0 to 1. */
  isReady(waiting: number): boolean;
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
 * Half of the kernel's ring waits at every look of two steps in a row, and what waits in both is not clearly less in the second. Once it does so whenever this process did not run
 * for a quarter of a second, as happens on a busy machine: what waits then is read within some milliseconds, and nothing has to be left out. What waits in ours alone is not lost yet.
 */
const SHED_ABOVE = 0.5;
const CLEARLY_LESS = 0.05;
/** The way back is far from there, so that what is given back does not bring the overload back at once. */
const RESTORE_BELOW = 0.25;
/** So long there must be room before a sink is given frames again: longer each time that the overload comes back soon. */
const RESTORE_FIRST_MS = 100;
const RESTORE_LONGEST_MS = 4000;
const SOON_MS = 5000;
const STEP_MS = 20;
/** So many steps it goes on before a sink is left out, and before each further one: the load shows by then what the one before has brought. */
const PATIENCE = 3;
/** Where none of its blocks was left out for so long, it is said to be given frames again. */
const CALM_MS = 1000;

/**
 * @param deps.sinks The most important first. The first one is the ring, which always gets everything.
 * @param deps.kernelLoad What waits in the kernel: 0 to 1.
 * @param deps.load What waits in the kernel, which it is given, or in the ring for the sinks: 0 to 1. A slow disk is not lessened by leaving out what does not write to it.
 * @param deps.waiting What waits in both, as a share of both: whether it becomes less. Ours stays full until the kernel's is empty.
 * @param deps.excess For which part of the blocks of the divisible sink there is no time: 0 to 1.
 */
export function createShedder(deps: {
  readonly sinks: readonly Sink[];
  readonly kernelLoad: () => number;
  readonly load: (inKernel: number) => number;
  readonly waiting: (inKernel: number) => number;
  readonly excess: () => number;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "info" | "warn">;
}): Shedder {
  const { sinks, clock, log } = deps;
  const all = sinks.map(({ name }): Shed => ({ name, isOut: false, frames: 0, octets: 0, since: null }));
  /** Those that are left out as a whole, the last first. */
  const whole = all.filter((_, index) => index > 0 && !sinks[index]?.isDivisible).toReversed();
  const parted = createParted(deps, all[sinks.findIndex(({ isDivisible }) => isDivisible)]);
  const { kernelLoads, loads, waiting, find, step } = createLoads(deps);
  let [taken, patience] = [0, 0];
  const backoff = createBackoff({ firstMs: RESTORE_FIRST_MS, longestMs: RESTORE_LONGEST_MS, random: () => 1 });
  let restoreAfterMs = RESTORE_FIRST_MS;
  let restoredAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let calmSince: number | null = null;

  function leaveOut(now: number): void {
    if (taken === 0 && now - restoredAt >= SOON_MS) backoff.reset();
    if (taken === 0) restoreAfterMs = backoff.next();
    const shed = whole[taken] as Shed;
    taken += 1;
    patience = 0;
    shed.isOut = true;
    shed.since = clock.now();
    log.warn({ sink: shed.name, load: loads.last }, "overload: this sink is given no frames");
  }

  function giveBack(now: number): void {
    calmSince = now;
    restoredAt = now;
    taken -= 1;
    const shed = whole[taken] as Shed;
    shed.isOut = false;
    shed.since = null;
    log.info({ sink: shed.name }, "the sink is given frames again");
  }

  const isOverload = () => Math.min(kernelLoads.last, kernelLoads.before) > SHED_ABOVE && waiting.last > waiting.before - CLEARLY_LESS;

  function look(): void {
    const now = clock.monotonic();
    find();
    if (now - lookedAt < STEP_MS) return;
    lookedAt = now;
    step();
    if (loads.last > RESTORE_BELOW) calmSince = null;
    else calmSince ??= now;
    patience = isOverload() ? patience + 1 : Math.max(0, patience - 1);
    if (taken < whole.length && patience >= PATIENCE) leaveOut(now);
    else if (calmSince !== null && taken > 0 && now - calmSince >= restoreAfterMs) giveBack(now);
    if (taken === 0) parted?.step(now);
  }

  return {
    look,
    isReady: (inRing) => sinks.every((sink, index) => (sink.isDivisible ? taken > 0 : all[index]?.isOut) || (sink.isReady?.(inRing) ?? true)),
    dispatch(block, interfaceId, octets) {
      look();
      parted?.decide(taken > 0);
      for (let index = 0; index < sinks.length; index += 1) {
        const [sink, shed] = [sinks[index] as Sink, all[index] as Shed];
        if (!shed.isOut) {
          sink.onBlock(block, interfaceId);
          continue;
        }
        shed.frames += block.frames;
        shed.octets += octets;
        sink.shed(block.frames, octets, interfaceId);
      }
    },
    state: () => ({ load: loads.last, shedding: all.filter(({ since }) => since !== null).length, sinks: all.map(({ name, frames, octets, since }) => ({ name, frames, octets, since })) }),
  };
}

/** What waits, as it is found by one question to the kernel's ring. */
function createLoads({ kernelLoad, load, waiting }: Pick<Parameters<typeof createShedder>[0], "kernelLoad" | "load" | "waiting">) {
  const loads = { kernelLoads: createLeast(), loads: createLeast(), waiting: createLeast() };
  return {
    ...loads,
    find(): void {
      const inKernel = kernelLoad();
      loads.kernelLoads.look(inKernel);
      loads.loads.look(load(inKernel));
      loads.waiting.look(waiting(inKernel));
    },
    step(): void {
      for (const one of Object.values(loads)) one.step();
    },
  };
}

/** The least of what is found at all looks of a step, and of the step before. */
function createLeast() {
  let least = Number.POSITIVE_INFINITY;
  const steps = {
    last: 0,
    before: 0,
    look(found: number): void {
      least = Math.min(least, found);
    },
    step(): void {
      [steps.before, steps.last, least] = [steps.last, least, Number.POSITIVE_INFINITY];
    },
  };
  return steps;
}

/** What one sink is not given. Changed in place. */
interface Shed {
  readonly name: SinkName;
  /** It is not given the next block. */
  isOut: boolean;
  frames: number;
  octets: number;
  since: number | null;
}

/** The sink that can do with a part of the blocks: as many are left out, evenly, as there is no time for. Null for none. */
function createParted({ excess, clock, log }: Pick<Parameters<typeof createShedder>[0], "excess" | "clock" | "log">, shed: Shed | undefined) {
  if (!shed) return null;
  let owed = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    /** Whether it is given the next block. @param areOthersOut More important sinks are given none: nor is this one. */
    decide(areOthersOut: boolean): void {
      owed += areOthersOut ? 1 : excess();
      shed.isOut = owed >= 1;
      if (!shed.isOut) return;
      owed -= 1;
      lastAt = clock.monotonic();
      if (shed.since !== null) return;
      shed.since = clock.now();
      log.warn({ sink: shed.name }, "overload: this sink is given fewer frames");
    },
    step(now: number): void {
      if (shed.since === null || now - lastAt < CALM_MS) return;
      shed.since = null;
      log.info({ sink: shed.name }, "the sink is given frames again");
    },
  };
}
