import { type Clock, describeError, type Log, startThread } from "@lanthorn/runtime";
import { ApiError, rateLimited } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import { MAX_TRIAL_HEAP_MB, MAX_TRIAL_MS, type TrialAnswer, type TrialResult, type TrialTask } from "./tasks.ts";

/** Tries rules on captures, each in a thread of its own, so that the event loop waits for none and a hostile one hurts nobody else. */
export interface Trials {
  /**
   * @param prepare Reads what is tried, once there is room for it.
   * @throws ApiError RATE_LIMITED while another trial of the tenant runs; SERVICE_UNAVAILABLE while others' do, or at a stop; BAD_REQUEST for a
   * capture that is none, and for what takes more than the time or memory of a trial; whatever `prepare` throws.
   */
  run(tenantId: string, prepare: () => Promise<TrialTask>): Promise<TrialResult>;
  close(): Promise<void>;
}

/** Of all tenants; each may have one. */
const MAX_RUNNING = 2;
/** To begin and to end, beside `MAX_TRIAL_MS`, which is looked at between frames. The gateway waits for 30 s. */
const GRACE_MS = 15_000;
const RETRY_MS = 5000;

/** @param deps.maxMs How long a trial may take at all. */
export function createTrials({ clock, log, maxMs = MAX_TRIAL_MS + GRACE_MS }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "warn">; readonly maxMs?: number;
}): Trials {
  const running = new Set<string>();
  const stops = new Set<() => Promise<void>>();
  let isClosed = false;
  return {
    async run(tenantId, prepare) {
      if (isClosed) throw unavailable("the collector is stopping");
      if (running.has(tenantId)) throw rateLimited("another test of a rule is running: wait for its answer", RETRY_MS);
      if (running.size >= MAX_RUNNING) throw unavailable("other tests of rules are running: try again in some seconds");
      running.add(tenantId);
      try {
        const answer = await runOne(await prepare(), { clock, log, maxMs, stops });
        if ("refused" in answer) throw badRequest([{ path: ["capture"], message: answer.refused }]);
        return answer.result;
      } finally {
        running.delete(tenantId);
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...stops].map((stop) => stop()));
    },
  };
}

function runOne(task: TrialTask, { clock, log, maxMs, stops }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "warn">; readonly maxMs: number; readonly stops: Set<() => Promise<void>>;
}): Promise<TrialAnswer> {
  return new Promise((resolve, reject) => {
    const worker = startThread("trial-worker", import.meta.url, {
      workerData: task, transferList: transferable([task.capture, task.rules]), resourceLimits: { maxOldGenerationSizeMb: MAX_TRIAL_HEAP_MB },
    });
    const finish = (settle: () => void) => {
      cancel();
      stops.delete(stop);
      worker.removeAllListeners().on("error", () => {});
      settle();
      return worker.terminate();
    };
    const stop = async () => void await finish(() => reject(unavailable("the collector is stopping")));
    const fail = (reason: string) => {
      log.warn({ reason }, "the test of a rule was ended");
      void finish(() => reject(new ApiError("BAD_REQUEST", "the rule and the capture take more time or memory than a test may: send a smaller capture, or a simpler rule")));
    };
    const cancel = clock.after(maxMs, () => fail(`no answer within ${maxMs / 1000} s`));
    stops.add(stop);
    worker.on("message", (answer: TrialAnswer) => void finish(() => resolve(answer)));
    worker.on("error", (error) => fail(describeError(error)));
    worker.on("exit", () => fail("its thread ended"));
  });
}

/** Buffers that are nobody else's are handed over, not copied. */
function transferable(all: readonly Uint8Array[]): ArrayBuffer[] {
  return all.flatMap(({ buffer, byteLength }) => (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []));
}

function unavailable(message: string): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, { headers: { "retry-after": String(RETRY_MS / 1000) }, isOrdinary: true });
}
