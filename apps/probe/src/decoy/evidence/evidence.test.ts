import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoneypotEvidence, MAX_TRANSCRIPT_CHARACTERS } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { afterAll, expect, test } from "vitest";
import { createEvidenceQueue } from "./evidence-queue.ts";
import { createFileStore, MAX_FILE_BYTES } from "./file-store.ts";
import { createTranscript } from "./transcript.ts";

const folder = mkdtempSync(join(tmpdir(), "lanthorn-evidence-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("files are kept by their hash, once, for their owner alone; beyond a file's length nothing is added, beyond the quota the hash is known", async () => {
  const own = join(folder, "files");
  const store = createFileStore(own, (error) => expect(error).toBe(null));
  const send = (text: string) => {
    const file = store.begin("192.0.2.9");
    file?.add(Buffer.from(text));
    return file?.end();
  };
  expect([send("abc"), send("abc")].map((file) => file?.isKept)).toEqual([true, true]);
  const name = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  await expect.poll(() => readFileSync(join(own, name), "utf8")).toBe("abc");
  expect([readdirSync(own), statSync(join(own, name)).mode & 0o777]).toEqual([[name], 0o400]);
  const long = store.begin("192.0.2.9");
  expect([long?.add(Buffer.alloc(MAX_FILE_BYTES)), long?.add(Buffer.alloc(1)), long?.end()?.octets]).toEqual([true, false, MAX_FILE_BYTES]);
  for (let number = 0; number < 1022; number += 1) expect(send(`${number}`)?.isKept).toBe(true);
  expect(send("one more")).toMatchObject({ isKept: false, octets: 8 });
  await expect.poll(() => readdirSync(own).length).toBe(1024);
  // What another process finds there counts.
  const file = createFileStore(own, (error) => expect(error).toBe(null)).begin("192.0.2.9");
  file?.add(Buffer.from("one more"));
  expect(file?.end()?.isKept).toBe(false);
});

test("what could not be written is said and not kept, and halves of an earlier run are taken away", async () => {
  const failures: unknown[] = [];
  const [own, blocked] = [join(folder, "halves"), join(folder, "blocked")];
  writeFileSync(blocked, "");
  const failing = createFileStore(blocked, (error) => void failures.push(error)).begin("192.0.2.9");
  failing?.add(Buffer.from("abc"));
  failing?.end();
  await expect.poll(() => failures.length).toBe(1);
  mkdirSync(`${own}.new`);
  writeFileSync(join(`${own}.new`, "0".repeat(64)), "half");
  const file = createFileStore(own, (error) => expect(error).toBe(null)).begin("192.0.2.9");
  file?.add(Buffer.from("abc"));
  file?.end();
  await expect.poll(() => readdirSync(own)).toEqual(["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"]);
  expect(readdirSync(`${own}.new`)).toEqual([]);
});

test("files that come at once have bounds in number and in memory", () => {
  const store = createFileStore(join(folder, "none"), (error) => expect(error).toBe(null));
  const coming = Array.from({ length: 65 }, (_, index) => store.begin(`192.0.2.${index >> 3}`));
  expect(coming.filter((file) => file === null).length).toBe(1);
  expect(coming.slice(0, 5).map((file) => file?.add(Buffer.alloc(MAX_FILE_BYTES)))).toEqual([true, true, true, true, false]);
});

test("a file that comes octet by octet takes no more memory than one that comes at once", async () => {
  const own = join(folder, "octets");
  const file = createFileStore(own, (error) => expect(error).toBe(null)).begin("192.0.2.9");
  const before = process.memoryUsage();
  const piece = Buffer.from("x");
  for (let count = 0; count < MAX_FILE_BYTES; count += 1) file?.add(piece);
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(24 * 1024 * 1024);
  expect([file?.add(piece), file?.end()]).toEqual([false, { sha256: createHash("sha256").update("x".repeat(MAX_FILE_BYTES)).digest("hex"), octets: MAX_FILE_BYTES, isKept: true }]);
  await expect.poll(() => existsSync(own) && readdirSync(own).length).toBe(1);
});

test("of one source eight files come at once, and leave room for others", () => {
  const store = createFileStore(join(folder, "none"), (error) => expect(error).toBe(null));
  const coming = Array.from({ length: 9 }, () => store.begin("192.0.2.9"));
  expect(coming.filter((file) => file === null).length).toBe(1);
  expect(store.begin("192.0.2.10")).not.toBeNull();
  coming[0]?.end();
  expect(store.begin("192.0.2.9")).not.toBeNull();
});

test("a transcript is asciicast, says where it ends, and is never longer than what is reported; where nobody typed there is none", () => {
  let now = 0;
  const quiet = createTranscript(0, () => now, { columns: 80, rows: 24 });
  quiet.add("o", "$ ");
  expect(quiet.text()).toBe("");
  const transcript = createTranscript(1_767_225_600_000, () => now, { columns: 120, rows: 40 });
  transcript.add("i", "id\r");
  for (now = 1000; now < 20_000; now += 1) transcript.add("o", "\u001B]0;evil\u0007".repeat(10));
  const text = transcript.text();
  expect(text.length).toBeLessThanOrEqual(MAX_TRANSCRIPT_CHARACTERS);
  const [head, first, ...rest] = text.trim().split("\n").map((line) => JSON.parse(line) as unknown);
  expect([head, first]).toEqual([{ version: 2, width: 120, height: 40, timestamp: 1_767_225_600 }, [0, "i", "id\r"]]);
  expect(rest.at(-1)).toEqual([expect.any(Number), "o", "\r\n[the rest was not recorded]\r\n"]);
  expect(text).not.toContain("\u001B");
});

test("evidence waits until it is taken, is sent again where it was lost, and has bounds", () => {
  const queue = createEvidenceQueue();
  const one = (transcript: string | null): HoneypotEvidence => HoneypotEvidence.parse({ evidence_id: createId(), incident_id: createId(), decoy: "files2", service: "ssh", transcript, files: [], fingerprints: [] });
  const sent: number[] = [];
  const send = (number: number) => sent.push(number) > 0;
  queue.add(one("x"));
  queue.flush(0, () => false);
  queue.flush(1, send);
  queue.flush(2, send);
  expect(sent).toEqual([1]);
  queue.lost();
  queue.flush(3, send);
  queue.flush(40_000, send);
  expect(sent).toEqual([1, 2, 3]);
  queue.taken(3);
  expect(queue.size).toBe(0);
  for (let left = 100; left > 0; left -= 1) queue.add(one("x".repeat(60_000)));
  expect(queue.size).toBeLessThan(72);
  for (let left = 300; left > 0; left -= 1) queue.add(one(null));
  expect([queue.size <= 256, queue.leftOut > 0]).toEqual([true, true]);
});
