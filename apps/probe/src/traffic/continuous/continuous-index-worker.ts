// The thread that the index of continuous capture is kept in: SQLite waits for the disk, and the process that captures must not.
import { rename, stat } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "@lanthorn/runtime";
import { filePath, partPath, removeCaptureFile } from "../capture-files/facts.ts";
import { readFileContents, repairPart } from "../capture-files/repair.ts";
import { flowsOf } from "./file-flows.ts";
import type { IndexAnswer, IndexTask, IndexThreadData } from "./index-thread.ts";
import { type IndexedFile, type IndexStore, openIndexStore } from "./index-store.ts";

/** Of Linux: this thread alone. To capture is more urgent. */
const NICE = 10;

const { folder, maxFlows, ids } = workerData as IndexThreadData;
const removed = new Set<string>();
let store: IndexStore | null = null;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
const say = (answer: IndexAnswer) => parentPort?.postMessage(answer);

/** A database that fails is done without: files are read in full then. */
function attempt<T>(work: (index: IndexStore) => T): T | null {
  if (store === null) return null;
  try {
    return work(store);
  } catch (error) {
    say({ kind: "problem", reason: describeError(error) });
    return null;
  }
}

/** Reads a file that is not in the index: of before a crash, or of an index that is gone. @returns Null where there is none any more. */
async function readAnew(id: string): Promise<IndexedFile | null> {
  try {
    const isPart = await stat(filePath(folder, id)).then(() => false, () => true);
    const path = isPart ? partPath(folder, id) : filePath(folder, id);
    const read = isPart ? await repairPart(path) : await readFileContents(path);
    if (read === null) {
      await removeCaptureFile(folder, id);
      return null;
    }
    if (isPart) await rename(path, filePath(folder, id));
    const { contents } = read;
    const { size: bytes } = await stat(filePath(folder, id));
    const file = { id, from: (contents.firstAt ?? 0) * 1000, to: (contents.lastAt ?? 0) * 1000, frames: contents.packets, bytes };
    const rounded = { ...file, from: Math.floor(file.from), to: Math.ceil(file.to) };
    if (!removed.has(id)) attempt((index) => index.add(rounded, flowsOf(contents), contents.summary.evictedFlows === 0));
    return rounded;
  } catch {
    return null;
  }
}

async function begin(): Promise<void> {
  try {
    setPriority(0, NICE);
  } catch {
    // A system that does not allow it only has less to gain.
  }
  try {
    const opened = openIndexStore(join(folder, "index.sqlite"), { maxFlows });
    ({ store } = opened);
    if (opened.wasCorrupt) say({ kind: "problem", reason: "the index was damaged; it is set aside as index.sqlite.corrupt, and built anew from the files" });
  } catch (error) {
    say({ kind: "problem", reason: describeError(error) });
  }
  const known = new Map((attempt((index) => index.files()) ?? []).map((file) => [file.id, file]));
  for (const id of known.keys()) if (!ids.includes(id)) attempt((index) => index.remove(id));
  // The newest first: they are asked for most, and the oldest may go before they are read.
  for (const id of ids.toReversed()) {
    if (removed.has(id)) continue;
    say({ kind: "file", id, file: known.get(id) ?? await readAnew(id) });
  }
  say({ kind: "scanned" });
}

parentPort?.on("message", (task: IndexTask) => {
  switch (task.kind) {
    case "add":
      attempt((index) => index.add(task.file, task.flows, task.isComplete));
      break;
    case "remove":
      removed.add(task.id);
      attempt((index) => index.remove(task.id));
      break;
    case "find":
      say({ kind: "found", request: task.request, ids: attempt((index) => index.find(task.query)) });
      break;
    case "close":
      attempt((index) => index.close());
      store = null;
      say({ kind: "closed" });
      parentPort?.close();
      break;
  }
});
void begin();
