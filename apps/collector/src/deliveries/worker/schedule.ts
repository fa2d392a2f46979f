/** Wait before the second, third, fourth and fifth attempt, counted from the one before. */
const WAITS_MS: readonly number[] = [30_000, 120_000, 600_000, 3_600_000];

/** A receiver that asks for more would keep its deliveries here for as long as it likes. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** @param attempt How many attempts were made. @returns Milliseconds before the next; null when that was the last one. */
export function waitAfter(attempt: number): number | null {
  return WAITS_MS[attempt - 1] ?? null;
}

/**
 * Milliseconds that a `Retry-After` header asks for, at most a day; null where it has none that can be read.
 * @param now Milliseconds since the epoch, for the header's form with a date.
 * @see RFC 9110 section 10.2.3
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  // Date.parse takes nearly everything for a date; one of HTTP begins with a day's name.
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(asked) ? null : Math.min(Math.max(0, asked), MAX_RETRY_AFTER_MS);
}
