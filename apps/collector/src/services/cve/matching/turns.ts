import type { Clock } from "@lanthorn/runtime";

/** Work that is done one piece after the other. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when the work that was given so far has ended, and at the latest after some time. */
  rest(maxMs: number): Promise<void>;
}

/** Makes the row of turns, in which nobody stands yet. */
export function createTurns(clock: Pick<Clock, "after">): Turns {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    take(work) {
      const result = turn.catch(() => {}).then(work);
      turn = result;
      return result;
    },
    rest: (maxMs) => new Promise((resolve) => {
      const stop = clock.after(maxMs, resolve);
      const wait = async () => {
        await turn.catch(() => {});
        stop();
        resolve();
      };
      void wait();
    }),
  };
}
