/** So many outcomes of loss probes are judged together; more than a tenth of them lost is too many. */
const LOSS_PROBES_JUDGED = 32;
const LOSS_PROBES_LOST = 0.1;
/** So long a judgement holds. */
const LOSS_PROBES_HOLD_MS = 500;

/** Outcomes of loss probes, judged together. */
export interface LossTally {
  note(isAnswered: boolean): void;
  /** Forgets what was not judged yet. */
  reset(): void;
  /** @returns Whether too many were lost; they are forgotten then. */
  judge(now: number): boolean;
  /** Whether the last judgement still holds. */
  isJudged(now: number): boolean;
}

/** A tally of no outcomes. */
export function createLossTally(): LossTally {
  let outcomes = 0;
  let lost = 0;
  let judgedAt = Number.NEGATIVE_INFINITY;
  return {
    note(isAnswered) {
      outcomes += 1;
      if (!isAnswered) lost += 1;
    },
    reset() {
      outcomes = 0;
      lost = 0;
    },
    judge(now) {
      if (outcomes < LOSS_PROBES_JUDGED) return false;
      const isLossy = lost > outcomes * LOSS_PROBES_LOST;
      outcomes = 0;
      lost = 0;
      judgedAt = now;
      return isLossy;
    },
    isJudged: (now) => now - judgedAt < LOSS_PROBES_HOLD_MS,
  };
}
