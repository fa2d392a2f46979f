import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** One of our daemons as a process of its own, started the way systemd starts it. */
export interface Daemon {
  readonly pid: number;
  /** What it said on its `ready` line. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** Resolves with exit code or signal when it has ended, however it did. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Asks it to end with SIGTERM. @returns How it ended. */
  stop(): Promise<number | NodeJS.Signals>;
  /** Ends it with SIGKILL. */
  kill(): Promise<number | NodeJS.Signals>;
}

export interface DaemonOptions {
  /** Path of its compiled `main.js`, or of a program that runs it. */
  readonly script: string;
  readonly args: readonly string[];
  /** What Node itself is told before the script, as the installed command tells it. */
  readonly nodeFlags?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Namespace that it runs in; the machine's own where left out. */
  readonly namespace?: string;
  /** A command that becomes the daemon: what it changes before, mounts or rights, holds for the daemon alone. */
  readonly through?: readonly string[];
  /** Its standard error is appended here. */
  readonly logFile: string;
  /** Longer than any start, so that it fails with the log instead of hanging. */
  readonly readyWithinMs?: number;
}

/** The kernel ends it when this process ends without having done so, killed for instance. */
const DIE_WITH_US = ["setpriv", "--pdeathsig", "KILL"];

/**
 * Starts a daemon and waits for its `ready` line.
 * @throws Error with the end of its log when it ends, or says nothing, before that.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, "a");
  const enter = options.namespace === undefined ? [] : ["ip", "netns", "exec", options.namespace];
  const run = options.script.endsWith(".js") ? [process.execPath, ...(options.nodeFlags ?? []), options.script] : [options.script];
  const [program = "", ...args] = [...DIE_WITH_US, ...(options.through ?? []), ...enter, ...run, ...options.args];
  const child = spawn(program, args, { env: { ...inheritedEnvironment(), ...options.env }, stdio: ["ignore", "pipe", log] });
  closeSync(log);
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? signal ?? 0));
    child.once("error", () => resolve(127));
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  let isReady = false;
  const ready = await Promise.race([
    readyLine(child).finally(() => {
      isReady = true;
    }),
    ended.then((how) => failStart(options, `ended with ${how}`)),
    timeout(options.readyWithinMs ?? 300_000).then(async () => {
      // The race is long over when a daemon was ready in time; it must not be killed for that.
      if (isReady) return {};
      await end("SIGKILL");
      return failStart(options, "did not become ready");
    }),
  ]);
  return { pid: child.pid ?? 0, ready, ended, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

/** Everything but what would configure one of our own daemons. */
function inheritedEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LANTHORN_") && name !== "NODE_OPTIONS"));
}

function readyLine(child: ChildProcess): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve(JSON.parse(line.slice(6)) as Record<string, unknown>);
    });
  });
}

function failStart(options: DaemonOptions, how: string): never {
  const end = readFileSync(options.logFile, "utf8").trimEnd().split("\n").slice(-12).join("\n");
  throw new Error(`${options.script} ${options.args.join(" ")} ${how}; its log ends:\n${end}`);
}

function timeout(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
