/** Values of which those that were used last are kept. */
export interface Recent<T> {
  get(key: string): T | undefined;
  /** Keeps a value, unless it alone is too large. */
  set(key: string, value: T, size: number): void;
}

/** @param maxSize Of all values together, in the unit in which they are given. */
export function createRecent<T>(maxSize: number): Recent<T> {
  const kept = new Map<string, { readonly value: T; readonly size: number }>();
  let total = 0;
  const remove = (key: string) => {
    total -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const known = kept.get(key);
      if (known === undefined) return undefined;
      // Moved to the end: the first of a Map is then the one least lately used.
      kept.delete(key);
      kept.set(key, known);
      return known.value;
    },
    set(key, value, size) {
      remove(key);
      if (size > maxSize) return;
      kept.set(key, { value, size });
      total += size;
      for (const oldest of kept.keys()) {
        if (total <= maxSize) break;
        remove(oldest);
      }
    },
  };
}
