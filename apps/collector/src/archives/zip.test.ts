import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { zipOf } from "./testing/zip-archive.ts";
import { readZipContent } from "./zip-content.ts";
import { readZipEntries, type ZipLimits } from "./zip-directory.ts";
import { ZipError } from "./zip-error.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-zip-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const LIMITS: ZipLimits = { maxUnpackedBytes: 50_000_000, maxRatio: 1000 };

/** All files of an archive, by their names. */
async function readAll(bytes: Buffer, limits = LIMITS): Promise<Readonly<Record<string, Buffer>>> {
  const path = join(directory, "archive.zip");
  writeFileSync(path, bytes);
  const handle = await open(path, "r");
  const found: Record<string, Buffer> = {};
  try {
    for await (const entries of readZipEntries(handle, limits)) {
      for (const entry of entries) {
        const chunks: Buffer[] = [];
        for await (const chunk of readZipContent(handle, entry)) chunks.push(chunk);
        found[entry.name] = Buffer.concat(chunks);
      }
    }
  } finally {
    await handle.close();
  }
  return found;
}

const LARGE = Buffer.from(Array.from({ length: 400_000 }, (_, index) => `line ${index}\n`).join(""));

test("an archive's files come out as they went in: empty, small and large", async () => {
  const files = { "empty.json": Buffer.alloc(0), "a/small.json": Buffer.from("{}"), "large.xml": LARGE };
  const read = await readAll(zipOf(files));
  expect(Object.keys(read)).toEqual(Object.keys(files));
  for (const [name, content] of Object.entries(files)) expect(read[name]?.equals(content)).toBe(true);
});

const FILE = { "a.json": '{"id":1}', "b.json": '{"id":2}' };

test.each([
  ["a file that is larger than the directory says", zipOf({ "a.json": "x".repeat(5000) }, { claimed: 10 }), "malformed"],
  ["a large file that is larger than the directory says", zipOf({ "a.xml": LARGE }, { claimed: 2_000_000 }), "malformed"],
  ["a file that is smaller than the directory says", zipOf(FILE, { claimed: 900 }), "malformed"],
  ["a file with another name than the directory says", zipOf({ "a.json": "{}" }, { localName: "b.json" }), "malformed"],
  ["a file with a longer name than the directory says", zipOf({ "a.json": "{}" }, { localName: "../../a.json" }), "malformed"],
  ["another checksum", zipOf(FILE, { crc32: 1 }), "malformed"],
  ["another checksum of a large file", zipOf({ "a.xml": LARGE }, { crc32: 1 }), "malformed"],
  ["fewer files than it says", zipOf(FILE, { entries: 3 }), "malformed"],
  ["more files than it says", zipOf(FILE, { entries: 1 }), "malformed"],
  ["an encrypted file", zipOf(FILE, { flags: 1 }), "unsupported"],
  ["a file that is packed by LZMA", zipOf(FILE, { method: 14 }), "unsupported"],
  ["a file that was not packed but says so", zipOf({ "a.json": "x".repeat(500) }, { method: 0 }), "malformed"],
  ["a bomb", zipOf({ "a.json": Buffer.alloc(20_000_000) }), "bomb"],
  ["a claim of too much", zipOf(FILE, { claimed: 4_000_000_000 }), "too-large"],
  ["half of it", zipOf({ ...FILE, "large.xml": LARGE }).subarray(0, 10_000), "truncated"],
  ["its end alone", zipOf(FILE).subarray(-22), "malformed"],
])("%s is refused", async (_, bytes, code) => {
  await expect(readAll(bytes, { ...LIMITS, maxRatio: 100 })).rejects.toMatchObject({ name: "ZipError", code });
});

test("whatever bytes of an archive are changed, or cut off, it is read as it was or refused", async () => {
  const files = { "a.json": '{"id":1}', "b/c.json": "x".repeat(300), "d.json": "" };
  const whole = zipOf(files);
  const contents = new Set(Object.values(files));
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 }), fc.integer({ min: 0, max: whole.length }), async (changes, length) => {
    const bytes = Buffer.from(whole);
    for (const [at, value] of changes) bytes[at] = value;
    try {
      const read = await readAll(bytes.subarray(0, length));
      for (const content of Object.values(read)) expect(contents).toContain(content.toString());
    } catch (error) {
      if (!(error instanceof ZipError)) throw error;
    }
  }), { numRuns: 300 });
});
