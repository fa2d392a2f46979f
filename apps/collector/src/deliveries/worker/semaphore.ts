/** Bounds how much goes on at once. Who waits is served in order. */
export interface Semaphore {
  /**
   * @param isSlow Slow ones share a part of the places, so that they never take them all.
   * @returns What gives the place back, once there is one.
   */
  take(isSlow: boolean): Promise<() => void>;
}

/** @param options.slow How many of `all` the slow ones may have. */
export function createSemaphore(options: { readonly all: number; readonly slow: number }): Semaphore {
  const taken = { all: 0, slow: 0 };
  const waiting: { readonly slow: (() => void)[]; readonly fast: (() => void)[] } = { slow: [], fast: [] };
  const admit = () => {
    while (taken.all < options.all) {
      const next = waiting.fast.shift() ?? (taken.slow < options.slow ? waiting.slow.shift() : undefined);
      if (!next) return;
      next();
    }
  };
  return {
    take: (isSlow) => new Promise((resolve) => {
      waiting[isSlow ? "slow" : "fast"].push(() => {
        taken.all += 1;
        if (isSlow) taken.slow += 1;
        resolve(() => {
          taken.all -= 1;
          if (isSlow) taken.slow -= 1;
          admit();
        });
      });
      admit();
    }),
  };
}
