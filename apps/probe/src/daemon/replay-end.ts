import type { Clock, Log } from "@lanthorn/runtime";

/** Notices when everything from a capture file has reached the collector. */
export interface ReplayEnd {
  onEnd(problem: string | null): void;
  close(): void;
}

const CHECK_MS = 250;
/** Hosts are published up to two seconds after their last frame, so this long without a new event means that all are published. */
const QUIET_MS = 3000;

/** @param deps.onDrained Called once; null where nobody waits for it. */
export function createReplayEnd(deps: {
  readonly drained: () => boolean;
  readonly lastSeq: () => number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onDrained: (() => void) | null;
}): ReplayEnd {
  const { clock, log, onDrained } = deps;
  let stop = () => {};
  return {
    onEnd(problem) {
      if (problem === null) log.info({}, "the capture file was read to its end");
      else log.error({ reason: problem }, "the capture file could not be read to its end");
      if (!onDrained) return;
      let seq = deps.lastSeq();
      let quietSince = clock.monotonic();
      stop = clock.every(CHECK_MS, () => {
        const now = deps.lastSeq();
        if (now !== seq) quietSince = clock.monotonic();
        seq = now;
        if (clock.monotonic() - quietSince < QUIET_MS || !deps.drained()) return;
        stop();
        onDrained();
      });
    },
    close: () => stop(),
  };
}
