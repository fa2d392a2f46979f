// The thread in which lists are read and names are judged: a million names take seconds.
import { parentPort } from "node:worker_threads";
import { describeError } from "@lanthorn/runtime";
import { FileRefused } from "../../../sources/file-refused.ts";
import type { TaskAnswer } from "../../../sources/task-thread.ts";
import type { NameTask } from "./tasks.ts";
import { createNameWork } from "./work.ts";

const work = createNameWork();

parentPort?.on("message", (task: NameTask) => {
  let answer: TaskAnswer;
  try {
    answer = { id: task.id, output: work(task) };
  } catch (error) {
    answer = error instanceof FileRefused ? { id: task.id, refused: error.message } : { id: task.id, error: describeError(error) };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(answer);
});
