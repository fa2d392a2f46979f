import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundleProgram } from "../lab/bundle-program.ts";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { openProbePlace, type ProbePlace } from "./capture-probe.ts";
import { type CapturePlace, peakMegabytes, peersOf, type StartCapturing, startWriter } from "./capture-programs.ts";
import { threadSeconds } from "./processor-time.ts";

/** Frames of one run by their octets: a gigabyte at most is written, with what comes first two, and removed. */
const RUNS: readonly { readonly size: number; readonly count: number }[] = [{ size: 64, count: 2_000_000 }, { size: 300, count: 1_500_000 }, { size: 1500, count: 500_000 }];
/** Where something is lost at full speed, these parts of it are offered too. */
const LOWER_RATES = [0.5, 0.25, 0.1];
const LOWER_SECONDS = 5;
/** What is on its way when the sender ends is there by then: a second is the longest that tcpdump leaves frames in the kernel. */
const DRAIN_MS = 1500;
/** A start is over by then: a probe still does work of its own for some seconds, which no packet costs. */
const START_MS = 5000;
const SETTLE_MS = 500;
/** What runs for months has been compiled and has its memory: what comes first is not measured, of none of them, though its losses count. */
const WARM_UP_PPS = 50_000;
const WARM_UP_SECONDS = 12;
const LONGEST_FLOOD_MS = 120_000;

/** Ours and its peers, those of them that are asked for. */
type Programs = Readonly<Record<string, StartCapturing>>;

/** What is offered: frames of a size, so many a second, or (0) as many as can be sent. */
interface Offer {
  readonly size: number;
  readonly pps: number;
}

/** What one program did with one flood. */
interface Run {
  readonly offered_pps: number;
  readonly captured: number;
  readonly dropped: number;
  /** Of one that was captured. */
  readonly cpu_ns_per_packet: number;
  readonly rss_mb: number;
  /** What was looked at, captured or not, and the processor time of one of these: the ring, guards and flow table of ours get more than the disk takes. */
  readonly seen?: number;
  readonly cpu_ns_per_seen?: number;
}

/**
 * Floods an interface of a veth pair, in a namespace of its own, with frames of 64, 300 and 1500 octets, and has them captured into files:
 * by a probe's traffic process, with guards and flow table, by `tcpdump -w` and by dumpcap, taking turns. Where one of them loses frames,
 * lower rates are tried too. What is in ours' files, and what the others count, is compared with what was sent: `dropped` is all the rest.
 * @param args `--rounds N` (1 to 5; 1): runs of each: the frames added up, the median of the processor time, and the worst. `--writer`: instead of a probe, the least that captures and writes.
 * `--rows 1500:200000,64:0`: instead of all sizes, these sizes and frames a second (0: as many as can be sent). `--only ours,dumpcap`: these programs.
 */
