import { setTimeout as pause } from "node:timers/promises";

/**
 * Looks until a fact is there: for what another process does, which no clock of ours can move.
 * @param look Gives the fact, or null while it is not there; a failure counts as not there.
 * @param options.everyMs How often it looks; a thirtieth of `withinMs`, but 20 ms to 1 s, unless given.
 * @throws Error that names what was waited for, with the last failure as its cause.
 */
export async function waitFor<T>(
  what: string, withinMs: number, look: () => Promise<T | null> | T | null, options: { readonly everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + withinMs;
  let cause: unknown;
  do {
    try {
      const fact = await look();
      if (fact !== null) return fact;
    } catch (error) {
      cause = error;
    }
    await pause(options.everyMs ?? Math.min(1000, Math.max(20, withinMs / 30)));
  } while (performance.now() < end);
  throw new Error(`${what} was not there within ${withinMs} ms`, { cause });
}
