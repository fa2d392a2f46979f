/** Sizes of `in (…)` lists: a list is filled up to the next one with its first value, so that few statements are prepared. */
const LIST_SIZES = [1, 8, 64, 512] as const;

/** Calls `select` with the values in lists of fixed sizes, and joins what comes back. */
export async function selectIn<V, R>(values: readonly V[], select: (list: readonly V[]) => Promise<readonly R[]>): Promise<R[]> {
  const found: R[] = [];
  const longest = LIST_SIZES[LIST_SIZES.length - 1] as number;
  for (let at = 0; at < values.length; at += longest) {
    const part = values.slice(at, at + longest);
    const size = LIST_SIZES.find((candidate) => candidate >= part.length) ?? longest;
    const list = [...part, ...Array.from({ length: size - part.length }, () => part[0] as V)];
    for (const row of await select(list)) found.push(row);
  }
  return found;
}
