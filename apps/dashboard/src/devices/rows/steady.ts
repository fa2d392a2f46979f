/** A page of a list as it was answered. */
export interface AnsweredPage<T> {
  readonly page: number;
  readonly rows: readonly T[];
  /** How many the whole list has. */
  readonly total: number;
  /** In milliseconds. */
  readonly answeredAtMs: number;
}

/** What of a list is shown: its rows stay where they are, whatever the list is by now, until somebody asks for it anew. */
export interface Steady<T> {
  /** Null while nothing was answered. */
  readonly total: number | null;
  readonly pages: readonly AnsweredPage<T>[];
}

/** What is there now and not shown: newcomers, fewer than before, or others at the same places. */
export type Waiting = { readonly kind: "new" | "gone"; readonly count: number } | { readonly kind: "order" };

/** Of a list that nobody has looked at yet. */
export const NOTHING_SHOWN: Steady<never> = { total: null, pages: [] };

/**
 * Keeps rows where they were first shown. Pages that are looked at no more are let go: they are shown as they are then.
 * @param answers The pages that are looked at, as they are now.
 * @returns The same object where nothing is to be added or let go. An empty list holds nothing still.
 */
export function hold<T>(before: Steady<T>, answers: readonly AnsweredPage<T>[]): Steady<T> {
  const first = before.total === 0 && answers.some(({ total }) => total > 0) ? NOTHING_SHOWN : before;
  const pages = answers.map((answer) => first.pages.find(({ page }) => page === answer.page) ?? answer);
  const total = first.total ?? answers[0]?.total ?? null;
  const isSame = total === before.total && pages.length === before.pages.length && pages.every((page, index) => page === before.pages[index]);
  return isSame ? before : { total, pages };
}

/** @returns What of the list is not shown; null where all of it is. */
export function waitingOf<T extends { readonly id: string }>(shown: Steady<T>, answers: readonly AnsweredPage<T>[]): Waiting | null {
  const newest = answers.toSorted((one, other) => one.answeredAtMs - other.answeredAtMs).at(-1);
  if (shown.total === null || newest === undefined) return null;
  if (newest.total !== shown.total) return { kind: newest.total > shown.total ? "new" : "gone", count: Math.abs(newest.total - shown.total) };
  const isMoved = answers.some(({ page, rows }) => {
    const held = shown.pages.find((each) => each.page === page)?.rows ?? rows;
    return held.length !== rows.length || held.some(({ id }, index) => id !== rows[index]?.id);
  });
  return isMoved ? { kind: "order" } : null;
}
