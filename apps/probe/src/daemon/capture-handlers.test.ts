import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createSpool } from "../files/spool.ts";
import { openCaptureFile } from "../traffic/capture-files/capture-file.ts";
import { filesFolder } from "../traffic/capture-files/repair.ts";
import { fileOptions, received, udpFrame, viewOf } from "../traffic/capture-files/testing/frames.ts";
import { captureHandlers } from "./capture-handlers.ts";

test("where no traffic is recorded any more, files of earlier days are still sent and deleted, and one that is not there is said to be none", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-handlers-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const capture = async () => {
    const file = openCaptureFile({ ...fileOptions(dataDir), folder: filesFolder(dataDir) });
    file.add(viewOf(udpFrame({ payload: randomBytes(1000) })), 0);
    return (await file.finish([received(1)])).recorded.pcap_id;
  };
  const spool = createSpool({ dataDir, budgetBytes: 1e6 });
  const handlers = captureHandlers(null, { dataDir, spool });
  const [kept, sent] = [await capture(), await capture()];
  expect(await handlers.pcap_fetch({ pcap_id: sent })).toEqual({ data: {} });
  expect((await spool.list()).map(({ id }) => id)).toEqual([sent]);
  for (const id of [kept, sent]) expect(await handlers.pcap_delete({ pcap_id: id })).toEqual({ data: { deleted: true } });
  expect([await spool.list(), readdirSync(filesFolder(dataDir))]).toEqual([[], []]);
  expect(await handlers.pcap_delete({ pcap_id: kept })).toEqual({ data: { deleted: false } });
  expect(await handlers.pcap_fetch({ pcap_id: kept })).toMatchObject({ reason: "no-such-file" });
  // It does not fit: that may change.
  const tight = captureHandlers(null, { dataDir, spool: createSpool({ dataDir, budgetBytes: 10 }) });
  expect(await tight.pcap_fetch({ pcap_id: await capture() })).toMatchObject({ reason: "not-now" });
  expect(await handlers.pcap_stop({ pcap_id: createId() })).toMatchObject({ reason: "not-configured", refused: expect.stringContaining("[traffic]") as string });
});
