import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";
import { runCommand } from "../../../../../test/lab/run-command.ts";
import { canMakeLabs } from "../../../../../test/lab/testing.ts";
import { createSmallDisk } from "../../../../../test/system/small-disk.ts";

const MEBI = 1024 * 1024;
const FLOOR_MEGABYTES = 16;
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Report {
  readonly alone: number;
  readonly beside: number;
  readonly during: number;
  readonly finished: readonly { readonly state: string; readonly packets: number }[];
  readonly problem: string | null;
  readonly bytes: number;
  readonly sent: number;
  readonly dropped: number;
}

test.skipIf(!canMakeLabs())("a disk of 64 MiB is recorded over seven times: never below its floor, without a lost frame, and an export of it all costs none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-small-disk-"));
  const disk = await createSmallDisk(join(folder, "disk"), 64);
  try {
    const [program = "", ...enter] = disk.through;
    const args = [
      ...enter, process.execPath, bundleProgram(fileOf("testing/record-on-a-small-disk.ts")), disk.path, String(FLOOR_MEGABYTES),
      bundleProgram(fileOf("../export/testing/exporter.ts")),
    ];
    const report = JSON.parse(await runCommand(program, args)) as Report;
    expect(report.alone).toBeGreaterThanOrEqual(FLOOR_MEGABYTES * MEBI);
    expect(report.beside).toBeGreaterThanOrEqual(FLOOR_MEGABYTES * MEBI);
    expect(report.during).toBeGreaterThanOrEqual(FLOOR_MEGABYTES * MEBI);
    expect(report).toMatchObject({ problem: null, dropped: 0, finished: [{ state: "cut" }] });
    expect(report.finished[0]?.packets).toBeGreaterThan(1000);
    expect(report.bytes).toBeGreaterThan(20 * MEBI);
  } finally {
    await disk.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
