/** Waiting times after failures: each drawn evenly from zero to a ceiling that doubles. */
export interface Backoff {
  /** The next wait in milliseconds. */
  next(): number;
  /** After a success: starts again at the smallest ceiling. */
  reset(): void;
}

/**
 * "Full jitter": many clients that lost one server do not come back in one moment.
 * @param options.random A number in [0, 1).
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function createBackoff(options: { readonly firstMs: number; readonly longestMs: number; readonly random: () => number }): Backoff {
  let ceiling = options.firstMs;
  return {
    next() {
      const wait = Math.ceil(options.random() * ceiling);
      ceiling = Math.min(ceiling * 2, options.longestMs);
      return wait;
    },
    reset() {
      ceiling = options.firstMs;
    },
  };
}
