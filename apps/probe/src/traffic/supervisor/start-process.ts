import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import type { Duplex } from "node:stream";

/** A traffic process that was started. */
export interface StartedProcess {
  readonly pid: number;
  /** What is said to it, and what it says; it ends with the process. */
  readonly stream: Duplex;
  /** Resolves when it has ended, with how: "ended with code 1", "SIGKILL". */
  readonly ended: Promise<string>;
  /** Ends it at once. */
  kill(): void;
  /** What it has in memory, in bytes; 0 when it has ended. */
  rssBytes(): number;
}

/** The number of the file that is the channel, behind the standard ones. */
export const CHANNEL_FILE = 3;

/**
 * What the process is started through as root: it keeps CAP_NET_RAW, can gain nothing, and becomes the user whom the data directory belongs to.
 * Without that it would have no right to write there, since CAP_DAC_OVERRIDE is gone. Should the daemon die while the process hangs, the
 * kernel ends it.
 */
function leastRights(dataDir: string): readonly string[] {
  const { uid, gid } = statSync(dataDir);
  return [
    "setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs", "--inh-caps=-all,+net_raw", "--ambient-caps=-all,+net_raw",
    "--bounding-set=-all,+net_raw", "--pdeathsig=KILL", "--",
  ];
}

/**
 * Starts the process with a channel of its own. Any other user than root starts it with the rights that the daemon has itself: systemd gives
 * it nothing but CAP_NET_RAW.
 * @param options.command The program and its arguments.
 */
export function startProcess(options: { readonly command: readonly string[]; readonly dataDir: string }): StartedProcess {
  const isRoot = process.getuid?.() === 0;
  const [program = "", ...args] = [...(isRoot ? leastRights(options.dataDir) : []), ...options.command];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit", "pipe"] });
  const pid = child.pid ?? 0;
  let isRunning = pid > 0;
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      isRunning = false;
      resolve(signal ?? `ended with code ${code}`);
    });
    child.once("error", (error) => resolve(error.message));
  });
  return {
    pid, ended,
    stream: child.stdio[CHANNEL_FILE] as Duplex,
    kill: () => void (isRunning && child.kill("SIGKILL")),
    rssBytes: () => (isRunning ? readRss(pid) : 0),
  };
}

/** Half a kilobyte that the kernel makes when it is read. @see proc(5), VmRSS */
function readRss(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
