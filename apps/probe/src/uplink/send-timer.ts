import { type Clock, createBackoff } from "@lanthorn/runtime";

/** Says when a batch is to be sent. One timer runs at a time. */
export interface SendTimer {
  /** A timer runs whose end is `onDue`. */
  readonly isSet: boolean;
  /** `onDue` soon: events of a burst go in one batch. Nothing where such a timer runs. */
  gather(): void;
  /** `onDue` after a pause, which grows from one call to the next until `reset`. */
  pause(): void;
  /** `onTimeout` when no acknowledgement comes. The time doubles with each timeout. */
  expectAcknowledgement(): void;
  /** The collector answers as it should: pauses and timeouts are short again. */
  reset(): void;
  /** There is another connection: the timeout is short again. */
  resetTimeout(): void;
  stop(): void;
}

/** Events that come in a burst, as a sweep's answers do, go in one batch; nobody notices this much waiting. */
const GATHER_MS = 50;
const MIN_PAUSE_MS = 100;
/** First wait for an acknowledgement. It doubles, so that a broker whose collector is away is not filled with repetitions. */
const ACK_TIMEOUT_MS = 15_000;
const MAX_ACK_TIMEOUT_MS = 60_000;

/** @param deps.onTimeout With how long it was waited for, in milliseconds. */
export function createSendTimer(deps: {
  readonly clock: Clock;
  readonly random: () => number;
  readonly onDue: () => void;
  readonly onTimeout: (waitedMs: number) => void;
}): SendTimer {
  const backoff = createBackoff({ firstMs: 1000, longestMs: 60_000, random: deps.random });
  let timeoutMs = ACK_TIMEOUT_MS;
  let isSet = false;
  let cancel = () => {};

  function due(delayMs: number): void {
    cancel();
    isSet = true;
    cancel = deps.clock.after(delayMs, () => {
      isSet = false;
      deps.onDue();
    });
  }

  function stop(): void {
    cancel();
    isSet = false;
  }

  return {
    get isSet() {
      return isSet;
    },
    gather() {
      if (!isSet) due(GATHER_MS);
    },
    pause: () => due(backoff.next() + MIN_PAUSE_MS),
    expectAcknowledgement() {
      stop();
      cancel = deps.clock.after(timeoutMs, () => {
        const waitedMs = timeoutMs;
        timeoutMs = Math.min(timeoutMs * 2, MAX_ACK_TIMEOUT_MS);
        deps.onTimeout(waitedMs);
      });
    },
    reset() {
      backoff.reset();
      timeoutMs = ACK_TIMEOUT_MS;
    },
    resetTimeout() {
      timeoutMs = ACK_TIMEOUT_MS;
    },
    stop,
  };
}
