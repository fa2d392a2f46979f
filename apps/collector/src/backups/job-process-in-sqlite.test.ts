import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inProcess } from "../jobs/process.ts";
import { type BackupJob, backupTask } from "./job.ts";
import { generateSigningKey } from "./format/signing.ts";
import { createSample, type Sample } from "./testing/sample.ts";

const PROGRAM = [
  process.execPath, fileURLToPath(new URL("../../dist/main.js", import.meta.url)),
] as const;
const runJob = inProcess(PROGRAM, backupTask);

const signingKey = generateSigningKey();
let sample: Sample;
beforeEach(async () => {
  sample = await createSample();
});
afterEach(() => sample.remove());

const job = (changes: Partial<Extract<BackupJob, { readonly kind: "write" }>> = {}): Extract<BackupJob, { readonly kind: "write" }> => ({
  kind: "write", id: createId(), version: "1", createdAt: "2026-01-01T00:00:00.000Z", dataDir: sample.dataDir,
  database: { file: sample.databaseFile }, secrets: {},
  recipients: [sample.recipient], directory: sample.backupsDir, name: "backup.age", includeKeys: false, signingKey,
  ...changes,
});
const never = new AbortController().signal;

test("a process of the collector's own program does a job, and says why it could not", async () => {
  const { sha256 } = await runJob(job(), never);
  const file = join(sample.backupsDir, "backup.age");
  expect(await runJob({ kind: "checksum", file }, never)).toMatchObject({ sha256 });
  const restore = {
    kind: "restore", id: createId(), file, directory: sample.backupsDir, database: { file: sample.databaseFile }, sha256,
  } as const;
  expect(await runJob({ ...restore, identities: sample.identity }, never)).toMatchObject({ sha256 });
  expect(readdirSync(sample.backupsDir)).toEqual(["backup.age"]);
  await expect(runJob({ ...restore, identities: "nonsense" }, never)).rejects.toMatchObject({ code: "backup-key-unusable" });
  await expect(runJob(
    job({ database: { file: join(sample.folder, "none.db") }, name: "other.age" }), never,
  )).rejects.toMatchObject({ code: "backup-failed" });
});

test("one that is killed leaves nothing, nor one that is aborted", async () => {
  const aborter = new AbortController();
  const wish = job();
  const work = join(sample.backupsDir, `${wish.id}.work`);
  const running = runJob(wish, aborter.signal);
  aborter.abort();
  await expect(running).rejects.toMatchObject({ code: "backup-failed", message: "the collector was stopped meanwhile" });
  // As if it had been killed in the middle: what it had on the disk.
  mkdirSync(work, { recursive: true });
  await expect(inProcess([process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')"], backupTask)(wish, never)).rejects
    .toMatchObject({ code: "backup-failed", message: "the process that made it ended with SIGKILL" });
  expect(existsSync(work)).toBe(false);
});

test("one whose parent has died ends and leaves nothing", async () => {
  const wish = job();
  const [program, ...args] = PROGRAM;
  const child = spawn(program, [...args, backupTask.command], { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.write(`${JSON.stringify(wish)}\n`);
  child.stdin.end();
  const code = await new Promise<number | null>((resolve) => {
    child.on("exit", resolve);
  });
  expect(code).toBe(1);
  await expect.poll(() => (existsSync(sample.backupsDir) ? readdirSync(sample.backupsDir) : [])).toEqual([]);
});

test("one that may write no more leaves nothing", async () => {
  // As a disk that is full in the middle: the copy of the database is larger than this.
  const limited = inProcess(["prlimit", "--fsize=100000", ...PROGRAM], backupTask);
  await expect(limited(job(), never)).rejects.toMatchObject({ code: "backup-failed" });
  expect(readdirSync(sample.backupsDir)).toEqual([]);
});
