/** Runs work one after another for each key; different keys do not wait for each other. */
export interface KeyedQueue {
  run(key: string, work: () => Promise<void>): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Work that fails rejects its own `run` only; the next of the same key still runs. The queue has no bound: callers bound what they add. */
export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  return {
    run(key, work) {
      const before = tails.get(key);
      const result = before ? before.then(work) : work();
      const tail = settled(result).finally(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      tails.set(key, tail);
      return result;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}

/** Whoever waits for its turn does not care how the one before went. */
async function settled(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch {
    // Its caller has the error.
  }
}
