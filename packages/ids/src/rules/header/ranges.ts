/** Sets of whole numbers as ranges. */

/** Pairs of first and last, sorted and apart from each other. */
export type Ranges = readonly (readonly [first: bigint, last: bigint])[];

/** @returns Ranges in any order as a set. */
export function unite(ranges: Ranges): Ranges {
  const merged: [bigint, bigint][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => (a[0] < b[0] ? -1 : Number(a[0] > b[0])))) {
    const before = merged.at(-1);
    if (!before || first > before[1] + 1n) merged.push([first, last]);
    else if (last > before[1]) before[1] = last;
  }
  return merged;
}

/** @returns What is in `from` and not in `taken`; both are sets. */
export function subtract(from: Ranges, taken: Ranges): Ranges {
  const left: [bigint, bigint][] = [];
  let at = 0;
  for (const [first, last] of from) {
    let start = first;
    while ((taken[at]?.[1] ?? last) < start) at += 1;
    for (let next = at; start <= last; next += 1) {
      const cut = taken[next];
      if (!cut || cut[0] > last) {
        left.push([start, last]);
        break;
      }
      if (cut[0] > start) left.push([start, cut[0] - 1n]);
      start = cut[1] + 1n;
      at = next;
    }
  }
  return left;
}
