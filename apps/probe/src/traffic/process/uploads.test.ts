import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createSpool } from "../../files/spool.ts";
import { filesFolder } from "../capture-files/repair.ts";
import { createUploads } from "./uploads.ts";

test("a file that is deleted while it is handed over is not sent", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-uploads-"));
  const spool = createSpool({ dataDir, budgetBytes: 1e6 });
  const [deleted, kept] = [createId(), createId()];
  mkdirSync(filesFolder(dataDir), { recursive: true });
  for (const id of [deleted, kept]) writeFileSync(join(filesFolder(dataDir), `${id}.pcapng`), "frames");
  const gone: string[] = [];
  const uploads = createUploads({
    dataDir, log: silentLog, onGone: (id) => void gone.push(id),
    spool: {
      ...spool,
      add(path, kind, options) {
        // It is deleted before it lies there.
        if (options?.id === deleted) void uploads.remove(deleted);
        return spool.add(path, kind, options);
      },
    },
  });
  uploads.want(deleted);
  uploads.want(kept);
  await expect.poll(() => gone).toEqual([deleted, kept]);
  expect([await uploads.isSent(deleted), await uploads.isSent(kept)]).toEqual([false, true]);
  rmSync(dataDir, { recursive: true });
});
