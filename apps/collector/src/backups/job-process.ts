import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { setPriority } from "node:os";
import { describeError } from "@lanthorn/runtime";
import * as z from "zod";
import { CollectorError } from "../errors.ts";
import { BackupJob, doBackupJob, JobResult, workFolderOfJob } from "./job.ts";
import type { ProgramsSettings } from "./postgres-programs.ts";

/** Does a job and says what came of it. @throws CollectorError with the reason; `backup-failed` when it was aborted. */
export type RunBackupJob = (job: BackupJob, signal: AbortSignal) => Promise<JobResult>;

/** The hidden command of the collector's own program that does one. */
export const JOB_COMMAND = "backup-job";

const Outcome = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), result: JobResult }),
  z.object({
    ok: z.literal(false),
    code: z.enum(["backup-failed", "backup-unreadable", "backup-key-unusable", "backup-untrusted", "database-newer", "database-unreachable"]),
    message: z.string(),
  }),
]);
type Outcome = z.infer<typeof Outcome>;

const LONGEST_OUTPUT = 65_536;

/** A third of the collector's own share where both want the processor. Less, and on a busy machine it would never end. */
const NICE = 5;

/**
 * Does jobs in processes that give way to everything else. The job goes there by standard input, since it holds keys, and
 * stays open: a process whose parent has died ends, and leaves nothing.
 * @param command The collector's own program, as it was started itself.
 */
export function createJobProcesses(command: readonly [string, ...string[]]): RunBackupJob {
  const [program, ...args] = command;
  return async (job, signal) => {
    const child = spawn(program, [...args, JOB_COMMAND], { stdio: ["pipe", "pipe", "pipe"] });
    const kill = () => void child.kill("SIGKILL");
    signal.addEventListener("abort", kill);
    if (signal.aborted) kill();
    let [output, complaint] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-LONGEST_OUTPUT)));
    child.stderr.on("data", (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(-LONGEST_OUTPUT)));
    // A process that ends before it has read all says why by how it ends.
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify(job)}\n`);
    const ended = new Promise<string>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, killer) => resolve(killer === null ? `code ${code}` : killer));
    });
    giveWay(child.pid);
    try {
      const how = await ended;
      const outcome = parseOutcome(output);
      if (outcome?.ok === true) return outcome.result;
      if (outcome) throw new CollectorError(outcome.code, outcome.message);
      if (signal.aborted) throw new CollectorError("backup-failed", "the collector was stopped meanwhile");
      throw new CollectorError(
        "backup-failed", `the process that made it ended with ${how}${complaint === "" ? "" : `: ${lastLine(complaint)}`}`,
      );
    } catch (error) {
      clear(job);
      throw error;
    } finally {
      signal.removeEventListener("abort", kill);
    }
  };
}

/** The other side: what the process does. @returns Its exit code. */
export async function serveBackupJob(streams: {
  readonly input: NodeJS.ReadableStream; readonly print: (text: string) => void; readonly exit: (code: number) => void;
  readonly environment: NonNullable<ProgramsSettings["environment"]>;
}): Promise<number> {
  let text = "";
  const job = await new Promise<BackupJob>((resolve, reject) => {
    streams.input.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end !== -1) resolve(Promise.resolve(text.slice(0, end)).then((line) => BackupJob.parse(JSON.parse(line))));
    });
    streams.input.on("end", () => reject(new Error("there was no job")));
  });
  streams.input.on("end", () => {
    clear(job);
    streams.exit(1);
  });
  const say = (outcome: Outcome) => streams.print(JSON.stringify(outcome));
  try {
    say({ ok: true, result: await doBackupJob(job, streams.environment) });
    return 0;
  } catch (error) {
    const known = Outcome.safeParse({
      ok: false, code: error instanceof CollectorError ? error.code : "backup-failed", message: describeError(error),
    });
    say(known.success ? known.data : { ok: false, code: "backup-failed", message: describeError(error) });
    return 1;
  }
}

function clear(job: BackupJob): void {
  const folder = workFolderOfJob(job);
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
}

function giveWay(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE);
  } catch {
    // It has ended already, and says itself how.
  }
}

function parseOutcome(output: string): Outcome | null {
  try {
    return Outcome.parse(JSON.parse(lastLine(output)));
  } catch {
    return null;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
