import { setTimeout as pause } from "node:timers/promises";

/** For what hangs: a machine with other work takes tens of times as long as a quiet one. What must be quick is measured by a bench. */
const HANG_MS = 300_000;
const EVERY_MS = 250;

/**
 * Looks until a fact is there: for what another process does, which no clock of ours can move.
 * @param look Gives the fact, or null while it is not there; a failure counts as not there.
 * @param options.everyMs How often it looks; four times a second unless given.
 * @throws Error that names what was waited for, with the last failure as its cause, after five minutes.
 */
export async function waitFor<T>(
  what: string, look: () => Promise<T | null> | T | null, options: { readonly everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + HANG_MS;
  let cause: unknown;
  do {
    try {
      const fact = await look();
      if (fact !== null) return fact;
    } catch (error) {
      cause = error;
    }
    await pause(options.everyMs ?? EVERY_MS);
  } while (performance.now() < end);
  throw new Error(`${what} was not there within ${HANG_MS / 1000} s`, { cause });
}
