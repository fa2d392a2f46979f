import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { CommandData } from "@lanthorn/contract/uplink";
import { compileFilter } from "@lanthorn/packet-io";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { beginRecord } from "../capture-files/settle-file.ts";
import { type CaptureFileFacts, removeCaptureFile } from "../capture-files/facts.ts";
import type { CapturePrivacy } from "../capture-files/privacy.ts";
import { filesFolder } from "../capture-files/repair.ts";
import type { ContinuousCapture } from "../continuous/continuous.ts";
import type { CommandRefused } from "../messages.ts";
import { type ExportRequest, FromExport, readLine, type ToExport } from "./export-messages.ts";

/** Exports from the continuous capture, each in a process of its own at the lowest priority. */
export interface Exports {
  /** @returns Why it cannot be, in words; null when it has begun. */
  start(data: CommandData<"pcap_export">, limits: { readonly maxBytes: number }): Promise<CommandRefused | null>;
  /** What the site wants left out has changed: it is left out of running exports too. */
  configure(): void;
  /** Ends one with what it has. @returns Whether there is such an export. */
  stop(id: string): boolean;
  /** Ends all; what is not finished is cleared away at the next start. */
  close(): Promise<void>;
}

/** Two read the disk at once; a third would only make both slower. */
const MAX_EXPORTS = 2;
/** From this load of the capture on, exports wait. */
const PAUSE_LOAD = 0.25;
const PACE_EVERY_MS = 200;
const MAX_HEAP_MB = 64;
/** Of the program's name and options: it is this one again. */
const COMMAND = "traffic-export";

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  say(message: ToExport): void;
}

interface ExportsDeps {
  readonly continuous: Pick<ContinuousCapture, "find" | "flush" | "lock" | "unlock" | "isUnfinished">;
  readonly program: readonly string[];
  readonly dataDir: string;
  readonly floorBytes: number;
  readonly interfaces: readonly string[];
  readonly snapLength: number;
  readonly application: string;
  readonly load: () => number;
  readonly privacy: () => CapturePrivacy;
  readonly onFinished: (facts: CaptureFileFacts) => void;
  readonly clock: Pick<Clock, "now" | "every">;
  readonly log: Pick<Log, "info" | "warn">;
}

/**
 * @param deps.program This program again, with its options: Node, Node's options, the script.
 * @param deps.load How much the capture has to do: 0 to 1.
 * @param deps.privacy What the site wants left out, now.
 * @param deps.onFinished How an export ended.
 */
