import { createPace } from "../../db/pace.ts";

/** Nobody notices it, and a fleet's rounds are ten times as large. */
export const ROUND_MS = 25;

/**
 * Makes one piece of work of many: what is asked in one turn of the event loop, or while earlier work is under way, is done together,
 * begun after it was asked for. After work for several keys the next waits a moment, so that more share it. Of one key, the value given
 * last counts.
 * @param work Told what was asked for, by key.
 * @returns Null for a key of which `work` says nothing. Rejects as `work` does.
 */
export function createCoalescer<V, R>(
  work: (asked: ReadonlyMap<string, V>) => Promise<ReadonlyMap<string, R>>,
): (key: string, value: V) => Promise<R | null> {
  let waiting = new Map<string, V>();
  let next: Promise<ReadonlyMap<string, R>> | null = null;
  let current: Promise<unknown> = Promise.resolve();
  const pace = createPace(ROUND_MS);

  const workNext = async (before: Promise<unknown>) => {
    await before;
    await pace.next();
    const asked = waiting;
    waiting = new Map();
    next = null;
    pace.began(asked.size);
    return work(asked);
  };
  return async (key, value) => {
    waiting.set(key, value);
    if (next === null) {
      next = workNext(current);
      current = next.catch(() => {});
    }
    const results = await next;
    return results.get(key) ?? null;
  };
}
