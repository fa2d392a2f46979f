import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { addKey, openKeyring } from "../../sealing/keyring.ts";
import { createFileFolder } from "./folder.ts";
import { fileOf, openFilesBench, sha256 } from "./testing/files-bench.ts";

describe("what is on the disk", () => {
  test("is not what was sent, from the first piece on", async () => {
    const { enroll } = await openFilesBench();
    const probe = await enroll();
    const content = Buffer.from("what hosts have said ".repeat(5000));
    const file = fileOf(content);
    await probe.begin(file);
    await probe.piece(file.id, 0, content.subarray(0, 50_000));
    expect(readFileSync(`${probe.path(file.id)}.part`).includes("hosts")).toBe(false);
    await probe.piece(file.id, 50_000, content.subarray(50_000));
    await probe.finish(file.id);
    expect(readFileSync(probe.path(file.id)).includes("hosts")).toBe(false);
    expect((await probe.kept(file.id)).equals(content)).toBe(true);
  });

  test("is read after two rotations of the sealing key, and what a lost key sealed begins again", async () => {
    const clock = createFakeClock(Date.now());
    const keys = mkdtempSync(join(tmpdir(), "lanthorn-keys-"));
    onTestFinished(() => rmSync(keys, { recursive: true }));
    const keyring = openKeyring(keys, undefined);
    const { stack, enroll } = await openFilesBench({ clock, keyring });
    const probe = await enroll();
    const content = randomBytes(5000);
    const [whole, half] = [fileOf(content), fileOf(content)];
    for (const file of [whole, half]) {
      await probe.begin(file);
      await probe.piece(file.id, 0, content.subarray(0, file === whole ? 5000 : 2500));
    }
    await probe.finish(whole.id);
    const before = readFileSync(probe.path(whole.id));
    addKey(keys);
    await clock.leap(2 * 3_600_000);
    await expect.poll(() => readFileSync(probe.path(whole.id)).equals(before)).toBe(false);
    await clock.leap(3_600_000);
    addKey(keys);
    expect((await probe.kept(whole.id)).equals(content)).toBe(true);
    addKey(keys);
    addKey(keys);
    expect((await probe.begin(half)).body).toMatchObject({ offset: 0 });
    expect((await probe.piece(half.id, 0, content)).status).toBe(200);
    expect((await probe.finish(half.id)).body).toMatchObject({ state: "received" });
    expect(stack.sealing).toBeDefined();
  });

  test("of an older version is read as it is", async () => {
    const { stack } = await openFilesBench();
    const name = { probeId: createId(), id: createId() };
    mkdirSync(join(stack.dataDir, "files", name.probeId), { recursive: true });
    writeFileSync(join(stack.dataDir, "files", name.probeId, name.id), "plain");
    const folder = createFileFolder(stack.dataDir, stack.sealing);
    expect([await folder.size(name), await folder.digest(name)]).toEqual([5, sha256(Buffer.from("plain"))]);
  });
});
