/** Counts who is new on the link: more within a while than any network brings are forged. */
export interface Newcomers {
  /** @param name Of one that was not known. @returns All of this while where they are too many, else null. */
  add(name: string, now: number): ReadonlySet<string> | null;
}

/** Keeps one more than `max` names: what comes beyond that is forged without them. */
export function createNewcomers({ max, withinMs }: { readonly max: number; readonly withinMs: number }): Newcomers {
  let since = Number.NEGATIVE_INFINITY;
  let names = new Set<string>();
  return {
    add(name, now) {
      if (now - since >= withinMs) {
        since = now;
        names = new Set();
      }
      if (names.size <= max) names.add(name);
      return names.size > max ? names : null;
    },
  };
}
