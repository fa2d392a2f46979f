import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { ApiError, rateLimited } from "../../gateway/errors.ts";
import { giveWay } from "../../jobs/process.ts";
import type { TextResults, TextTask } from "./text-work.ts";

/**
 * Works on configurations' texts in a process of its own, one task after the other, so that the event loop never waits for it.
 *
 * It does not use `inProcess`, which starts the collector's whole program once for each input: half a second of processor, for a text that takes
 * some milliseconds and whose reader waits. Here one small program stays for the tasks that follow, holds no keys and leaves no files,
 * so there is nothing to hand over by standard input or to clear. Its priority is that of `inProcess`.
 */
export interface TextWorker {
  /**
   * @param tenantId Whose turn it takes.
   * @throws ApiError RATE_LIMITED where the tenant has `MAX_OF_TENANT` tasks that are not done, SERVICE_UNAVAILABLE where `MAX_WAITING` wait
   * or the task took longer than `MAX_TASK_MS`.
   */
  run<T extends TextTask>(tenantId: string, task: T): Promise<TextResults[T["kind"]]>;
  close(): void;
}

/** Tasks that are not done, of one tenant and of all. Each holds two texts. */
const MAX_OF_TENANT = 6;
const MAX_WAITING = 32;
/** The comparison itself gives up after eight seconds; this is for a process that hangs. */
const MAX_TASK_MS = 20_000;
/** It takes some tens of megabytes, for what is asked some times a day. */
const IDLE_MS = 60_000;
const RETRY_AFTER_MS = 5000;

/** Beside this file, and in the same language: the source in tests, JavaScript in the product. */
const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
const PROGRAM = fileURLToPath(new URL(`./text-process.${EXTENSION}`, import.meta.url));
const SOURCE_OPTIONS = ["--import", "tsx", "--conditions=@lanthorn/source"];

interface Job {
  readonly tenantId: string;
  readonly task: TextTask;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the process at the first task and ends it after a minute without one. A process that dies fails its task and is replaced. */
export function createTextWorker({ clock, log }: { readonly clock: Pick<Clock, "after">; readonly log: Log }): TextWorker {
  const jobs: Job[] = [];
  let child: ChildProcess | null = null;
  let isBusy = false;
  /** Takes back what was to happen when the task takes too long, or the next one does not come. */
  let cancelTimer = () => {};

  const listen = (to: ChildProcess, { message, failed }: {
    readonly message: (result: unknown) => void; readonly failed: (reason: string) => void;
  }) => {
    for (const event of ["message", "error", "exit"]) to.removeAllListeners(event);
    to.on("message", message).on("error", (error) => failed(describeError(error)))
      .on("exit", (code, signal) => failed(`its process ended with ${signal ?? code}`));
  };
  const stop = () => {
    if (child === null) return;
    listen(child, { message: () => {}, failed: () => {} });
    child.kill("SIGKILL");
    child = null;
  };

  const next = (): void => {
    const [job] = jobs;
    if (isBusy) return;
    cancelTimer();
    if (job === undefined) {
      cancelTimer = clock.after(IDLE_MS, stop);
      return;
    }
    isBusy = true;
    const worker = child ?? startProcess();
    child = worker;
    const end = (settle: () => void) => {
      jobs.shift();
      isBusy = false;
      settle();
      next();
    };
    const failed = (reason: string) => {
      log.error({ reason }, "a configuration's text could not be processed");
      stop();
      const message = "the configuration could not be compared in time: try again later";
      end(() => job.reject(new ApiError("SERVICE_UNAVAILABLE", message, { isOrdinary: true })));
    };
    cancelTimer = clock.after(MAX_TASK_MS, () => failed(`it took longer than ${MAX_TASK_MS / 1000} s`));
    const message = (result: unknown) => {
      // One that ends while it has nothing to do is started again for the next task.
      listen(worker, { message: () => {}, failed: stop });
      end(() => job.resolve(result as never));
    };
    listen(worker, { message, failed });
    worker.send(job.task);
  };

  return {
    run: (tenantId, task) => new Promise((resolve, reject) => {
      if (jobs.filter((job) => job.tenantId === tenantId).length >= MAX_OF_TENANT) {
        throw rateLimited(`at most ${MAX_OF_TENANT} configurations are processed for you at a time: wait for their answers`, RETRY_AFTER_MS);
      }
      if (jobs.length >= MAX_WAITING) {
        throw new ApiError("SERVICE_UNAVAILABLE", "other configurations are being compared: try again in some seconds", {
          headers: { "retry-after": String(RETRY_AFTER_MS / 1000) }, isOrdinary: true,
        });
      }
      jobs.push({ tenantId, task, resolve, reject });
      next();
    }),
    close() {
      cancelTimer();
      stop();
      for (const { reject } of jobs.splice(0)) reject(new ApiError("SERVICE_UNAVAILABLE", "the collector is stopping", { isOrdinary: true }));
    },
  };
}

function startProcess(): ChildProcess {
  const child = fork(PROGRAM, [], {
    serialization: "advanced", ...(EXTENSION === "ts" && { execArgv: SOURCE_OPTIONS }), stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.unref();
  child.channel?.unref();
  giveWay(child.pid);
  return child;
}