export function createExports(deps: ExportsDeps): Exports {
  const { continuous, log } = deps;
  const running = new Map<string, Running>();
  /** Exports whose files are still being looked up: they have their place already. */
  const starting = new Set<string>();
  const folder = filesFolder(deps.dataDir);
  let isPaused = false;
  let isClosed = false;
  const stopPace = deps.clock.every(PACE_EVERY_MS, () => {
    const shouldPause = deps.load() >= PAUSE_LOAD;
    if (shouldPause === isPaused) return;
    isPaused = shouldPause;
    for (const one of running.values()) one.say({ kind: "pace", is_paused: isPaused });
  });

  async function find(data: CommandData<"pcap_export">, maxBytes: number): Promise<ExportRequest | CommandRefused> {
    const [from, to] = [Date.parse(data.from), Date.parse(data.to)];
    if (from > to) return { refused: "the time ends before it begins" };
    if (data.host === null && (data.peer !== null || data.side !== "both")) return { refused: "a peer or a side needs a host" };
    const compiled = compile(data.filter);
    if ("refused" in compiled) return compiled;
    await continuous.flush();
    const files = await continuous.find({ from, to, hosts: [data.host, data.peer].filter((text) => text !== null) });
    if (files.length === 0) return { refused: "nothing was recorded in that time, or nothing of that host", reason: "no-such-file" };
    return {
      kind: "begin", ...data, from, to, program: compiled.program, files: files.map(({ id, paths, part }) => ({ id, part, paths: [...paths] })), folder,
      max_bytes: Math.min(data.bytes, maxBytes), floor_bytes: deps.floorBytes, interfaces: [...deps.interfaces], snap_length: deps.snapLength,
      ...toFields(deps.privacy()), application: deps.application,
    };
  }

  function begin(request: ExportRequest): void {
    log.info({ pcap_id: request.pcap_id, files: request.files.length }, "an export begins");
    const one = superviseProcess(request, deps, () => isClosed);
    running.set(request.pcap_id, one);
    void one.ended.finally(() => running.delete(request.pcap_id));
    if (isPaused) one.say({ kind: "pace", is_paused: true });
  }

  return {
    async start(data, { maxBytes }) {
      const { pcap_id: id } = data;
      if (running.size + starting.size >= MAX_EXPORTS) return { refused: `${MAX_EXPORTS} exports run already; wait until one has ended`, reason: "not-now" };
      if (running.has(id) || starting.has(id)) return { refused: "this export runs already" };
      starting.add(id);
      try {
        const request = await find(data, maxBytes);
        if ("refused" in request) return request;
        if (isClosed || !starting.has(id)) return { refused: "it was stopped before it began" };
        begin(request);
        return null;
      } finally {
        starting.delete(id);
      }
    },
    stop(id) {
      running.get(id)?.say({ kind: "stop" });
      return running.has(id) || starting.delete(id);
    },
    configure() {
      const message: ToExport = { kind: "privacy", ...toFields(deps.privacy()) };
      for (const one of running.values()) one.say(message);
    },
    async close() {
      isClosed = true;
      stopPace();
      const all = [...running.values()];
      for (const { child } of all) child.kill("SIGKILL");
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

const toFields = ({ headersOnly, headersOnlyNetworks }: CapturePrivacy) => ({ headers_only: headersOnly, headers_only_networks: [...headersOnlyNetworks] });

/** Starts the process, gives it one file after the other, and reports how it ended. @param isClosed Whether nobody wants to know any more. */
function superviseProcess(request: ExportRequest, deps: ExportsDeps, isClosed: () => boolean): Running {
  const { continuous, log } = deps;
  const child = startProcess(deps.program);
  const say = (message: ToExport) => void child.stdin?.write(`${JSON.stringify(message)}\n`);
  /** One file at a time: all others may go while it is read. */
  let locked: string | null = null;
  let facts: CaptureFileFacts | null = null;
  const unlock = () => {
    if (locked !== null) continuous.unlock(locked);
    locked = null;
  };
  if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => {
    const message = readLine(FromExport, line);
    if (message?.kind === "finished") facts = { path: message.path, recorded: message.recorded };
    else unlock();
    if (message?.kind !== "want") return;
    if (continuous.lock(message.id)) locked = message.id;
    say({ kind: "file", is_there: locked !== null || continuous.isUnfinished(message.id) });
  });
  const closed = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve(signal ?? `code ${code}`));
    child.once("error", (error) => resolve(describeError(error)));
  });
  const settle = async () => {
    const how = await closed;
    unlock();
    if (isClosed() && facts === null) return;
    if (facts === null) log.warn({ pcap_id: request.pcap_id, reason: how }, "an export ended before it was finished");
    deps.onFinished(facts ?? await clearAway(request, how, deps.clock.now()));
  };
  say(request);
  return { child, say, ended: settle() };
}

/**
 * It reads files that hostile hosts have filled, and needs none of the capabilities that its parent has. Another user than root has none left
 * that could bring one back; what root may not gain is taken out of the bounding set.
 */
function noRights(): readonly string[] {
  return ["--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs", ...(process.getuid?.() === 0 ? ["--bounding-set=-all"] : []), "--"];
}

/** Without rights, and below everything else on this machine for processor and disk. */
function startProcess([node = "", ...args]: readonly string[]): ChildProcess {
  const command = ["nice", "-n", "19", "ionice", "-t", "-c", "3", node, `--max-old-space-size=${MAX_HEAP_MB}`, ...args, COMMAND];
  const child = spawn("setpriv", [...noRights(), ...command], { stdio: ["pipe", "pipe", "inherit"] });
  // A process that is gone does not read what is said to it.
  child.stdin.on("error", () => {});
  return child;
}

function compile(filter: string): { readonly program: ExportRequest["program"] } | { readonly refused: string } {
  if (filter === "") return { program: null };
  try {
    return { program: compileFilter(filter).program.map(([code, yes, no, operand]) => [code, yes, no, operand]) };
  } catch (error) {
    return { refused: describeError(error) };
  }
}

/** What an export that did not end well leaves is removed. */
async function clearAway(request: ExportRequest, how: string, now: number): Promise<CaptureFileFacts> {
  // Where the disk does not let it, the next start does.
  await removeCaptureFile(request.folder, request.pcap_id).catch(() => {});
  const begun = beginRecord({
    id: request.pcap_id, filter: request.filter, interfaces: request.interfaces.map((name) => ({ name, snapLength: request.snap_length })),
    privacy: { headersOnly: request.headers_only, headersOnlyNetworks: [] }, about: { trigger: "export", alert_ids: [], macs: [], ips: [] },
  }, now);
  return { path: null, recorded: { ...begun, state: "failed", detail: `The export's process ended early: ${how}.`.slice(0, 500), finished_at: begun.started_at } };
}
