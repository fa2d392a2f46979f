import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSpool } from "../../files/spool.ts";
import { openCaptureFile } from "./capture-file.ts";
import { handOver } from "./hand-over.ts";
import { filesFolder } from "./repair.ts";
import { fileOptions, received, udpFrame, viewOf } from "./testing/frames.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-hand-over-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function capture() {
  const file = openCaptureFile({ ...fileOptions(dataDir), folder: filesFolder(dataDir) });
  file.add(viewOf(udpFrame({ payload: randomBytes(1000) })), 0);
  return file.finish([received(1)]);
}

test("a finished file goes into the spool under its id, whole and without a copy", async () => {
  const spool = createSpool({ dataDir, budgetBytes: 1e6 });
  const { path, recorded } = await capture();
  const { ino } = statSync(path as string);
  const [deps, bytes] = [{ spool, dataDir, id: recorded.pcap_id }, readFileSync(path as string)];
  expect(await handOver(deps)).toBe(true);
  expect(await spool.list()).toEqual([{ id: recorded.pcap_id, kind: "capture", size: recorded.size_bytes, sha256: recorded.sha256 }]);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(recorded.sha256);
  expect([statSync(spool.path(recorded.pcap_id)).ino, readdirSync(filesFolder(dataDir))]).toEqual([ino, []]);
  // Once more, as after a crash; and for one that there never was.
  expect(await handOver(deps)).toBe(true);
  expect(await handOver({ ...deps, id: "00000000-0000-4000-8000-000000000000" })).toBe(false);
});

test("a file that does not fit there stays here with its note", async () => {
  const { path, recorded } = await capture();
  const spool = createSpool({ dataDir, budgetBytes: 100 });
  await expect(handOver({ spool, dataDir, id: recorded.pcap_id })).rejects.toMatchObject({ code: "file-refused" });
  expect([existsSync(path as string), readdirSync(filesFolder(dataDir)).length]).toEqual([true, 2]);
});
