const DAY_SECONDS = 86_400;

/** How many alerts a site may have on a day of packet time. */
export interface Budget {
  /** Takes one of those of the day of `at`. @returns False where none is left. */
  readonly take: (at: number) => boolean;
  /** The day since 1970, and how many were taken of it. */
  readonly state: () => readonly [day: number, taken: number];
  readonly restore: (state: readonly [day: number, taken: number]) => void;
}

/** @param aDay What a day has. */
export function createBudget(aDay: number): Budget {
  let day = 0;
  let taken = 0;
  return {
    take(at) {
      const now = Math.floor(at / DAY_SECONDS);
      if (now !== day) {
        day = now;
        taken = 0;
      }
      if (taken >= aDay) return false;
      taken += 1;
      return true;
    },
    state: () => [day, taken],
    restore: (state) => {
      [day, taken] = state;
    },
  };
}
