/** Time, passed in wherever it is needed, so that a test can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds that only rise, for measuring how long something took. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`. @returns What cancels it. */
  after(delayMs: number, task: () => void): () => void;
  /** Calls `task` every `periodMs`. @returns What ends it. */
  every(periodMs: number, task: () => void): () => void;
}

/** The machine's own clock. Its timers keep the process alive until they are cancelled. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
  every(periodMs, task) {
    const timer = setInterval(task, periodMs);
    return () => clearInterval(timer);
  },
};

/** Resolves after `ms`; what may have to be given up sooner takes a timer of its own. */
export function pause(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/** Resolves in the next turn of the event loop, so that long work lets others run between its parts. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  /** Moves on by `ms`, calling in order every task that falls due, and letting promises settle between them. */
  advance(ms: number): Promise<void>;
  /**
   * Moves on by `ms` at once, as the clock of a machine that was suspended does: each task that fell due meanwhile is called once, in
   * order, a periodic one too. For a long wait in which only its end counts: `advance` calls a task of 500 ms 7200 times an hour.
   */
  leap(ms: number): Promise<void>;
  /** Sets the wall clock without moving the timers, as an administrator or NTP does. */
  jump(ms: number): void;
}

/** @param startAt Milliseconds since the epoch. */
export function createFakeClock(startAt = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsed = 0;
  let offset = startAt;
  let tasks: { dueAt: number; readonly task: () => void; readonly periodMs: number | null }[] = [];
  const schedule = (delayMs: number, task: () => void, periodMs: number | null) => {
    const entry = { dueAt: elapsed + delayMs, task, periodMs };
    tasks.push(entry);
    return () => {
      tasks = tasks.filter((other) => other !== entry);
    };
  };
  /** Calls in order what is due by `end`, until nothing more is. */
  const runUntil = async (end: number) => {
    for (;;) {
      const next = tasks.filter((entry) => entry.dueAt <= end).toSorted((a, b) => a.dueAt - b.dueAt)[0];
      if (!next) break;
      elapsed = Math.max(elapsed, next.dueAt);
      if (next.periodMs === null) tasks = tasks.filter((entry) => entry !== next);
      else next.dueAt = nextDue(next.dueAt, next.periodMs, elapsed);
      next.task();
      await settle();
    }
    elapsed = end;
    await settle();
  };
  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    after: (delayMs, task) => schedule(delayMs, task, null),
    every: (periodMs, task) => schedule(periodMs, task, periodMs),
    jump(ms) {
      offset += ms;
    },
    advance: (ms) => runUntil(elapsed + ms),
    leap(ms) {
      elapsed += ms;
      return runUntil(elapsed);
    },
  };
}

/** The first time after `elapsed` at which a periodic task is due; those that have passed are left out. */
function nextDue(dueAt: number, periodMs: number, elapsed: number): number {
  return dueAt + periodMs * Math.max(1, Math.floor((elapsed - dueAt) / periodMs) + 1);
}

/** Says whether something is under way that the event loop does not know of. */
let isBusy = (): boolean => false;

/** Lets every fake clock of this process wait while `isUnderWay`, before it goes on: for a database in another process. */
export function settleFakeClocks(isUnderWay: () => boolean): void {
  isBusy = isUnderWay;
}

/** What is under way for longer waits for something itself, perhaps for the clock. */
const SETTLED_BY_MS = 2000;

/** Several turns of the event loop in which nothing is under way, enough for a chain of promises behind a timer. */
async function settle(): Promise<void> {
  const end = performance.now() + SETTLED_BY_MS;
  for (let turn = 0; turn < 5; turn = isBusy() && performance.now() < end ? 0 : turn + 1) {
    // Turning without a pause until another process answers would take a whole processor from it.
    await (isBusy() ? pauseForAnswer() : nextTurn());
  }
}

const pauseForAnswer = () => new Promise<void>((resolve) => {
  setTimeout(resolve, 1);
});
