import { spawn } from "node:child_process";
import type { Program } from "./find-program.ts";
import { type NmapHost, readNmapHost } from "./read-host.ts";
import { createOutputSplitter } from "./split-output.ts";

/** How a run ended: with all that it was asked for, or in words why not. */
export type NmapEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

interface NmapRun {
  readonly program: Program;
  /** `setpriv`, which has the kernel end nmap should we be killed; null where it is not there. */
  readonly setpriv: Program | null;
  readonly args: readonly string[];
  /** Addresses. */
  readonly targets: readonly string[];
  /** Kills it, with all that it started. */
  readonly signal: AbortSignal;
  readonly onHost: (host: NmapHost) => void;
  /** 0 to 1, of this run. */
  readonly onProgress: (done: number) => void;
}

/** A batch of hosts with a thousand open ports each has a tenth of this. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_CHARACTERS = 2048;
/** What the tasks are of the whole, as they come: services take the longest. */
const TASKS: readonly (readonly [start: string, from: number, to: number])[] = [
  ["SYN Stealth Scan", 0, 0.05], ["Service scan", 0.05, 0.7], ["NSE", 0.7, 1],
];

/** Runs nmap once, and reads what it writes as it comes. Resolves when it is gone; does not reject. */
export function runNmap(run: NmapRun): Promise<NmapEnd> {
  return new Promise((resolve) => {
    const { program, setpriv, signal } = run;
    const [path, args] = setpriv ? [setpriv.path, ["--pdeathsig", "KILL", "--", program.path, ...run.args]] : [program.path, run.args];
    // A process group of its own, which is killed as one.
    const child = spawn(path, args, { detached: true, stdio: ["pipe", "pipe", "pipe"], env: { ...program.environment } });
    const split = createOutputSplitter();
    const text = new TextDecoder();
    let bytes = 0;
    let errors = "";
    let fault: string | null = null;
    const kill = (reason: string) => {
      fault ??= reason;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    };
    const onAbort = () => kill("it was stopped");
    const take = (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (fault !== null) return;
      if (bytes > MAX_OUTPUT_BYTES) {
        kill("nmap wrote too much output");
        return;
      }
      for (const piece of split(text.decode(chunk, { stream: true }))) {
        if (piece.kind === "progress") tellProgress(run, piece.task, piece.done);
        const host = piece.kind === "host" ? readNmapHost(piece.xml) : null;
        if (host) run.onHost(host);
      }
    };
    child.stdout.on("data", take);
    child.stderr.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString("latin1")).slice(-MAX_ERROR_CHARACTERS);
    });
    child.once("error", (error) => {
      fault ??= `nmap could not be started: ${error.message}`;
    });
    child.once("close", (code) => {
      signal.removeEventListener("abort", onAbort);
      if (fault === null && code !== 0) fault = `nmap ended with ${code ?? "a signal"}: ${lastLine(errors)}`;
      resolve(fault === null ? { ok: true } : { ok: false, reason: fault });
    });
    // It may end before it has read them.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${run.targets.join("\n")}\n`);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function tellProgress(run: NmapRun, task: string, done: number): void {
  const [, from = 0, to = 0] = TASKS.find(([start]) => task.startsWith(start)) ?? [];
  if (to > 0) run.onProgress(from + (to - from) * done);
}

/** Warnings are many, and come before what it ended with. */
function lastLine(errors: string): string {
  const lines = errors.split("\n").map((line) => line.replaceAll(/[^\x20-\x7e]/g, "").trim())
    .filter((line) => line !== "" && line !== "QUITTING!");
  return lines.at(-1)?.slice(0, 512) ?? "no reason given";
}
