import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allocatePages, PAGE_OCTETS } from "./page-memory.ts";
import { openPieceWriter, type PieceWriter } from "./piece-writer.ts";

const MEBI = 1024 * 1024;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-pieces-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (length: number, seed: number) => Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31 + (index >>> 8) + seed) & 0xff));
const opened = (): PieceWriter => {
  const writer = openPieceWriter(systemClock);
  if (writer === null) throw new Error("this system has no asynchronous I/O");
  return writer;
};
const withFile = async <T>(name: string, use: (file: number) => Promise<T>): Promise<T> => {
  const file = openSync(join(folder, name), "w");
  try {
    return await use(file);
  } finally {
    closeSync(file);
  }
};

test("what is written in pieces is what was given, wherever in the file it begins", async () => {
  const writer = opened();
  const source = bytesOf(MEBI + 300_000, 7);
  const draw = seededRandom(20);
  const places = Array.from({ length: 20 }, () => ({ position: draw(200_000), length: 1 + draw(MEBI), from: draw(300_000) }));
  for (const { position, length, from } of [{ position: 0, length: 1, from: 0 }, { position: 131_071, length: MEBI, from: 1 }, ...places]) {
    const bytes = source.subarray(from, from + length);
    expect(await withFile("file", (file) => writer.write(file, bytes, position))).toBe(length);
    const written = readFileSync(join(folder, "file"));
    expect([written.length, written.subarray(position).equals(bytes)]).toEqual([position + length, true]);
  }
});

test("of more than a megabyte the front is written", async () => {
  const bytes = bytesOf(3 * MEBI, 1);
  const front = await withFile("file", (file) => opened().write(file, bytes, 5));
  expect(front).toBeGreaterThanOrEqual(MEBI);
  expect(front).toBeLessThan(bytes.length);
  expect(readFileSync(join(folder, "file")).subarray(5).equals(bytes.subarray(0, front))).toBe(true);
});

test("files that are written at once do not get each other's bytes", async () => {
  const writer = opened();
  const files = Array.from({ length: 12 }, (_, index) => `file-${index}`);
  const lengths = await Promise.all(files.map((name, index) => withFile(name, (file) => writer.write(file, bytesOf(400_000 + index, index), 0))));
  expect(lengths).toEqual(files.map((_, index) => 400_000 + index));
  for (const [index, name] of files.entries()) expect(readFileSync(join(folder, name)).equals(bytesOf(400_000 + index, index))).toBe(true);
});

test("what cannot be written is nothing, and the writer goes on", async () => {
  const writer = opened();
  const bytes = bytesOf(300_000, 3);
  expect(await withFile("other", () => writer.write(1_000_000, bytes, 0))).toBe(0);
  const readOnly = openSync(join(folder, "other"), "r");
  expect(await writer.write(readOnly, bytes, 0)).toBe(0);
  closeSync(readOnly);
  const full = openSync("/dev/full", "w");
  expect(await writer.write(full, bytes, 0)).toBe(0);
  closeSync(full);
  expect(await withFile("other", (file) => writer.write(file, bytes, 0))).toBe(bytes.length);
});

/** Not every file system is written past the cache. */
function openDirect(path: string, access: number): number | undefined {
  try {
    return openSync(path, access | constants.O_DIRECT);
  } catch {
    return undefined;
  }
}

test("whole pages go past the cache, however many blocks of them, and what is written is what was given", async () => {
  const writer = opened();
  const path = join(folder, "direct");
  const whole = bytesOf(600 * PAGE_OCTETS, 11);
  const memory = allocatePages(whole.length);
  memory.set(whole);
  const file = openSync(path, "w");
  const direct = openDirect(path, constants.O_WRONLY);
  const draw = seededRandom(21);
  try {
    for (let position = 0; position < whole.length;) {
      const blocks: Buffer[] = [];
      let end = position;
      while (end < whole.length && blocks.length < 1 + draw(16)) {
        const from = end;
        end = Math.min(from + PAGE_OCTETS * (1 + draw(12)), whole.length);
        blocks.push(memory.subarray(from, end));
      }
      const written = direct === undefined ? 0 : await writer.writePast(direct, blocks, position);
      if (direct !== undefined) expect(written).toBe(end - position);
      else await writer.write(file, memory.subarray(position, end), position);
      position = end;
    }
  } finally {
    closeSync(file);
    if (direct !== undefined) closeSync(direct);
  }
  expect(readFileSync(path).equals(whole)).toBe(true);
});

test("what is no whole page, in memory or in the file, does not go past the cache, nor do blocks that are too many, nor what the file refuses", async () => {
  const writer = opened();
  const memory = allocatePages(64 * PAGE_OCTETS);
  const path = join(folder, "direct");
  closeSync(openSync(path, "w"));
  const pages = (from: number, count = 1) => memory.subarray(from * PAGE_OCTETS, (from + count) * PAGE_OCTETS);
  const file = openDirect(path, constants.O_WRONLY) ?? openSync(path, "r+");
  const readOnly = openSync(path, "r");
  try {
    expect(await writer.writePast(file, [pages(0)], 100)).toBe(0);
    expect(await writer.writePast(file, [pages(0), memory.subarray(0, 100)], 0)).toBe(0);
    expect(await writer.writePast(file, [memory.subarray(4, 4 + PAGE_OCTETS)], 0)).toBe(0);
    expect(await writer.writePast(file, Array.from({ length: 17 }, (_, index) => pages(index)), 0)).toBe(0);
    expect(await writer.writePast(readOnly, [pages(0)], 0)).toBe(0);
    expect(readFileSync(path).length).toBe(0);
    expect(await writer.writePast(file, [pages(0, 2), pages(5)], 0)).toBe(3 * PAGE_OCTETS);
  } finally {
    closeSync(file);
    closeSync(readOnly);
  }
});
