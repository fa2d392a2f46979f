/** Entries by key, never more than a bound. */

/** What is kept by key; above the bound the entry that was put in longest ago goes. */
export interface BoundedTable<T> {
  get(key: string): T | undefined;
  /** Puts in, as the latest. */
  put(key: string, entry: T): void;
  remove(key: string): void;
  readonly size: () => number;
  /** How many went for others. */
  readonly evicted: () => number;
}

/** @param maxEntries At least 1. */
export function createBoundedTable<T>(maxEntries: number): BoundedTable<T> {
  const entries = new Map<string, T>();
  let evicted = 0;
  return {
    get: (key) => entries.get(key),
    put: (key, entry) => {
      entries.delete(key);
      for (const oldest of entries.keys()) {
        if (entries.size < maxEntries) break;
        entries.delete(oldest);
        evicted += 1;
      }
      entries.set(key, entry);
    },
    remove: (key) => {
      entries.delete(key);
    },
    size: () => entries.size,
    evicted: () => evicted,
  };
}
