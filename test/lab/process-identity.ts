import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { LabError } from "./errors.ts";

/** One process and no other: the kernel gives numbers anew, but not with the same start. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Ticks since the machine started. */
  readonly startTicks: number;
}

/** @returns null when no process of this number runs. @see proc_pid_stat(5), field 22 */
export function identifyProcess(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    /** A zombie holds nothing any more and only waits for its parent to look. */
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return { pid, startTicks: Number(fields[19]) };
  } catch {
    return null;
  }
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startTicks === identity.startTicks;
}

/** The kernel ends a process within milliseconds; one that hangs in a driver it never ends. */
const END_TIMEOUT_MS = 120_000;

/**
 * Ends processes with SIGKILL, each only if it is still the one that was meant, and returns when they are gone.
 * @throws LabError `not-ready` for one that does not end.
 */
export async function endProcesses(identities: readonly ProcessIdentity[]): Promise<void> {
  const deadline = performance.now() + END_TIMEOUT_MS;
  let left = identities.filter(isRunning);
  while (left.length > 0) {
    if (performance.now() > deadline) throw new LabError("not-ready", `process ${left[0]?.pid} does not end, even by SIGKILL`);
    for (const { pid } of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        /** It ended by itself in between. */
      }
    }
    await wait(10);
    left = left.filter(isRunning);
  }
}
