// The thread in which the CVE database is searched: a word that most descriptions hold takes a tenth of a second.
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "@lanthorn/runtime";
import { createCveSearch } from "./search-work.ts";
import type { SearchAnswer, SearchTask } from "./search-thread.ts";

const { directory } = workerData as { readonly directory: string };
const search = createCveSearch(directory);

parentPort?.on("message", ({ id, search: wanted }: SearchTask) => {
  let answer: SearchAnswer;
  try {
    answer = { id, result: search(wanted), error: null };
  } catch (error) {
    answer = { id, result: null, error: describeError(error) };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(answer);
});
