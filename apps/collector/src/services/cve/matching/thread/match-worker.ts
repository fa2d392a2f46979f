// The thread in which software is judged: a product may have thousands of CVEs.
import { parentPort, workerData } from "node:worker_threads";
import { describeError, lowerThreadPriority, silentLog } from "@lanthorn/runtime";
import { openCveReader } from "../../database/reader.ts";
import type { MatchAnswer, MatchTask } from "./match-tasks.ts";
import { createMatchWork } from "./match-work.ts";

// Whoever serves requests comes first.
lowerThreadPriority();
const { directory } = workerData as { readonly directory: string };
// The collector's own reader says what is wrong with a file.
const work = createMatchWork(openCveReader(directory, { log: silentLog }));

function send(answer: MatchAnswer): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(answer);
}

parentPort?.on("message", ({ id, name, input }: MatchTask) => {
  try {
    send({ id, output: work(name, input, (part) => send({ id, part })) });
  } catch (error) {
    send({ id, error: describeError(error) });
  }
});
