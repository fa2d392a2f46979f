import type { Worker } from "node:worker_threads";
import { type Clock, describeError, type Log, startThread } from "@lanthorn/runtime";
import { CollectorError } from "../../../../errors.ts";
import type { FreshJudgment, MatchAnswer, MatchTask, MatchTaskName, MatchTasks } from "./match-tasks.ts";

/** Judges software in a thread of its own, one question after the other, so that the event loop waits for none. */
export interface MatchThread {
  /** @throws CollectorError `cve-match-failed` where it took longer than two minutes, failed, or the thread ended; `cve-match-interrupted` where another question ended it. */
  ask<N extends MatchTaskName>(name: N, input: MatchTasks[N]["input"], part?: (judgments: readonly FreshJudgment[]) => void): Promise<MatchTasks[N]["output"]>;
  close(): Promise<void>;
}

/** The slowest that was measured takes a second on a quiet machine: a kernel without a version, whose records are not open. */
const MAX_TASK_MS = 120_000;
/** Beyond that the parsed records are not worth their memory. To read those of a product again takes up to a second, for which a changed service waits. */
const IDLE_MS = 30 * 60_000;
const MAX_HEAP_MB = 512;

interface Waiting {
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
  readonly part: (judgments: readonly FreshJudgment[]) => void;
}

/** Starts the thread at the first question, and ends it after half an hour without one. A thread that dies fails its questions and is replaced. */
export function createMatchThread(directory: string, { clock, log }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "error">;
}): MatchThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;
  let cancelTimer = () => {};

  const stop = async () => {
    cancelTimer();
    const stopped = worker;
    worker = null;
    stopped?.removeAllListeners().on("error", () => {});
    await stopped?.terminate();
  };
  /** @param others What the questions behind the first, which the thread had not begun, are failed with. */
  const failAll = (reason: string, others: CollectorError["code"]) => {
    const all = [...waiting.values()];
    waiting.clear();
    for (const [index, { reject }] of all.entries()) reject(new CollectorError(index === 0 ? "cve-match-failed" : others, `the matching failed: ${reason}`));
  };
  const fail = (reason: string) => {
    log.error({ reason }, "the thread that matches CVEs failed");
    void stop();
    failAll(reason, "cve-match-interrupted");
  };
  const setTimer = () => {
    cancelTimer();
    cancelTimer = waiting.size > 0
      ? clock.after(MAX_TASK_MS, () => fail(`no answer within ${MAX_TASK_MS / 1000} s`)) : clock.after(IDLE_MS, () => void stop());
  };
  const take = (answer: MatchAnswer) => {
    const one = waiting.get(answer.id);
    if ("part" in answer) {
      one?.part(answer.part);
      return;
    }
    waiting.delete(answer.id);
    setTimer();
    if ("error" in answer) one?.reject(new CollectorError("cve-match-failed", `the matching failed: ${answer.error}`));
    else one?.resolve(answer.output as never);
  };
  const start = (): Worker => {
    const started = startThread("match-worker", import.meta.url, { workerData: { directory }, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on("message", take);
    started.on("error", (error) => fail(describeError(error)));
    started.on("exit", () => fail("its thread ended"));
    started.unref();
    return started;
  };
  return {
    ask: (name, input, part = () => {}) => new Promise((resolve, reject) => {
      worker ??= start();
      lastId += 1;
      waiting.set(lastId, { resolve, reject, part });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      worker.postMessage({ id: lastId, name, input } satisfies { readonly [K in keyof MatchTask]: unknown });
      setTimer();
    }),
    async close() {
      failAll("the collector is stopping", "cve-match-failed");
      await stop();
    },
  };
}
