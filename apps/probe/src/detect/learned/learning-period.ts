import type { LearnedStore } from "./learned-store.ts";

/** The time after the first start in which what is seen and does not contradict itself is learned as normal. */
export interface LearningPeriod {
  /** When it is over, in wall milliseconds. */
  endsAt(): number;
  /** The same; null where nothing has asked yet, so that it has not begun. */
  knownEnd(): number | null;
  isOn(): boolean;
  /** Begins it anew. */
  restart(): void;
  /** Notes how much of it has passed, where it has begun: call it regularly. */
  tick(): void;
}

const SCOPE = "period";
/** How much of it has passed, in milliseconds; what earlier versions wrote is the wall clock's time at which it began. */
const KEY = "passed_ms";
const EARLIER_KEY = "began_at";
/** So much of it is lived through again after a crash. */
const WRITE_MS = 10_000;

/**
 * It is the time that the probe has run, not the wall clock's: a machine without a clock of its own starts years ago, and the right time
 * ends no period that has just begun.
 * @param deps.clock Of the bus: a capture file's learning begins with its first frame.
 */
export function createLearningPeriod(deps: {
  readonly store: LearnedStore;
  readonly clock: { now(): number; monotonic(): number };
  readonly minutes: () => number;
}): LearningPeriod {
  const { store, clock } = deps;
  const kept = new Map(store.load(SCOPE));
  /** What had passed at a moment of the monotonic clock; null before anything has asked. */
  let passed: { readonly ms: number; readonly at: number } | null = null;
  let writtenAt = Number.NEGATIVE_INFINITY;

  function resume(): number | null {
    const [ms, beganAt] = [kept.get(KEY), kept.get(EARLIER_KEY)];
    if (typeof ms === "number") return ms;
    return typeof beganAt === "number" ? Math.max(0, clock.now() - beganAt) : null;
  }
  function passedMs(): number {
    const now = clock.monotonic();
    passed ??= { ms: resume() ?? 0, at: now };
    return passed.ms + now - passed.at;
  }
  function remainingMs(): number {
    const ms = passedMs();
    const remaining = deps.minutes() * 60_000 - ms;
    const now = clock.monotonic();
    if (now - writtenAt >= WRITE_MS && remaining > -2 * WRITE_MS) {
      writtenAt = now;
      store.put(SCOPE, KEY, ms);
    }
    return remaining;
  }
  const hasBegun = () => passed !== null || resume() !== null;
  const endsAt = () => clock.now() + remainingMs();
  return {
    endsAt,
    knownEnd: () => (hasBegun() ? endsAt() : null),
    isOn: () => remainingMs() > 0,
    tick() {
      if (hasBegun()) remainingMs();
    },
    restart() {
      passed = { ms: 0, at: clock.monotonic() };
      writtenAt = Number.NEGATIVE_INFINITY;
      remainingMs();
    },
  };
}
