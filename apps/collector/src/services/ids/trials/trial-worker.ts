// The thread of one trial: it is started for it and ends with it, so that nothing of a hostile rule or capture stays.
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "@lanthorn/runtime";
import { runTrial } from "./run-trial.ts";
import { MAX_TRIAL_MS, type TrialTask } from "./tasks.ts";

const end = systemClock.monotonic() + MAX_TRIAL_MS;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort?.postMessage(runTrial(workerData as TrialTask, () => systemClock.monotonic() > end));
