import { createBoundedMap } from "../../bounded-map.ts";

/** What is known of those who were there lately, within a bound: whoever was silent the longest is forgotten first. */
export interface Recent<T> {
  /** @returns What is known of it, or what `begin` gives. */
  of(key: string, nowMs: number, begin: () => T): T;
  /** @returns Null where nothing is known. */
  find(key: string, nowMs: number): T | null;
}

/** @param forgetMs After so long a silence. */
export function createRecent<T>(max: number, forgetMs: number): Recent<T> {
  const known = createBoundedMap<string, { readonly value: T; seenMs: number }>(max);
  const find = (key: string, nowMs: number) => {
    const one = known.get(key);
    return one && nowMs - one.seenMs <= forgetMs ? one : null;
  };
  return {
    of(key, nowMs, begin) {
      const one = find(key, nowMs) ?? { value: begin(), seenMs: nowMs };
      one.seenMs = nowMs;
      known.put(key, one);
      return one.value;
    },
    find: (key, nowMs) => find(key, nowMs)?.value ?? null,
  };
}
