import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCapture } from "@lanthorn/packets";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";
import { tryCommand } from "../../../../../test/lab/run-command.ts";
import { seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../../../packages/packets/src/testing/tshark.ts";
import { openCaptureFile } from "./capture-file.ts";
import { markReported } from "./facts.ts";
import { findLeftFiles, readFileContents, repairFile, repairPart } from "./repair.ts";
import { fileOptions, received, udpFrame, viewOf } from "./testing/frames.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-repair-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function repairCaptureFiles(from: string) {
  const found = [];
  for (const { id } of await findLeftFiles(from)) found.push(...[await repairFile(from, id) ?? []].flat());
  return found;
}

const WRITER = fileURLToPath(new URL("testing/write-until-killed.ts", import.meta.url));

/** A writer in a process of its own, killed in the middle of its work. */
async function killWriter(id: string): Promise<void> {
  const child = spawn(process.execPath, [bundleProgram(WRITER), folder, id], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await ended;
}

describe("after a crash", () => {
  test("a file that a killed process was writing is cut to whole blocks, says so, and opens without a warning", async () => {
    const id = createId();
    await killWriter(id);
    expect(readdirSync(folder).toSorted()).toEqual([`${id}.json`, `${id}.pcapng.part`]);
    const found = await repairCaptureFiles(folder);
    const path = join(folder, `${id}.pcapng`);
    const bytes = readFileSync(path);
    expect(found).toMatchObject([{
      path, recorded: {
        pcap_id: id, state: "cut", trigger: "alert", alert_ids: [id], macs: ["02:00:00:00:00:01"], size_bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"), started_at: "2023-11-14T22:13:20.000Z",
      },
    }]);
    const { records, malformed } = readCapture(bytes);
    expect(malformed).toBeNull();
    expect(records.length).toBeGreaterThanOrEqual(5000);
    expect(found[0]?.recorded).toMatchObject({ packets: records.length, summary: { flows: [{ packets: records.length }] } });
    expect(readdirSync(folder).toSorted()).toEqual([`${id}.json`, `${id}.pcapng`]);
    const wireshark = await unpackOrSay(["tshark", "wireshark-common"], "what tshark says of a repaired file");
    for (const name of wireshark ? ["tshark", "capinfos"] : []) {
      const { path: program, env } = wireshark?.command(name) ?? { path: "", env: {} };
      const { code, stderr } = await tryCommand(program, name === "tshark" ? ["-n", "-q", "-r", path] : [path], { env: { ...env, HOME: "/nonexistent" } });
      expect({ code, stderr: stderr.replace(/^Running as user.*\n/, "") }).toEqual({ code: 0, stderr: "" });
    }
    // It is reported again until the daemon has it.
    expect(await repairCaptureFiles(folder)).toEqual(found);
    await markReported(folder, id);
    expect(await repairCaptureFiles(folder)).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  test("what has no packet is removed and reported as failed; what has no note is removed; whole files stay", async () => {
    const whole = openCaptureFile(fileOptions(folder));
    whole.add(viewOf(udpFrame({})), 0);
    const facts = await whole.finish([received(1)]);
    // As a killed process leaves it.
    const begun = openCaptureFile(fileOptions(folder));
    await begun.flush();
    for (const name of [`${begun.id}.json`, `${begun.id}.pcapng.part`]) copyFileSync(join(folder, name), join(folder, `kept-${name}`));
    await begun.abandon();
    for (const name of [`${begun.id}.json`, `${begun.id}.pcapng.part`]) renameSync(join(folder, `kept-${name}`), join(folder, name));
    const unknown = createId();
    writeFileSync(join(folder, `${unknown}.pcapng.part`), "x");
    writeFileSync(join(folder, "notes.txt"), "x");
    const found = await repairCaptureFiles(folder);
    expect(found.find(({ recorded }) => recorded.pcap_id === whole.id)).toEqual(facts);
    expect(found.find(({ recorded }) => recorded.pcap_id === begun.id)).toMatchObject({ path: null, recorded: { state: "failed" } });
    expect(found).toHaveLength(2);
    expect(readdirSync(folder).toSorted()).toEqual([`${whole.id}.json`, `${whole.id}.pcapng`, `${begun.id}.json`, "notes.txt"].toSorted());
  });

  test("a repair that is stopped leaves the file as it was, and the next one does it", async () => {
    const id = createId();
    await killWriter(id);
    const part = join(folder, `${id}.pcapng.part`);
    const before = readFileSync(part);
    expect((await findLeftFiles(folder))).toEqual([{ id, bytes: before.length, trigger: "alert" }]);
    let paces = 0;
    expect(await repairFile(folder, id, () => Promise.resolve((paces += 1) < 3))).toBeNull();
    expect(paces).toBe(3);
    expect(readFileSync(part).equals(before)).toBe(true);
    expect(await repairFile(folder, id)).toMatchObject({ recorded: { pcap_id: id, state: "cut" } });
  });

  test("a file that had got its name, but not its note, is whole", async () => {
    const file = openCaptureFile(fileOptions(folder));
    file.add(viewOf(udpFrame({})), 0);
    await file.flush();
    copyFileSync(join(folder, `${file.id}.json`), join(folder, "note"));
    const { recorded } = await file.finish([{ ...received(5), droppedByKernel: 4 }]);
    renameSync(join(folder, "note"), join(folder, `${file.id}.json`));
    expect(await repairCaptureFiles(folder)).toMatchObject([{
      recorded: { state: "whole", sha256: recorded.sha256, packets: 1, counters: { received: 5, dropped_by_kernel: 4 }, summary: recorded.summary },
    }]);
  });

  test("wherever a file was cut, what remains is whole and has every packet before the cut", async () => {
    const file = openCaptureFile(fileOptions(folder, { about: null }));
    for (let n = 0; n < 4; n += 1) file.add(viewOf(udpFrame({ payload: new Uint8Array(n * 3) }), n), 0, n === 2 ? "a comment" : undefined);
    await file.flush();
    const part = join(folder, `${file.id}.pcapng.part`);
    const bytes = readFileSync(part);
    const ends = readCapture(bytes).records.map((_, n) => n + 1);
    expect(ends).toEqual([1, 2, 3, 4]);
    const cut = join(folder, "cut");
    for (let length = 0; length <= bytes.length; length += 1) {
      writeFileSync(cut, bytes.subarray(0, length));
      const before = readCapture(bytes.subarray(0, length)).records.length;
      const found = await repairPart(cut);
      const { records, malformed } = readCapture(readFileSync(cut));
      // A packet whose block is not whole goes, though its bytes may all be there.
      expect(found === null ? 0 : records.length).toBeLessThanOrEqual(before);
      expect(found === null ? 0 : records.length).toBeGreaterThanOrEqual(before - 1);
      if (found) expect([found.contents.packets, malformed]).toEqual([records.length, null]);
    }
    await file.abandon();
  });

  test("a disk that lost what it had promised, zeros or other bytes, ends in a whole file", async () => {
    const file = openCaptureFile(fileOptions(folder));
    for (let n = 0; n < 30; n += 1) file.add(viewOf(udpFrame({}), n), 0);
    const { path } = await file.finish([received(30)]);
    const damaged = join(folder, "damaged");
    copyFileSync(path as string, damaged);
    truncateSync(damaged, 2000);
    appendFileSync(damaged, Buffer.alloc(10_000));
    const found = await repairPart(damaged);
    expect(found?.contents.packets).toBeGreaterThan(5);
    expect(readCapture(readFileSync(damaged)).malformed).toBeNull();
    const original = Uint8Array.from(readFileSync(path as string));
    // What the file begins with is on the disk before anything else.
    for (const bytes of seededMutations(original.slice(1000), 300, 7)) {
      writeFileSync(damaged, Buffer.concat([original.subarray(0, 1000), bytes]));
      const repaired = await repairPart(damaged);
      if (repaired === null) continue;
      expect((await readFileContents(damaged)).contents.packets).toBe(repaired.contents.packets);
      expect(readCapture(readFileSync(damaged)).malformed).toBeNull();
    }
  });
});
