import type { Worker } from "node:worker_threads";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { CollectorError } from "../errors.ts";
import { FileRefused } from "./file-refused.ts";

/** What a thread answers: what was asked for, what was published and cannot be taken, or a failure. */
export type TaskAnswer = { readonly id: number; readonly output: unknown } | { readonly id: number; readonly refused: string } | { readonly id: number; readonly error: string };

/** Does work in a thread of its own, one task after the other, so that the event loop waits for none. */
export interface TaskThread {
  /**
   * @param prepare Makes the message of a task when its turn has come; `isFresh` where the thread has just been started and remembers nothing.
   * @throws FileRefused for what was published and is not taken.
   * @throws CollectorError of the code for `busy` where 32 tasks wait; `failed` where it took longer than two minutes, failed, or the thread ended.
   */
  run(prepare: (isFresh: boolean) => Promise<object>): Promise<unknown>;
  close(): Promise<void>;
}

const MAX_WAITING = 32;
/** All of Emerging Threats' open rules, or a million names, take some seconds to be read. */
const MAX_TASK_MS = 120_000;
/** What a thread keeps takes some hundred megabytes. */
const IDLE_MS = 60_000;

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** @param deps.start A thread that answers each message `{ id, … }` with a `TaskAnswer`. @param deps.what What the work is on, as `rules`. */
export function createTaskThread({ clock, log, start, what, codes }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "error">; readonly start: () => Worker; readonly what: string;
  readonly codes: { readonly busy: CollectorError["code"]; readonly failed: CollectorError["code"] };
}): TaskThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  let [lastId, queued] = [0, 0];
  let isClosed = false;
  let cancelTimer = () => {};

  const failure = (reason: string) => new CollectorError(codes.failed, `the work on ${what} failed: ${reason}`);
  const stop = async () => {
    cancelTimer();
    const stopped = worker;
    worker = null;
    stopped?.removeAllListeners().on("error", () => {});
    await stopped?.terminate();
  };
  const failAll = (reason: string) => {
    for (const { reject } of waiting.values()) reject(failure(reason));
    waiting.clear();
  };
  const fail = (reason: string) => {
    log.error({ reason }, `the thread that reads ${what} failed`);
    void stop();
    failAll(reason);
  };
  const setTimer = () => {
    cancelTimer();
    cancelTimer = waiting.size > 0 ? clock.after(MAX_TASK_MS, () => fail(`no answer within ${MAX_TASK_MS / 1000} s`)) : clock.after(IDLE_MS, () => void stop());
  };
  const take = (answer: TaskAnswer) => {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    setTimer();
    if ("refused" in answer) one?.reject(new FileRefused(answer.refused));
    else if ("error" in answer) one?.reject(failure(answer.error));
    else one?.resolve(answer.output);
  };
  const startThread = (): Worker => {
    const started = start();
    started.on("message", take).on("error", (error) => fail(describeError(error))).on("exit", () => fail("its thread ended"));
    started.unref();
    return started;
  };
  const send = async (prepare: (isFresh: boolean) => Promise<object>): Promise<unknown> => {
    // It must not end while its message is made, or it would be a fresh one.
    cancelTimer();
    const message = await prepare(worker === null).catch((error: unknown) => {
      setTimer();
      throw error;
    });
    if (isClosed) throw new CollectorError(codes.failed, "the collector is stopping");
    worker ??= startThread();
    lastId += 1;
    const answered = new Promise((resolve, reject) => void waiting.set(lastId, { resolve, reject }));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    worker.postMessage({ ...message, id: lastId });
    setTimer();
    return answered;
  };
  return {
    async run(prepare) {
      if (queued >= MAX_WAITING) throw new CollectorError(codes.busy, `other work on ${what} is going on: try again in some seconds`);
      queued += 1;
      const result = turn.then(() => send(prepare));
      turn = result.catch(() => {});
      try {
        return await result;
      } finally {
        queued -= 1;
      }
    },
    async close() {
      isClosed = true;
      failAll("the collector is stopping");
      await stop();
    },
  };
}
