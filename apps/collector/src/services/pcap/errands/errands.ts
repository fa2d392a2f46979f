import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";
import { createErrandRound, type ErrandRoundDependencies } from "./errand-round.ts";
import type { ProbeAddress } from "../probe-commands.ts";

/** What probes are still to hear: deletions, and that locked captures are to be sent here. */
export interface Errands {
  /** Something is to be said to a probe, or the probe is back. Nobody waits for it. */
  tell(probe: ProbeAddress): void;
  /** Ends them; the probes hear of the rest when they connect again. */
  close(): void;
}

const RETRY_FIRST_MS = 5000;
const RETRY_LONGEST_MS = 600_000;
/** After this many rounds without any success, the probe hears of it when it connects again, or after the next retention. */
const MAX_ROUNDS = 12;
/** How many probes hear something at the same time. */
const LANES = 4;

/**
 * Tells each probe one thing after the other. Only what the probe has done counts as heard: whatever it refuses for now is sent again,
 * with growing pauses, until it is done or the probe is away.
 */
export function createErrands(deps: ErrandRoundDependencies & { readonly clock: Clock; readonly random: () => number; readonly log: Log }): Errands {
  const { clock, log } = deps;
  const closer = new AbortController();
  const { signal } = closer;
  const round = createErrandRound(deps, signal);
  const lanes = Array.from({ length: LANES }, () => Promise.resolve<unknown>(null));
  const running = new Set<string>();
  const again = new Set<string>();
  /** By probe: ends its pause. */
  const pauses = new Map<string, () => void>();

  const pause = (probeId: string, ms: number) => new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      pauses.delete(probeId);
      resolve();
    };
    const cancel = clock.after(ms, end);
    pauses.set(probeId, end);
  });

  const inLane = <T>(lane: number, work: () => Promise<T>): Promise<T> => {
    const result = (lanes[lane] ?? Promise.resolve()).then(work);
    lanes[lane] = result.catch(() => undefined);
    return result;
  };

  async function run(probe: ProbeAddress): Promise<void> {
    const { probeId } = probe;
    const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
    for (let failed = 0; failed < MAX_ROUNDS;) {
      again.delete(probeId);
      const { settled, isLeft } = await inLane(laneOf(probeId), () => round(probe));
      if (settled > 0) backoff.reset();
      failed = settled > 0 ? 0 : failed + 1;
      if (signal.aborted || (!isLeft && !again.has(probeId))) return;
      if (isLeft) await pause(probeId, RETRY_FIRST_MS + backoff.next());
    }
  }

  function tell(probe: ProbeAddress): void {
    const { probeId } = probe;
    if (signal.aborted) return;
    again.add(probeId);
    if (running.has(probeId)) {
      pauses.get(probeId)?.();
      return;
    }
    running.add(probeId);
    void run(probe)
      .catch((error: unknown) => log.warn({ probe_id: probeId, reason: describeError(error) }, "a probe could not hear of its captures; it does when it connects again"))
      .finally(() => {
        running.delete(probeId);
        // It came too late for the run that was just ending.
        if (again.delete(probeId)) tell(probe);
      });
  }

  return {
    tell,
    close() {
      closer.abort();
      again.clear();
      for (const end of pauses.values()) end();
    },
  };
}

function laneOf(probeId: string): number {
  return Number.parseInt(probeId.slice(-2), 16) % LANES;
}
