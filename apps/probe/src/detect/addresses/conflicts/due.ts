import type { Conflict } from "../binding.ts";
import { BOTH_MS } from "./verdict.ts";

/** The rivals' answers come before the owner is asked, so that who answers for the other's MAC is known as one device with it. */
const OWNER_AFTER_MS = 400;
/** RFC 5227's probe is answered at once; a dozing phone takes a second. */
const ANSWERS_AFTER_MS = 1000;
/** Who goes on answering is asked once a second. */
const AGAIN_AFTER_MS = 600;
/** For so long further claims are watched. */
const WATCH_MS = 20_000;
/** Claims that come together are looked at together. */
const CLAIMS_MS = 100;
/** So often at least both of a duplicate address are asked again; more often where incidents end sooner. */
const REPORTED_PAUSE_MS = 30_000;
const PAUSES_TO_QUIET = 3;

/**
 * When the next step of a check is due, monotonic milliseconds. It depends on nothing but what was heard and when, so that a capture of a
 * check goes through the same steps.
 * @param quietMs After which an incident that nobody repeats is over.
 */
export function dueAtOf(conflict: Conflict, quietMs: number): number {
  const { phase, phaseAt } = conflict;
  switch (phase) {
    case "waiting":
      return phaseAt;
    case "rivals-asked":
      return phaseAt + OWNER_AFTER_MS;
    case "owner-asked":
      return Math.min(phaseAt + ANSWERS_AFTER_MS, Math.max(phaseAt, allAnsweredAt(conflict)));
    case "both-answered":
      return Math.max(phaseAt + AGAIN_AFTER_MS, conflict.bothAt + BOTH_MS);
    case "asked-again":
      return phaseAt + (hasBoth(conflict) ? OWNER_AFTER_MS : ANSWERS_AFTER_MS);
    case "watched":
      return Math.min(conflict.claimedAt + CLAIMS_MS, watchedUntil(conflict));
    case "reported":
      return phaseAt + Math.min(REPORTED_PAUSE_MS, quietMs / PAUSES_TO_QUIET);
    case "reported-asked":
  }
  return phaseAt + ANSWERS_AFTER_MS;
}

/** After that a conflict which decided nothing is given up. @returns Monotonic milliseconds. */
export function watchedUntil({ phaseAt }: Conflict): number {
  return phaseAt + WATCH_MS;
}

/** The owner has answered, and the rivals, who were asked before it, had their time. */
function allAnsweredAt({ owner, rivals }: Conflict): number {
  if (owner.answers === 0) return Number.POSITIVE_INFINITY;
  return Math.max(...rivals.map(({ askedAt }) => askedAt + ANSWERS_AFTER_MS));
}

function hasBoth({ owner, rivals }: Conflict): boolean {
  return owner.answers > 0 && rivals.some(({ answers }) => answers > 0);
}
