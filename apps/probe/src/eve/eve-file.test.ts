import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EveFile, followEveFile, MAX_LINE_BYTES } from "./eve-file.ts";
import type { FilePosition } from "./file-position.ts";

let directory: string;
let path: string;
let lines: string[];
let position: FilePosition | null;
let file: EveFile | null;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-eve-"));
  path = join(directory, "eve.json");
  [lines, position, file] = [[], null, null];
});
afterEach(async () => {
  await file?.close();
  rmSync(directory, { recursive: true });
});

/** Looks again at once, ten times faster than the daemon. */
const clock = { after: (delayMs: number, task: () => void) => systemClock.after(delayMs / 10, task) };
function follow(): void {
  file = followEveFile(path, {
    saved: position, clock, log: silentLog,
    onLine: (line) => lines.push(line.toString()),
    onPosition(now) {
      position = now;
    },
  });
}
async function stop(): Promise<void> {
  await file?.close();
  file = null;
}
const reads = (...expected: readonly string[]) => expect.poll(() => lines).toEqual(expected);
const reading = () => expect.poll(() => file?.state().status).toBe("reading");

test("what is in the file at first is old; what comes is read, a line when it is whole", async () => {
  writeFileSync(path, "old\nhalf");
  follow();
  await reading();
  appendFileSync(path, " of an old one\none\ntw");
  await reads("one");
  appendFileSync(path, "o\n");
  await reads("one", "two");
});

test("a file that comes later is read from its beginning", async () => {
  follow();
  await expect.poll(() => file?.state()).toMatchObject({ status: "missing", problem: "" });
  writeFileSync(path, "one\n");
  await reads("one");
});

test("a restart goes on where it was, in the middle of a line too", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, "one\ntw");
  await reads("one");
  await stop();
  appendFileSync(path, "o\nthree\n");
  follow();
  await reads("one", "two", "three");
});

test("a renamed file is read to its end, and what is written to it after, before the new one", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, "one\n");
  await reads("one");
  renameSync(path, `${path}.1`);
  appendFileSync(`${path}.1`, "two\n");
  writeFileSync(path, "three\n");
  await reads("one", "two", "three");
  appendFileSync(path, "four\n");
  await reads("one", "two", "three", "four");
  expect(file?.state().lost).toBe(0);
});

test("what was renamed while nobody read is found by what it is", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, "one\n");
  await reads("one");
  await stop();
  appendFileSync(path, "two\n");
  renameSync(path, `${path}-20261120`);
  writeFileSync(`${path}.other`, "no\n");
  writeFileSync(path, "three\n");
  follow();
  await reads("one", "two", "three");
});

test("what was rotated away and removed is said to be lost", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, "one\n");
  await reads("one");
  await stop();
  // Another file before it is removed, so that no inode is used again.
  writeFileSync(`${path}.new`, "three\n");
  unlinkSync(path);
  renameSync(`${path}.new`, path);
  follow();
  await reads("one", "three");
  expect(file?.state().lost).toBe(1);
});

test("a file that is copied and emptied is read once, whether it grows past where it was or not", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, "one\ntwo\n");
  await reads("one", "two");
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
  appendFileSync(path, "3\n");
  await reads("one", "two", "3");
  truncateSync(path);
  appendFileSync(path, "four is longer than all that was there\nfive\n");
  await reads("one", "two", "3", "four is longer than all that was there", "five");
});

test("a file that is emptied and grows beyond where it was, just when it was read, is read from its beginning", async () => {
  writeFileSync(path, "");
  file = followEveFile(path, {
    saved: null, clock, log: silentLog, onPosition: () => {},
    onLine(line) {
      if (lines.push(line.toString()) > 1) return;
      truncateSync(path);
      appendFileSync(path, "two is longer than one\n");
    },
  });
  await reading();
  appendFileSync(path, "one\n");
  await reads("one", "two is longer than one");
});

test("the beginning of a line is forgotten when the file is emptied", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, "one\nhalf");
  await reads("one");
  truncateSync(path);
  await expect.poll(() => position?.offset).toBe(0);
  appendFileSync(path, "two\n");
  await reads("one", "two");
});

test("a line that never ends is passed over, in little memory", async () => {
  writeFileSync(path, "");
  follow();
  await reading();
  appendFileSync(path, `${"x".repeat(MAX_LINE_BYTES * 3)}\none\n`);
  await reads("one");
  expect(file?.state()).toMatchObject({ tooLong: 1 });
});

test("what cannot be read is said, and read when it can be", async () => {

  // A folder under that name: who is root may read any file.
  mkdirSync(path);
  follow();
  await expect.poll(() => file?.state()).toMatchObject({ status: "unreadable", problem: expect.stringContaining("EISDIR") });
  rmdirSync(path);
  writeFileSync(path, "old\n");
  await reading();
  appendFileSync(path, "one\n");
  await reads("one");
});
