import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { onTestFinished, expect, test } from "vitest";
import { openCaptureFile } from "./capture-file.ts";
import { filePath, markReported, readNote, removeForRoom } from "./facts.ts";
import { fileOptions } from "./testing/frames.ts";

test("a file that is removed while the daemon is noted to have its facts is reported once more, as removed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-facts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const id = createId();
  await openCaptureFile(fileOptions(folder, { id })).finish([]);
  writeFileSync(filePath(folder, id), "");
  const whole = (await readNote(folder, id))?.recorded;
  expect(whole?.pcap_id).toBe(id);
  await Promise.all([markReported(folder, id), removeForRoom(folder, id, "it was too old")]);
  expect(await readNote(folder, id)).toMatchObject({ is_reported: false, recorded: { state: "removed", detail: "it was too old" } });
});
