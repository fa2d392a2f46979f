/** Entries in the order in which they were put last; the oldest leaves where there are too many. */
export interface BoundedMap<K, V> {
  readonly size: number;
  has(key: K): boolean;
  get(key: K): V | undefined;
  /** Puts at the end. */
  put(key: K, value: V): void;
  delete(key: K): void;
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
  return {
    get size() {
      return map.size;
    },
    has: (key) => map.has(key),
    get: (key) => map.get(key),
    put(key, value) {
      map.delete(key);
      map.set(key, value);
      if (map.size > max) map.delete(oldest.next().value as K);
    },
    delete: (key) => void map.delete(key),
    clear: () => map.clear(),
    keys: () => map.keys(),
    values: () => map.values(),
    [Symbol.iterator]: () => map[Symbol.iterator](),
  };
}
