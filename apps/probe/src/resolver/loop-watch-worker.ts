// The thread that ends the process when its event loop hangs.
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { systemClock } from "@lanthorn/runtime";
import type { LoopWatchData } from "./loop-watch.ts";

const { turns, lookMs, looks } = workerData as LoopWatchData;
let [seen, unchanged] = [Atomics.load(turns, 0), 0];

systemClock.every(lookMs, () => {
  const now = Atomics.load(turns, 0);
  unchanged = now === seen ? unchanged + 1 : 0;
  seen = now;
  if (unchanged < looks) return;
  writeSync(2, "the event loop hangs: ending, to be started again\n");
  process.kill(process.pid, "SIGKILL");
});
