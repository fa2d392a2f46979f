import { createHash } from "node:crypto";
import type { Mode } from "../compare/result.ts";
import type { BaselineRow } from "../store/baselines.ts";

const HOUR_MS = 3_600_000;

/** How a baseline is now. A learning period that is over has its last comparison: what is seen until then is learned. */
export function modeOf({ state }: Pick<BaselineRow, "state">): Mode {
  return state === "learning" || state === "frozen" ? state : "active";
}

/** The state after a comparison. */
export function stateAfter({ state, learning_until: until }: Pick<BaselineRow, "state" | "learning_until">, at: string): Pick<BaselineRow, "state" | "learning_until"> {
  return state === "learning" && (until === null || until <= at) ? { state: "active", learning_until: null } : { state, learning_until: until };
}

/** The moment of each hour at which a baseline is compared whatever happens: its own one, so that not all are at once. */
export function hourlyAfter(baselineId: string, now: number): number {
  const offset = createHash("sha256").update(baselineId).digest().readUInt32BE() % HOUR_MS;
  const next = Math.floor(now / HOUR_MS) * HOUR_MS + offset;
  return next > now ? next : next + HOUR_MS;
}

/** The earliest of moments that are still to come. */
export function earliest(now: number, moments: readonly (number | null)[]): number {
  return Math.max(now + 1, Math.min(...moments.filter((moment) => moment !== null)));
}
