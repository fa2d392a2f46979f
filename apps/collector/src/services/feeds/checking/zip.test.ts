import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { zipOf } from "../../../archives/testing/zip-archive.ts";
import { FeedFailure } from "../failure.ts";
import { readZipDirectory, unwrapZip } from "./zip.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-zip-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const LIMITS = { maxUnpackedBytes: 5_000_000, maxRatio: 100, mark: { record: ".json" } };
const fileOf = (bytes: Buffer) => {
  const path = join(directory, "archive.zip");
  writeFileSync(path, bytes);
  return { name: "archive.zip", path, bytes: bytes.length, packing: "zip" as const };
};
const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`cves/2026/CVE-2026-${index}.json`, `{"id":${index}}`]));

test("an archive's records are counted by its directory, also where that is long", async () => {
  expect(await readZipDirectory(fileOf(zipOf({ ...many, "cves/README.md": "words" })), LIMITS)).toEqual({ records: 5000, inner: null });
});

test("an archive in an archive takes its place", async () => {
  const inner = zipOf({ "CVE-2026-1.json": "{}", "CVE-2026-2.json": "{}" });
  const file = await unwrapZip(fileOf(zipOf({ "cves.zip": inner })), LIMITS);
  expect([file.bytes, readFileSync(file.path)]).toEqual([inner.length, inner]);
  expect(await unwrapZip(file, LIMITS)).toEqual(file);
});

test.each([
  ["a directory that says too much", zipOf({ "a.json": "{}" }, { claimed: 4_000_000_000 }), "too-large"],
  ["a bomb", zipOf({ "a.json": Buffer.alloc(4_000_000) }), "bomb"],
  ["no archive", Buffer.from("<html>Please log in</html>".repeat(10)), "truncated"],
  ["half an archive", zipOf(many).subarray(0, 100_000), "truncated"],
  ["nothing", Buffer.alloc(0), "truncated"],
  ["no file", zipOf({}), "malformed"],
])("%s is refused", async (_, bytes, code) => {
  await expect(readZipDirectory(fileOf(bytes), LIMITS)).rejects.toMatchObject({ code });
});

test("an archive in an archive that unpacks to more than it says is refused", async () => {
  const file = fileOf(zipOf({ "cves.zip": Buffer.alloc(6_000_000) }, { claimed: 10 }));
  await expect(unwrapZip(file, LIMITS)).rejects.toMatchObject({ code: "malformed" });
});

test("whatever bytes of an archive are changed, it is read or refused, and never thrown out of", async () => {
  const whole = zipOf({ "a.json": "{}", "b.json": "{}", "cves.zip": "x" });
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 }), async (changes) => {
    const bytes = Buffer.from(whole);
    for (const [at, value] of changes) bytes[at] = value;
    const file = fileOf(bytes);
    const outcome = await readZipDirectory(file, LIMITS).then(() => "read", (error: unknown) => (error instanceof FeedFailure ? "refused" : error));
    expect(["read", "refused"]).toContain(outcome);
  }), { numRuns: 200 });
});
