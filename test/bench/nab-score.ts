/** A file of NAB's corpus: its windows as inclusive ranges of rows. */
export interface LabeledSeries {
  readonly values: number;
  readonly windows: readonly { readonly first: number; readonly last: number }[];
}

/** How NAB weighs a window that was found, a detection outside, and a window that was missed. */
const PROFILES = { standard: [1, 0.11, 1], low_fp: [1, 0.22, 1], low_fn: [1, 0.11, 2] } as const;

type Profile = keyof typeof PROFILES;
/** What each profile gives: 0 for no detection at all, 100 for a perfect one. */
export type Scores = Record<Profile, number>;

/** Rows at the head of a file that are not scored. */
export function probation(values: number): number {
  return Math.min(Math.floor(0.15 * values), 750);
}

interface Row {
  readonly score: number;
  /** The window it lies in, over all files; `null` outside. */
  readonly window: number | null;
  /** NAB's scaled sigmoid of its place: what it is worth before weights. */
  readonly worth: number;
}

/**
 * Scores answers as NAB does.
 * @param answers For each file, a score of 0 to 1 for each row.
 * @param threshold Where detections begin, for `atThreshold`; `best` takes the best of all for each profile.
 */
export function scoreCorpus(files: readonly LabeledSeries[], answers: readonly Float64Array[], threshold: number): { best: Scores; atThreshold: Scores } {
  const windows = files.reduce((sum, file) => sum + file.windows.length, 0);
  let before = 0;
  const rows = files.flatMap((file, index) => {
    const scored = rowsOf(file, answers[index] ?? new Float64Array(), before);
    before += file.windows.length;
    return scored;
  });
  rows.sort((a, b) => b.score - a.score);
  const best: Scores = { standard: 0, low_fp: 0, low_fn: 0 };
  const atThreshold: Scores = { standard: 0, low_fp: 0, low_fn: 0 };
  for (const profile of Object.keys(PROFILES) as Profile[]) {
    const swept = sweep(rows, windows, profile, threshold);
    best[profile] = swept.best;
    atThreshold[profile] = swept.atThreshold;
  }
  return { best, atThreshold };
}

function rowsOf({ values, windows }: LabeledSeries, answers: Float64Array, before: number): Row[] {
  const rows: Row[] = [];
  let next = 0;
  for (let row = probation(values); row < values; row += 1) {
    while (row > (windows[next]?.last ?? Infinity)) next += 1;
    const score = answers[row] ?? 0;
    const window = windows[next];
    const previous = windows[next - 1];
    if (window && row >= window.first) {
      const worth = sigmoid(-(window.last - row + 1) / (window.last - window.first + 1)) / sigmoid(-1);
      rows.push({ score, window: before + next, worth });
    } else {
      const worth = previous ? sigmoid((row - previous.last) / (previous.last - previous.first)) : -1;
      rows.push({ score, window: null, worth });
    }
  }
  return rows;
}

/** Lowers the threshold past one distinct score after another, so that the whole sweep reads each row once. */
function sweep(rows: readonly Row[], windows: number, profile: Profile, threshold: number): { best: number; atThreshold: number } {
  const [found, falsely, missed] = PROFILES[profile];
  const nothing = -missed * windows;
  let sum = nothing;
  let best = nothing;
  let atThreshold = nothing;
  const worthOf = new Map<number, number>();
  rows.forEach(({ score, window, worth }, index) => {
    const known = window === null ? undefined : worthOf.get(window);
    if (window === null) sum += falsely * worth;
    else if (known === undefined || worth > known) {
      sum += known === undefined ? missed + found * worth : found * (worth - known);
      worthOf.set(window, worth);
    }
    if (rows[index + 1]?.score === score) return;
    best = Math.max(best, sum);
    if (score >= threshold) atThreshold = sum;
  });
  const scaled = (value: number) => Math.round((10_000 * (value - nothing)) / (windows * found - nothing)) / 100;
  return { best: scaled(best), atThreshold: scaled(atThreshold) };
}

function sigmoid(y: number): number {
  return y > 3 ? -1 : 2 / (1 + Math.exp(5 * y)) - 1;
}