export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(optionOf(args, "--rounds") ?? 1);
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 5)) throw new Error("capture takes --rounds and a number from 1 to 5");
  const rows = readRows(optionOf(args, "--rows"));
  const names = optionOf(args, "--only")?.split(",");
  const tools = await unpackDebianPackages(["tcpdump", "tshark", "wireshark-common"]);
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-capture-"));
  try {
    const { place, start, close } = args.includes("--writer") ? openWriterPlace(folder) : await openProbePlace(folder);
    try {
      const programs = Object.fromEntries(Object.entries({ ours: start, ...peersOf(tools) }).filter(([name]) => names?.includes(name) ?? true));
      console.log(JSON.stringify({ bench: "capture", rows: await (rows ? measureRows(programs, place, rows, rounds) : measure(programs, place, rounds)) }));
    } finally {
      await close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function optionOf(args: readonly string[], name: string): string | undefined {
  return args.includes(name) ? args[args.indexOf(name) + 1] : undefined;
}

/** @returns Null where all is to be measured. @throws Error for what is no list of sizes and rates. */
function readRows(text: string | undefined): readonly Offer[] | null {
  if (text === undefined) return null;
  return text.split(",").map((row) => {
    const [, size, pps] = /^(\d+):(\d+)$/.exec(row) ?? [];
    if (!RUNS.some((run) => run.size === Number(size))) throw new Error(`capture takes --rows SIZE:RATE,…, sizes as in ${RUNS.map((run) => run.size).join(", ")}`);
    return { size: Number(size), pps: Number(pps) };
  });
}

async function measureRows(programs: Programs, place: CapturePlace, offers: readonly Offer[], rounds: number) {
  const rows = [];
  for (const { size, pps } of offers) {
    const most = RUNS.find((run) => run.size === size)?.count ?? 0;
    rows.push(await runAll(programs, place, { size, count: pps === 0 ? most : Math.min(most, pps * LOWER_SECONDS), pps, rounds }));
  }
  return rows;
}

async function measure(programs: Programs, place: CapturePlace, rounds: number) {
  const rows = [];
  for (const { size, count } of RUNS) {
    const full = await runAll(programs, place, { size, count, pps: 0, rounds });
    rows.push(full);
    const isWhole = [full, ...Object.values(full.peers)].every(({ dropped }) => dropped === 0);
    for (const part of isWhole ? [] : LOWER_RATES) {
      const pps = Math.round(full.offered_pps * part);
      rows.push(await runAll(programs, place, { size, count: Math.min(count, pps * LOWER_SECONDS), pps, rounds }));
    }
  }
  return rows;
}

/** One row: each program after the other, `rounds` times. */
async function runAll(
  programs: Programs, place: CapturePlace,
  flood: { readonly size: number; readonly count: number; readonly pps: number; readonly rounds: number },
) {
  const runs: Record<string, Run[]> = {};
  for (let round = 0; round < flood.rounds; round += 1) {
    for (const [name, start] of Object.entries(programs)) {
      const one = await runOnce(start, place, flood);
      (runs[name] ??= []).push(one);
      process.stderr.write(`${flood.size} octets, ${name}: ${JSON.stringify(one)}\n`);
    }
  }
  const { ours, ...peers } = Object.fromEntries(Object.entries(runs).map(([name, each]) => [name, addUp(each)]));
  return { size: flood.size, offered_pps: 0, dropped: 0, ...ours, peers };
}

async function runOnce(
  start: StartCapturing, place: CapturePlace, flood: { readonly size: number; readonly count: number; readonly pps: number },
): Promise<Run> {
  const capturing = await start(place);
  await pause(START_MS);
  const warm = await send(place.namespace, { size: flood.size, count: WARM_UP_PPS * WARM_UP_SECONDS, pps: WARM_UP_PPS });
  await pause(SETTLE_MS);
  const before = threadSeconds(capturing.pid);
  const { sent, seconds } = await send(place.namespace, flood);
  await pause(DRAIN_MS);
  const used = threadSeconds(capturing.pid) - before;
  const rss_mb = peakMegabytes(capturing.pid);
  const { captured, seen: allSeen } = await capturing.stop();
  const dropped = Math.max(0, warm.sent + sent - captured);
  const counted = Math.max(0, sent - dropped);
  const each = (frames: number) => Math.round((used * 1e9) / Math.max(1, frames));
  const seen = allSeen === undefined ? {} : { seen: Math.max(0, allSeen - warm.sent), cpu_ns_per_seen: each(allSeen - warm.sent) };
  return { offered_pps: Math.round(sent / seconds), captured: counted, dropped, cpu_ns_per_packet: each(counted), rss_mb, ...seen };
}

async function send(namespace: string, { size, count, pps }: { readonly size: number; readonly count: number; readonly pps: number }): Promise<{ readonly sent: number; readonly seconds: number }> {
  const program = bundleProgram(fileURLToPath(new URL("capture-flood.ts", import.meta.url)));
  const args = ["netns", "exec", namespace, process.execPath, program, "vb", String(size), String(count), String(pps)];
  const { stdout } = await promisify(execFile)("ip", args, { timeout: LONGEST_FLOOD_MS, killSignal: "SIGKILL" });
  return JSON.parse(stdout) as { sent: number; seconds: number };
}

/** What `runs` come to; of several, the processor time is the median, and `worst` has what each was at its worst. */
function addUp(runs: readonly Run[]): Run & { readonly worst?: Omit<Run, "offered_pps" | "rss_mb"> } {
  const sum = (value: (run: Run) => number) => runs.reduce((total, run) => total + value(run), 0);
  const inOrder = (value: (run: Run) => number) => runs.map(value).toSorted((one, other) => one - other);
  const captured = sum((run) => run.captured);
  const costs = inOrder((run) => run.cpu_ns_per_packet);
  const seen = runs.every((run) => run.seen !== undefined) && { seen: sum((run) => run.seen ?? 0), cpu_ns_per_seen: inOrder((run) => run.cpu_ns_per_seen ?? 0)[runs.length >> 1] ?? 0 };
  const worst = { captured: Math.min(...runs.map((run) => run.captured)), dropped: Math.max(...runs.map((run) => run.dropped)), cpu_ns_per_packet: costs.at(-1) ?? 0 };
  return {
    offered_pps: Math.round(sum((run) => run.offered_pps) / runs.length), captured, dropped: sum((run) => run.dropped),
    cpu_ns_per_packet: costs[costs.length >> 1] ?? 0, rss_mb: Math.max(...runs.map((run) => run.rss_mb)), ...seen, ...(runs.length > 1 && { worst }),
  };
}

/** A namespace with the pair `va` and `vb`, where nothing else speaks. */
function openWriterPlace(folder: string): ProbePlace {
  const namespace = `lcap${process.pid}`;
  const ip = (...args: readonly string[]) => void execFileSync("ip", args, { stdio: "pipe" });
  ip("netns", "add", namespace);
  const remove = () => ip("netns", "del", namespace);
  try {
    execFileSync("ip", ["netns", "exec", namespace, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"], { stdio: "pipe" });
    ip("-n", namespace, "link", "add", "va", "type", "veth", "peer", "name", "vb");
    for (const link of ["va", "vb"]) ip("-n", namespace, "link", "set", link, "up");
  } catch (error) {
    remove();
    throw error;
  }
  return { place: { namespace, interface: "va", folder }, start: startWriter, close: () => Promise.resolve(remove()) };
}
