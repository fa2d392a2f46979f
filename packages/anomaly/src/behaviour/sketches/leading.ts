/** Counts of the most frequent of very many names, each with how much of it may be of names whose place it took. */
export type LeadingCounts = Map<string, { count: number; error: number }>;
/** Name, count and error, as they are kept. */
export type LeadingEntry = readonly [name: string, count: number, error: number];

/** Beyond it, counts stay. */
const MAX_COUNT = 2 ** 31;

/** @param max Of what is kept. */
export function createLeading(max: number, saved: Iterable<readonly [name: string, count: number, error?: number]> = []): LeadingCounts {
  const counts: LeadingCounts = new Map();
  for (const [name, count, error = 0] of saved) if (counts.size < max) counts.set(name, { count, error });
  return counts;
}

/** @see Metwally et al., "Space-Saving", ICDT 2005: a new one takes the place and the count of the rarest. */
export function addLeading(counts: LeadingCounts, name: string, max: number, times = 1): void {
  const known = counts.get(name);
  if (known) known.count = Math.min(MAX_COUNT, known.count + times);
  else if (counts.size < max) counts.set(name, { count: times, error: 0 });
  else {
    let [rarest, fewest] = ["", Number.POSITIVE_INFINITY];
    for (const [one, { count }] of counts) if (count < fewest) [rarest, fewest] = [one, count];
    counts.delete(rarest);
    counts.set(name, { count: fewest + times, error: fewest });
  }
}

/** What was added before counts so much less. */
export function fadeLeading(counts: LeadingCounts, share: number): void {
  for (const known of counts.values()) {
    known.count *= share;
    known.error *= share;
  }
}

/** Each with how often it was added at least; the most frequent first. */
export function leastOf(counts: LeadingCounts): readonly (readonly [name: string, times: number])[] {
  return [...counts].map(([name, { count, error }]) => [name, count - error] as const).toSorted((a, b) => b[1] - a[1]);
}

/** As they are kept. */
export function entriesOf(counts: LeadingCounts): LeadingEntry[] {
  return [...counts].map(([name, { count, error }]) => [name, count, error]);
}
