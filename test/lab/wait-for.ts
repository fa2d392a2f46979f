import { setTimeout as pause } from "node:timers/promises";
import { describeError } from "@lanthorn/runtime";

/** For what hangs: a machine with other work takes tens of times as long as a quiet one. What must be quick is measured by a bench. */
const HANG_MS = 300_000;
/** At first; each pause is longer than the one before, so that a long wait stays within a collector's rate limits. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 1000;

/**
 * Looks until a fact is there: for what another process does, which no clock of ours can move.
 * @param look Gives the fact, or null while it is not there; a failure counts as not there.
 * @param options.everyMs How often it looks; without it four times a second at first, later once a second.
 * @throws Error that names what was waited for, with the last look's failure in it and as its cause, after five minutes.
 */
export async function waitFor<T>(
  what: string, look: () => Promise<T | null> | T | null, options: { readonly everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + HANG_MS;
  let cause: unknown;
  let pauseMs = options.everyMs ?? FIRST_PAUSE_MS;
  do {
    try {
      const fact = await look();
      if (fact !== null) return fact;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await pause(pauseMs);
    pauseMs = options.everyMs ?? Math.min(MAX_PAUSE_MS, pauseMs * 1.2);
  } while (performance.now() < end);
  const why = cause === undefined ? "" : `: ${describeError(cause)}`;
  throw new Error(`${what} was not there within ${HANG_MS / 1000} s${why}`, { cause });
}
