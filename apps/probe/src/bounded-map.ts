/** Entries in the order in which they were put last; the oldest leaves where there are too many. */
export interface BoundedMap<K, V> {
  readonly size: number;
  has(key: K): boolean;
  get(key: K): V | undefined;
  /** Puts at the end. */
  put(key: K, value: V): void;
  delete(key: K): void;
  /** Takes out what was put first. @returns Null where there is nothing. */
  takeOldest(): readonly [K, V] | null;
  clear(): void;
  keys(): IterableIterator<K>;
  values(): IterableIterator<V>;
  [Symbol.iterator](): IterableIterator<[K, V]>;
}

/** Keeps `max` entries, one or more. Each call takes the same time whatever it keeps. */
export function createBoundedMap<K, V>(max: number): BoundedMap<K, V> {
  const map = new Map<K, V>();
  // What it has passed has left. To begin anew for each entry would walk over all that has left since the map was made smaller last.
  const oldest = map.keys();
  const takeOldest = (): readonly [K, V] | null => {
    if (map.size === 0) return null;
    const key = oldest.next().value as K;
    const value = map.get(key) as V;
    map.delete(key);
    return [key, value];
  };
  return {
    takeOldest,
    get size() {
      return map.size;
    },
    has: (key) => map.has(key),
    get: (key) => map.get(key),
    put(key, value) {
      map.delete(key);
      map.set(key, value);
      if (map.size > max) takeOldest();
    },
    delete: (key) => void map.delete(key),
    clear: () => map.clear(),
    keys: () => map.keys(),
    values: () => map.values(),
    [Symbol.iterator]: () => map[Symbol.iterator](),
  };
}
