// The thread that block lists are read in: a million names take seconds, in which no query would be answered.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { createListGuard, createListReader, createNameSetBuilder, detectFormat, type NameSetBuilder } from "@lanthorn/dns";
import { lowerThreadPriority } from "@lanthorn/runtime";
import type { ListOutcome, ListTask, NamesBuilt, NamesTask } from "./names-messages.ts";

const PIECE_BYTES = 1 << 20;
const SAMPLE_BYTES = 1 << 16;
/** Beyond this it is no list of names. */
const MAX_BYTES = 256 << 20;
const KEPT_REFUSALS = 5;
/** Of files of names alone; those of hosts have longer ones. */
const USUAL_LINE_BYTES = 24;

// Queries come first where there is one processor for both.
lowerThreadPriority();
const task = workerData as NamesTask;
const builder = createNameSetBuilder({ lists: task.lists, hashKey: [task.hashKey[0], task.hashKey[1]], day: task.day, expectedNames: guessNames(task.lists), before: null });
const outcomes = task.lists.map((list, index) => readList(list, index, builder));
// A list whose rules are in the set already cannot be taken out of it: it is built again without that one.
const bytes = outcomes.every(({ fault }) => fault === null) ? Buffer.concat(builder.finish()) : null;
const built: NamesBuilt = { bytes, outcomes };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort?.postMessage(built, bytes && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : []);

/** By the length of the files: a guess that is too high costs memory that is not written to. */
function guessNames(lists: readonly ListTask[]): number {
  return lists.reduce((sum, { file }) => sum + Math.floor(Math.min(lengthOf(file), MAX_BYTES) / USUAL_LINE_BYTES), 0);
}

/** What cannot be read is said when it is read. */
function lengthOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

function readList(list: ListTask, index: number, into: NameSetBuilder): ListOutcome {
  const failed = (fault: string): ListOutcome => ({ id: list.id, fault, rules: 0, refused: 0, refusals: [] });
  let file = -1;
  try {
    file = openSync(list.file, "r");
    const sample = Buffer.alloc(SAMPLE_BYTES);
    const format = list.format ?? detectFormat(sample.subarray(0, readSync(file, sample, 0, SAMPLE_BYTES, 0)));
    if (format === null) return failed("it is in no format that is known: hosts, domains, wildcard, adblock, dnsmasq, rpz");
    const guard = createListGuard({ rulesBefore: list.rulesBefore, protectedNames: task.protectedNames, mayBlockPrivateSuffixes: true });
    let isFull = false;
    const reader = createListReader(format, { mayRewrite: false, origin: list.origin }, (rule) => {
      guard.look(rule);
      if (!into.add(index, rule)) isFull = true;
    });
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let at = 0, read = 0; ; at += read) {
      read = readSync(file, piece, 0, PIECE_BYTES, at);
      if (read === 0) break;
      if (at + read > MAX_BYTES) return failed(`it is larger than ${MAX_BYTES} bytes`);
      reader.push(piece.subarray(0, read));
    }
    const report = reader.end();
    const fault = guard.fault();
    const { rules, refused } = report;
    return { id: list.id, fault: fault ? `${fault.reason}${fault.names.length > 0 ? `: ${fault.names.join(", ")}` : ""}` : isFull ? "there are more names than a set can hold" : null, rules, refused, refusals: report.refusals.slice(0, KEPT_REFUSALS) };
  } catch (error) {
    return failed(`it cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    if (file >= 0) closeSync(file);
  }
}
