import { barsOf, type PairHistory, recentOf } from "./history.ts";

/** How much a pair's connections are like a beacon's: four parts of 0 to 1, and their mean. */
export interface BeaconScore {
  /** Intervals are alike. */
  readonly timing: number;
  /** Sizes are alike. */
  readonly size: number;
  /** Each bar of time has as many connections as others, or as one of two kinds. */
  readonly histogram: number;
  /** It goes on for many bars of time. */
  readonly duration: number;
  readonly total: number;
  /** Seconds between connections, the median. */
  readonly intervalSeconds: number;
}

/** With fewer connections than this, chance is often regular. */
const MIN_CONNECTIONS = 16;
/** A bar holds some connections even of a slow beacon: of a width of one interval it would hold one or none by chance. */
const INTERVALS_A_BAR = 4;
const FOLDED_LOSS = 0.1;
const MIN_BARS_OF_DURATION = 6;
/** RITA's: a run of twelve bars is long. */
const LONG_RUN = 12;
const MIN_BARS_OF_TWO_KINDS = 11;
/** Heights within a twentieth of the highest count as one. */
const HEIGHT_KINDS = 20;

/** @returns `null` while there are too few connections to say anything. */
export function scoreBeacon(pair: PairHistory): BeaconScore | null {
  if (pair.count < MIN_CONNECTIONS) return null;
  const { intervals, sizes } = recentOf(pair);
  const intervalSeconds = quantile(intervals.toSorted(ascending), 0.5);
  const bars = barsOf(pair, Math.max(1, Math.ceil((INTERVALS_A_BAR * intervalSeconds) / 3600)));
  const timing = Math.max(regularity(intervals), regularity(folded(intervals, intervalSeconds)) - FOLDED_LOSS);
  const size = regularity(sizes);
  const histogram = evenness(bars);
  const duration = persistence(bars);
  return { timing, size, histogram, duration, total: (timing + size + histogram + duration) / 4, intervalSeconds };
}

/**
 * Intervals without the sleeps and losses in them: one of several times the median is taken for as many of one. Chance gains by that too,
 * which is why it costs something.
 */
function folded(intervals: readonly number[], median: number): number[] {
  return intervals.map((interval) => interval / Math.max(1, Math.round(interval / Math.max(median, Number.MIN_VALUE))));
}

/** How far two pairs are apart in interval and in size: 0 for pairs that are alike, as a share of the larger. */
export function differenceOf(one: PairHistory, other: PairHistory): number {
  const [a, b] = [recentOf(one), recentOf(other)];
  const apart = (of: readonly number[], from: readonly number[]) => {
    const [x, y] = [quantile(of.toSorted(ascending), 0.5), quantile(from.toSorted(ascending), 0.5)];
    return Math.abs(x - y) / Math.max(x, y, Number.MIN_VALUE);
  };
  return Math.max(apart(a.intervals, b.intervals), apart(a.sizes, b.sizes));
}

/** RITA's mean of symmetry (1 - |Bowley skew|) and closeness ((median - MAD) / median). */
function regularity(values: readonly number[]): number {
  const sorted = values.toSorted(ascending);
  const [lower, median, upper] = [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)];
  if (median <= 0) return 0;
  // RITA takes a spread below ten seconds for none; here it is a share of the median, so that sub-second times count.
  const flat = upper - lower < 0.1 * median || median === lower || median === upper;
  const skew = flat ? 0 : Math.abs((lower + upper - 2 * median) / (upper - lower));
  const deviations = sorted.map((value) => Math.abs(value - median)).toSorted(ascending);
  return (1 - skew + Math.max(0, (median - quantile(deviations, 0.5)) / median)) / 2;
}

/** The larger of 1 - coefficient of variation, and the share of the two commonest heights; of bars in which there was anything. */
function evenness(bars: readonly number[]): number {
  const active = bars.filter((count) => count > 0);
  if (active.length < 2) return 0;
  const mean = active.reduce((sum, count) => sum + count, 0) / active.length;
  const variance = active.reduce((sum, count) => sum + (count - mean) ** 2, 0) / active.length;
  const even = Math.max(0, 1 - Math.sqrt(variance) / mean);
  if (bars.length < MIN_BARS_OF_TWO_KINDS) return even;
  const highest = Math.max(...active);
  const kinds = new Map<number, number>();
  for (const count of bars) {
    const kind = Math.ceil((HEIGHT_KINDS * count) / highest);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const [most = 0, second = 0] = [...kinds.values()].toSorted((a, b) => b - a);
  // One outlier is dropped. Where most bars are empty, that they are alike says nothing.
  const ofTwo = active.length * 2 < bars.length ? 0 : Math.min(1, (most + second) / (bars.length - 1));
  return Math.max(even, ofTwo);
}

/** The larger of the share of bars in which there was anything, and the longest run of such bars against a long one. */
function persistence(bars: readonly number[]): number {
  if (bars.length < MIN_BARS_OF_DURATION) return 0;
  let run = 0;
  let longest = 0;
  let active = 0;
  for (const count of bars) {
    run = count > 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
    if (count > 0) active += 1;
  }
  return Math.min(1, Math.max(active / bars.length, longest / LONG_RUN));
}

function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  return below + (place - Math.floor(place)) * ((sorted[Math.ceil(place)] ?? below) - below);
}

function ascending(a: number, b: number): number {
  return a - b;
}
