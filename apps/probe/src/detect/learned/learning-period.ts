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
}

const SCOPE = "period";
const KEY = "began_at";

/** @param deps.clock Of the bus: a capture file's learning begins with its first frame. */
export function createLearningPeriod(deps: {
  readonly store: LearnedStore;
  readonly clock: { now(): number };
  readonly minutes: () => number;
}): LearningPeriod {
  const { store, clock } = deps;
  const kept = store.load(SCOPE).find(([key]) => key === KEY)?.[1];
  let beganAt = typeof kept === "number" ? kept : null;
  const begin = () => {
    beganAt = clock.now();
    store.put(SCOPE, KEY, beganAt);
    return beganAt;
  };
  const endsAt = () => (beganAt ?? begin()) + deps.minutes() * 60_000;
  return {
    endsAt,
    knownEnd: () => (beganAt === null ? null : endsAt()),
    // A clock that was set back does not begin it again.
    isOn: () => clock.now() < endsAt(),
    restart: () => void begin(),
  };
}
