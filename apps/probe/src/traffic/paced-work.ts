import { type Clock, nextTurn, pause } from "@lanthorn/runtime";

/** Awaited after each piece of work, some milliseconds long. @returns False to stop: what is being done stays as it is. */
export type Pace = () => Promise<boolean>;

/** Work that goes on beside the capture, in a fifth of the time at most. */
export interface PacedWork {
  readonly pace: Pace;
  /** A batch begins: what passed before it was not work. */
  begin(): void;
  readonly isClosed: boolean;
  /** Nothing more is begun, and who waits goes on at once. */
  close(): void;
}

/** Work of one turn or a few, and the rest after it: a fifth of the time at most is for this. */
const WORK_MS = 5;
const REST_FACTOR = 4;
/** What took longer waited for a disk that has much to do, or the machine slept. */
const MAX_REST_MS = 10_000;
/** From this load on work for which there is no hurry waits. */
export const BUSY_LOAD = 0.25;
const BUSY_PAUSE_MS = 100;
/** A flood may last for hours, and what waits for its end may be what looks into it: below this load a piece is done after so many pauses. */
const FULL_LOAD = 0.8;
const LONG_PAUSES = 2;

/** Work for which there is no hurry. @param deps.load How much there is to do, 0 to 1: while it is high, this goes on in a fortieth of the time, and not at all while there is more than can be done. */
export function createPacedWork({ load, clock }: { readonly load: () => number; readonly clock: Pick<Clock, "monotonic" | "after"> }): PacedWork {
  let isClosed = false;
  let stop = () => {};
  const closing = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let workedFrom = clock.monotonic();

  async function untilCalm(pauses = 0): Promise<void> {
    const now = load();
    if (isClosed || now < BUSY_LOAD || (now < FULL_LOAD && pauses >= LONG_PAUSES)) return;
    await Promise.race([pause(clock, BUSY_PAUSE_MS), closing]);
    return untilCalm(pauses + 1);
  }

  return {
    begin() {
      workedFrom = clock.monotonic();
    },
    async pace() {
      await nextTurn();
      const worked = clock.monotonic() - workedFrom;
      if (worked >= WORK_MS && !isClosed) await Promise.race([pause(clock, Math.min(MAX_REST_MS, worked * REST_FACTOR)), closing]);
      await untilCalm();
      workedFrom = clock.monotonic();
      return !isClosed;
    },
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
      stop();
    },
  };
}
