import { REPEAT_MICROSECONDS } from "./suspicion.ts";

/** When something was said last, and how often it was seen since. */
export interface Repeats {
  saidAt: number;
  unsaid: number;
}

/** Of what was not said yet. */
export function createRepeats(): Repeats {
  return { saidAt: Number.NEGATIVE_INFINITY, unsaid: 0 };
}

/** Counts one more. @param first How many were seen until it is said first. @returns How many to say now; 0 to wait. Where captured time goes back, it is said. */
export function countOne(repeats: Repeats, at: number, first = 1): number {
  repeats.unsaid += repeats.saidAt === Number.NEGATIVE_INFINITY ? first : 1;
  if (Math.abs(at - repeats.saidAt) < REPEAT_MICROSECONDS) return 0;
  const count = repeats.unsaid;
  repeats.saidAt = at;
  repeats.unsaid = 0;
  return count;
}
