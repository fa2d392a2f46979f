/** Entries in the order of their last use; the least recent leaves where there are too many, and is counted. */
export interface RecentMap<K, V> {
  readonly size: number;
  /** How many left because there were too many. */
  readonly evicted: number;
  /** Uses it: it is the most recent then. */
  get(key: K): V | undefined;
  /** Reads it, and leaves its place as it is. */
  peek(key: K): V | undefined;
  /** Puts at the end. */
  put(key: K, value: V): void;
  delete(key: K): void;
}

/** Keeps `max` entries, one or more. */
export function createRecentMap<K, V>(max: number): RecentMap<K, V> {
  const map = new Map<K, V>();
  // One walk over all that leave: to begin anew each time would pass over what was deleted before.
  const oldest = map.keys();
  let evicted = 0;
  return {
    get size() {
      return map.size;
    },
    get evicted() {
      return evicted;
    },
    get(key) {
      const value = map.get(key);
      if (value === undefined) return undefined;
      map.delete(key);
      map.set(key, value);
      return value;
    },
    peek: (key) => map.get(key),
    put(key, value) {
      map.delete(key);
      map.set(key, value);
      if (map.size <= max) return;
      map.delete(oldest.next().value as K);
      evicted += 1;
    },
    delete: (key) => void map.delete(key),
  };
}
