import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DebianRoot } from "../lab/debian-packages.ts";
import { bundleProgram } from "../lab/bundle-program.ts";

/** A program that captures everything of an interface into a file, while it runs. */
export interface Capturing {
  /** The process that reads the frames. */
  readonly pid: number;
  /** Ends it and removes what it wrote. `seen`, where it is known, are the frames that it looked at: more than it captured, where its disk or the overload left some out. */
  stop(): Promise<{ readonly captured: number; readonly dropped: number; readonly seen?: number }>;
}

/** Where to capture, and where to write to. */
export interface CapturePlace {
  readonly namespace: string;
  readonly interface: string;
  readonly folder: string;
}

/** Starts a program and waits until it captures. */
export type StartCapturing = (place: CapturePlace) => Promise<Capturing>;

/** Only what hangs takes this long. */
const HANG_MS = 30_000;

/** Ours, as little of it as captures and writes. */
export const startWriter: StartCapturing = ({ namespace, interface: name, folder }) => {
  const file = join(folder, "ours.pcapng");
  const program = bundleProgram(fileURLToPath(new URL("capture-writer.ts", import.meta.url)));
  return startProgram({
    namespace, file, program: process.execPath, args: [program, name, file], isReady: (text) => text.includes("ready"), signal: "SIGTERM",
    read: (text) => JSON.parse(text.slice(text.lastIndexOf("\n{") + 1)) as { captured: number; dropped: number },
  });
};

/** @returns `tcpdump -w` and dumpcap, as their packages bring them, with what they use by themselves. */
export function peersOf(tools: DebianRoot): Readonly<Record<"tcpdump" | "dumpcap", StartCapturing>> {
  const start = (name: "tcpdump" | "dumpcap", args: (place: CapturePlace, file: string) => readonly string[], words: {
    readonly ready: RegExp; readonly captured: RegExp; readonly dropped: RegExp;
  }): StartCapturing => (place) => {
    const file = join(place.folder, `${name}.pcap`);
    const { path, env } = tools.command(name);
    return startProgram({
      namespace: place.namespace, file, program: path, env, args: args(place, file), isReady: (text) => words.ready.test(text), signal: "SIGINT",
      read: (text) => ({ captured: Number(words.captured.exec(text)?.[1]), dropped: Number(words.dropped.exec(text)?.[1]) }),
    });
  };
  return {
    tcpdump: start("tcpdump", (place, file) => ["-n", "-Z", "root", "-i", place.interface, "-w", file], {
      ready: /listening on/, captured: /(\d+) packets? captured/, dropped: /(\d+) packets? dropped by kernel/,
    }),
    dumpcap: start("dumpcap", (place, file) => ["-q", "-i", place.interface, "-w", file], {
      ready: /File: /, captured: /Packets captured: (\d+)/, dropped: /Packets received\/dropped on interface '[^']*': \d+\/(\d+)/,
    }),
  };
}

async function startProgram(options: {
  readonly namespace: string; readonly file: string; readonly program: string; readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>>;
  readonly isReady: (text: string) => boolean; readonly signal: NodeJS.Signals; readonly read: (text: string) => { readonly captured: number; readonly dropped: number };
}): Promise<Capturing> {
  // `ip netns exec` becomes the program: the process id is its own.
  const child = spawn("ip", ["netns", "exec", options.namespace, options.program, ...options.args], { env: { ...process.env, ...options.env, HOME: "/nonexistent" }, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const take = (chunk: string) => {
    text += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  await untilSaid(child, () => options.isReady(text), () => text);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${options.program} did not start`);
  return {
    pid,
    async stop() {
      const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
      child.kill(options.signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), HANG_MS);
      await ended;
      clearTimeout(timer);
      rmSync(options.file, { force: true });
      const counts = options.read(text);
      if (!(counts.captured >= 0 && counts.dropped >= 0)) throw new Error(`${options.program} said nothing of its frames: ${text}`);
      return counts;
    },
  };
}

function untilSaid(child: ChildProcess, isSo: () => boolean, text: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const timer = setInterval(() => {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (!isSo() && !hasEnded && performance.now() - startedAt < HANG_MS) return;
      clearInterval(timer);
      if (isSo()) return resolve();
      child.kill("SIGKILL");
      reject(new Error(`the program does not capture: ${text()}`));
    }, 20);
  });
}

/** The most resident memory that a process has had, in MB of 10^6 bytes. */
export function peakMegabytes(pid: number): number {
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 0.01024) / 10;
}
