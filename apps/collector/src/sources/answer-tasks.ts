import { parentPort } from "node:worker_threads";
import { describeError } from "@lanthorn/runtime";
import { FileRefused } from "./file-refused.ts";
import type { TaskAnswer } from "./task-thread.ts";

/**
 * What a thread of tasks does: answers each with its output, with why what was published is refused, or with what failed.
 * @param work Does one, without waiting.
 */
export function answerTasks<T extends { readonly id: number }>(work: (task: T) => unknown): void {
  parentPort?.on("message", (task: T) => {
    let answer: TaskAnswer;
    try {
      answer = { id: task.id, output: work(task) };
    } catch (error) {
      answer = error instanceof FileRefused ? { id: task.id, refused: error.message } : { id: task.id, error: describeError(error) };
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    parentPort?.postMessage(answer);
  });
}
