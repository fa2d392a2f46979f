/** What is seen of a site, of which some may be missing. */
export type Watched = "frames" | "flows";

/** How much of an hour was seen. */
export interface Coverage {
  /** @param seen How many were seen. @param missed How many were not. */
  readonly note: (what: Watched, seen: number, missed: number) => void;
  /** Whether too much is missing for the hour to be learned. */
  readonly isThin: () => boolean;
  readonly clear: () => void;
}

/** So little changes what is counted in an hour by less than two like hours differ; who could stop all learning by a lost frame would lose one. */
const MAX_MISSED_SHARE = 0.01;

/** Of an hour that begins. */
export function createCoverage(): Coverage {
  const sums = { frames: { seen: 0, missed: 0 }, flows: { seen: 0, missed: 0 } };
  return {
    note(what, seen, missed) {
      sums[what].seen += seen;
      sums[what].missed += missed;
    },
    isThin: () => Object.values(sums).some(({ seen, missed }) => missed > MAX_MISSED_SHARE * (seen + missed)),
    clear() {
      for (const sum of Object.values(sums)) [sum.seen, sum.missed] = [0, 0];
    },
  };
}
