// The thread in which rules are read, searched and made into bundles: fifty thousand of them take seconds.
import { parentPort } from "node:worker_threads";
import { describeError } from "@lanthorn/runtime";
import { FileRefused } from "../../../sources/file-refused.ts";
import type { TaskAnswer } from "../../../sources/task-thread.ts";
import type { RuleTask } from "./tasks.ts";
import { createRuleWork } from "./work.ts";

const work = createRuleWork();

parentPort?.on("message", (task: RuleTask) => {
  let answer: TaskAnswer;
  try {
    answer = { id: task.id, output: work(task) };
  } catch (error) {
    answer = error instanceof FileRefused ? { id: task.id, refused: error.message } : { id: task.id, error: describeError(error) };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(answer);
});
