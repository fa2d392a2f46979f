import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAnsweringNetwork } from "../../apps/probe/src/scan/testing/answering-network.ts";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { addressNumber, type PeerResult, runPeer } from "./scan-peers.ts";
import type { SweepRequest, SweepResult } from "./sweep-probe.ts";
import { describeRow, summarize, type SweepRow, type SweepRun as Run } from "./sweep-summary.ts";

const INSIDE = fileURLToPath(new URL("sweep-probe.ts", import.meta.url));
const FIRST = addressNumber("10.66.0.0");
/** The scanner's own address, which nobody else has. */
const OWN = addressNumber("10.66.255.1");

/** masscan --arp hangs on a quiet link; its frames are out within a second, and it waits for three more. */
const MASSCAN_LONGEST_MS = 20_000;

interface Layout {
  readonly prefix: number;
  readonly live: "sparse" | "dense" | "late";
  /** First address and count of those that answer at once. */
  readonly ranges: readonly (readonly [number, number])[];
  /** Address and milliseconds. */
  readonly late: readonly (readonly [number, number])[];
}

const every = (count: number, step: number): readonly (readonly [number, number])[] =>
  Array.from({ length: count }, (_, index) => [FIRST + 2 + index * step, 1]);
const LAYOUTS: readonly Layout[] = [
  { prefix: 24, live: "sparse", ranges: every(64, 3), late: [] },
  { prefix: 24, live: "dense", ranges: [[FIRST + 1, 254]], late: [] },
  { prefix: 20, live: "sparse", ranges: every(256, 15), late: [] },
  { prefix: 20, live: "dense", ranges: [[FIRST + 1, 4094]], late: [] },
  { prefix: 16, live: "sparse", ranges: every(1024, 61), late: [] },
  { prefix: 16, live: "dense", ranges: [[FIRST + 1, 65_534]], late: [] },
  {
    prefix: 24, live: "late", ranges: every(54, 3),
    late: Array.from({ length: 10 }, (_, index) => [FIRST + 200 + index, 1000 + Math.round((index * 1500) / 9)]),
  },
];

/**
 * A probe that runs, enrolled at a collector, searches hosts that each have a MAC of their own, beside arp-scan, nmap and masscan in the
 * same run. Ours is timed from the request to the collector to `scan_complete` as the probe says it, peers as whole processes; `found` are
 * the scan's results five seconds later, so that late answers count. Rows as arguments, `24-sparse`; `--no-peers` for ours alone,
 * `--peer=arp-scan -B 100M` for one of the others, and `--repeat N` for the median and the worst of N measurements of each row.
 */
export async function run(args: readonly string[]): Promise<void> {
  const repeats = readRepeats(args);
  const packages = await unpackDebianPackages(["nmap", "masscan", "arp-scan"]);
  const peer = args.find((arg) => arg.startsWith("--peer="))?.slice("--peer=".length);
  const isPeerMeant = (name: string) => !args.includes("--no-peers") && (peer === undefined || peer === name);
  const wanted = LAYOUTS.filter(({ prefix, live }) => args.includes(`${prefix}-${live}`));
  const rows: SweepRow[] = [];
  for (const layout of wanted.length === 0 ? LAYOUTS : wanted) {
    const runs: Run[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1) runs.push(await measure(layout, packages, isPeerMeant));
    const row = summarize(layout, runs);
    if (repeats > 1) console.log(`/${row.prefix} ${row.live}, ${repeats} times: ${describeRow(row)}`);
    rows.push(row);
  }
  console.log(JSON.stringify({ bench: "sweep", rows }));
}

/** @throws Error where it is no number from 1 to 100. */
function readRepeats(args: readonly string[]): number {
  const at = args.findIndex((arg) => arg === "--repeat" || arg.startsWith("--repeat="));
  if (at < 0) return 1;
  const repeats = Number(args[at]?.split("=")[1] ?? args[at + 1]);
  if (!Number.isInteger(repeats) || repeats < 1 || repeats > 100) throw new Error("--repeat takes a number from 1 to 100");
  return repeats;
}

async function measure(layout: Layout, packages: DebianRoot, isPeerMeant: (name: string) => boolean): Promise<Run> {
  const network = createAnsweringNetwork();
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-sweep-"));
  try {
    await network.answerArp(layout.ranges, layout.late);
    const addresses = [
      ...layout.ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, index) => first + index)),
      ...layout.late.map(([ip]) => ip),
    ];
    const truth = new Set(addresses.filter((ip) => ip !== OWN).map(addressText));
    const request: SweepRequest = { folder, target: `10.66.0.0/${layout.prefix}`, interface: "lan0" };
    const node = [
      process.execPath, "--import", import.meta.resolve("tsx"), "--conditions=@lanthorn/source", INSIDE, JSON.stringify(request),
    ];
    const { stdout } = await promisify(execFile)("ip", ["netns", "exec", network.scanner, ...node], { maxBuffer: 1e8, timeout: 600_000 });
    const { hosts, ...own } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as SweepResult & { readonly hosts: readonly string[] };
    const known = new Set(hosts);
    const found = [...truth].filter((ip) => known.has(ip)).length;
    console.log(`/${layout.prefix} ${layout.live}: ours ${JSON.stringify({ truth: truth.size, found, ...own })}`);
    const peers = await runPeers(network.scanner, { packages, truth, target: request.target, isPeerMeant });
    return { own, found, truth: truth.size, peers };
  } finally {
    network.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runPeers(
  namespace: string,
  { packages, truth, target, isPeerMeant }: {
    readonly packages: DebianRoot; readonly truth: ReadonlySet<string>; readonly target: string;
    readonly isPeerMeant: (name: string) => boolean;
  },
): Promise<Run["peers"]> {
  const arpScan = ["--interface", "lan0", "--quiet", "--plain", target];
  const nmap = ["-n", "-sn", "-oG", "-", target];
  const arpScanHosts = (text: string) => [...text.matchAll(/^(\d+\.\d+\.\d+\.\d+)\s/gm)].map(([, ip = ""]) => ip);
  const nmapHosts = (text: string) => [...text.matchAll(/^Host: (\S+) .*Status: Up/gm)].map(([, ip = ""]) => ip);
  const masscanHosts = (text: string) => [...text.matchAll(/^up arp 0 (\S+)/gm)].map(([, ip = ""]) => ip);
  const peers = [
    ["arp-scan", "arp-scan", arpScan, arpScanHosts],
    ["arp-scan -B 100M", "arp-scan", ["-B", "100M", ...arpScan], arpScanHosts],
    ["nmap -sn", "nmap", nmap, nmapHosts],
    ["nmap -sn -T4 --min-rate 5000", "nmap", ["-T4", "--min-rate", "5000", ...nmap], nmapHosts],
    ["masscan --arp", "masscan", [
      "--arp", target, "--rate", "100000", "--wait", "3", "-oL", "-", "--adapter", "lan0", "--adapter-ip", "10.66.255.1", "--router-mac",
      "02:00:0a:42:00:01",
    ], masscanHosts, MASSCAN_LONGEST_MS],
  ] as const;
  const results: [string, PeerResult][] = [];
  for (const [name, program, args, read, longestMs] of peers) {
    if (!isPeerMeant(name)) continue;
    const bound = longestMs === undefined ? {} : { longestMs };
    const result = await runPeer({ namespace, program: packages.command(program), args, read, truth, ...bound });
    console.log(`  ${name}: ${JSON.stringify(result)}`);
    results.push([name, result]);
  }
  return Object.fromEntries(results);
}

function addressText(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}
