import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { createPace } from "../../db/pace.ts";
import type { DeliveryStore, Made, WebhookRow } from "../store.ts";

/** Commits outcomes, many in one transaction: a disk that syncs in a millisecond would otherwise allow a thousand deliveries a second. */
export interface Recorder {
  /**
   * Resolves when the outcome is committed, however often that has to be tried.
   * @returns The webhook as it is now, or null where it is not this worker's any more, or the recorder was closed first.
   */
  record(made: Made): Promise<WebhookRow | null>;
  /** Why the last commit failed, until one succeeds. */
  fault(): string | null;
  /** Ends the repetitions; what cannot be committed now is given up. */
  close(): Promise<void>;
}

const TRY_AGAIN_MS = 1000;
/** Between commits that several share: some answers of other receivers come in it, and an endpoint's next delivery waits no longer. */
const ROUND_MS = 5;

/**
 * Outcomes that come within 5 ms share a commit. A commit that fails is repeated each second until `close`.
 * @param deps.workerId The claim under which outcomes are stored; asked at each commit.
 */
export function createRecorder(deps: {
  readonly store: Pick<DeliveryStore, "record">;
  readonly workerId: () => string;
  readonly clock: Clock;
  readonly log: Log;
}): Recorder {
  const { clock, log } = deps;
  const pace = createPace(ROUND_MS);
  let waiting: { readonly made: Made; readonly resolve: (row: WebhookRow | null) => void }[] = [];
  let committing: Promise<void> | null = null;
  let fault: string | null = null;
  const stopper = new AbortController();

  const commit = async () => {
    while (waiting.length > 0) {
      // SQLite commits without leaving this turn: only what all sockets have brought by its end makes a batch.
      await pace.next();
      const batch = waiting;
      waiting = [];
      pace.began(batch.length);
      try {
        const rows = await deps.store.record(deps.workerId(), batch.map(({ made }) => made), clock.now());
        pace.ended();
        const byId = new Map(rows.map((row) => [row.id, row]));
        fault = null;
        for (const { made, resolve } of batch) resolve(byId.get(made.delivery.webhookId) ?? null);
      } catch (error) {
        fault = describeError(error);
        log.error({ reason: fault, attempts: batch.length }, "results of webhook deliveries could not be stored, trying again");
        waiting = [...batch, ...waiting];
        if (stopper.signal.aborted) break;
        await pause(clock, TRY_AGAIN_MS, stopper.signal);
      }
    }
    for (const { resolve } of waiting.splice(0)) resolve(null);
    committing = null;
  };

  return {
    record: (made) => new Promise((resolve) => {
      waiting.push({ made, resolve });
      committing ??= commit();
    }),
    fault: () => fault,
    async close() {
      stopper.abort();
      await committing;
    },
  };
}

function pause(clock: Clock, ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      stop.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    stop.addEventListener("abort", end);
  });
}
