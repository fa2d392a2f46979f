import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, asyncProperty, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { readTar, writeTar } from "./tar.ts";
import { chunksOf, collect } from "../testing/sample.ts";

const AT = Date.UTC(2026, 0, 1);
const file = (name: string, text: string) => ({ name, sizeBytes: Buffer.byteLength(text), bytes: chunksOf(Buffer.from(text)) });

async function readAll(archive: Uint8Array) {
  const found: (readonly [string, string])[] = [];
  for await (const { name, bytes } of readTar(chunksOf(archive))) found.push([name, (await collect(bytes)).toString()]);
  return found;
}

test("what is written is read back, and by the machine's own tar", async () => {
  const contents = [["manifest.json", "{}"], ["database", "x".repeat(1024)], ["files/key", "y".repeat(513)], ["empty", ""]] as const;
  const archive = await collect(writeTar(contents.map(([name, text]) => file(name, text)), AT));
  expect(await readAll(archive)).toEqual(contents);
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-tar-"));
  writeFileSync(join(folder, "a.tar"), archive);
  execFileSync("tar", ["-xf", "a.tar"], { cwd: folder });
  for (const [name, text] of contents) expect(readFileSync(join(folder, name), "utf8")).toBe(text);
  rmSync(folder, { recursive: true });
});

test("a file larger than octal digits can say keeps its size", async () => {
  const sizeBytes = 9 * 2 ** 30 + 5;
  const chunks = writeTar([{ name: "database", sizeBytes, bytes: chunksOf() }], AT);
  const { value: head } = await chunks.next();
  await chunks.return(undefined);
  const files = readTar(chunksOf(head as Uint8Array));
  expect((await files.next()).value).toMatchObject({ name: "database", sizeBytes });
});

test("a file that changes its size while it is read fails the archive", async () => {
  await expect(collect(writeTar(
    [{ name: "a", sizeBytes: 3, bytes: chunksOf(Buffer.from("four")) }], AT,
  ))).rejects.toThrow("changed from 3 to 4 bytes");
});

test("what is no archive is refused, wherever it is cut off or changed", async () => {
  const archive = await collect(writeTar([file("a", "text"), file("b", "more")], AT));
  for (const end of [0, 100, 511, 512, 600, 1024, 1500]) {
    await expect(readAll(archive.subarray(0, end)), `${end}`).rejects.toMatchObject({ code: "backup-unreadable" });
  }
  await assert(asyncProperty(uint8Array({ maxLength: 2000 }), async (bytes) => {
    const answer = await readAll(bytes).catch((error: unknown) => error);
    return Array.isArray(answer) || (answer as { readonly code: string }).code === "backup-unreadable";
  }), { numRuns: 300, seed: 1 });
});

/** The first head of an archive with other bytes in it, and the sum that belongs to them. */
async function forgeHead(change: (head: Buffer) => void): Promise<Buffer> {
  const archive = await collect(writeTar([file("a", "text")], AT));
  const head = archive.subarray(0, 512);
  change(head);
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return archive;
}

test("only plain files are taken: no links, devices, folders, nor heads that change what follows", async () => {
  expect(await readAll(await forgeHead(() => {}))).toEqual([["a", "text"]]);
  for (const type of "1234567xgLKSDMNVAX") {
    const archive = await forgeHead((head) => void head.write(type, 156));
    await expect(readAll(archive), type).rejects.toMatchObject({ code: "backup-unreadable" });
  }
});

test("a size that lies is refused", async () => {
  const sizes = ["77777777777", "-0000000001", "abcdefghijk", "           ", Buffer.from([0x80, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255])];
  for (const size of sizes) {
    const archive = await forgeHead((head) => head.set(Buffer.from(size), 124));
    await expect(readAll(archive), size.toString()).rejects.toMatchObject({ code: "backup-unreadable" });
  }
});
