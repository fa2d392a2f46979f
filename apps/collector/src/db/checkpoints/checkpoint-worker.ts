// The thread that folds the write-ahead log into the collector's file: it waits for no reader and no writer, and none waits for it.
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";

/** Without work for so long, it ends. */
const IDLE_MS = 60_000;

const { file } = workerData as { readonly file: string };
const connection = new Sqlite(file, { fileMustExist: true });
connection.pragma("synchronous = FULL");

function end(): void {
  connection.close();
  parentPort?.close();
}
let cancel = systemClock.after(IDLE_MS, end);

parentPort?.on("message", () => {
  cancel();
  connection.pragma("wal_checkpoint(PASSIVE)");
  cancel = systemClock.after(IDLE_MS, end);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(null);
});
