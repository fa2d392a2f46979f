import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Makes of a question about many things one about a single thing: what is asked in one turn of the event loop, or while an earlier
 * question is under way, is asked together. Each answer is to a question that was put after it was asked for.
 * @param ask Told no key twice.
 * @returns Null for what there is no answer to. Rejects as `ask` does.
 */
export function createTogether<T>(ask: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>): (key: string) => Promise<T | null> {
  let waiting = new Set<string>();
  let next: Promise<ReadonlyMap<string, T>> | null = null;
  let current: Promise<unknown> = Promise.resolve();

  const askNext = async (before: Promise<unknown>) => {
    await Promise.all([before, nextTurn()]);
    const keys = [...waiting];
    waiting = new Set();
    next = null;
    return ask(keys);
  };
  return async (key) => {
    waiting.add(key);
    if (next === null) {
      next = askNext(current);
      current = next.catch(() => {});
    }
    const answers = await next;
    return answers.get(key) ?? null;
  };
}
