import { formatIp, formatPrefix, parseIp } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { Exclusions } from "../egress/exclusions.ts";
import { nmapArguments } from "./arguments.ts";
import type { FindProgram } from "./find-program.ts";
import { findingsOf, type NmapFindings } from "./host-findings.ts";
import { type NmapEnd, runNmap } from "./run-nmap.ts";

/** Hosts that nmap is to scan, and what is open on them. */
export interface NmapOrder {
  /** Each with at least one open TCP port. */
  readonly hosts: readonly { readonly ip: string; readonly ports: readonly number[] }[];
  /** Whether a switch guards its ports against many ARP requests: then a few hosts at a time. */
  readonly isGentle: boolean;
  /** Asked again before each run, and while it goes on. */
  readonly exclusions: () => Exclusions;
  readonly signal: AbortSignal;
  /** As each host is finished. */
  readonly onFindings: (findings: NmapFindings) => void;
  /** 0 to 1. */
  readonly onProgress: (done: number) => void;
  /** A part of it failed, and the rest goes on. */
  readonly onFault: (reason: string) => void;
}

/** @throws The signal's reason; and an error when every run has failed. */
export type ScanWithNmap = (order: NmapOrder) => Promise<void>;

/**
 * nmap reports a host when all hosts of its run are done, so a run has few; two runs at once, as each mostly waits, and holds 63
 * MB before it has asked anybody.
 */
const HOSTS_IN_RUN = 8;
const RUNS_AT_ONCE = 2;
/** It asks for their MACs all at once. */
const HOSTS_IN_GENTLE_RUN = 4;
const CHECK_EXCLUSIONS_MS = 250;

interface NmapDeps {
  readonly find: FindProgram;
  readonly interfaceName: string;
  readonly every: Clock["every"];
}

/** Has nmap scan hosts that our own search has found, at the ports that our own scan has found open, some hosts at a time. */
export async function scanWithNmap(deps: NmapDeps, order: NmapOrder): Promise<void> {
  const { signal } = order;
  const size = order.isGentle ? HOSTS_IN_GENTLE_RUN : HOSTS_IN_RUN;
  const waiting = [4, 6].flatMap((family) => inRuns(order.hosts.filter(({ ip }) => parseIp(ip)?.length === (family === 4 ? 4 : 16)), size));
  const total = waiting.length;
  const progress = new Map<number, number>();
  let failed = 0;
  const noteProgress = (run: number, done: number) => {
    progress.set(run, Math.max(progress.get(run) ?? 0, done));
    order.onProgress([...progress.values()].reduce((sum, one) => sum + one, 0) / total);
  };
  const work = async () => {
    for (let hosts = waiting.shift(); hosts; hosts = waiting.shift()) {
      const run = total - waiting.length;
      const end = await runOnce(deps, order, hosts, (done) => noteProgress(run, done));
      signal.throwIfAborted();
      noteProgress(run, 1);
      if (end.ok) continue;
      failed += 1;
      order.onFault(end.reason);
      if (failed === total) throw new Error(end.reason);
    }
  };
  await Promise.all(Array.from({ length: order.isGentle ? 1 : RUNS_AT_ONCE }, work));
  signal.throwIfAborted();
}

type Hosts = NmapOrder["hosts"];

/** One run; and another one without them, when some of its hosts are excluded on the way. */
async function runOnce(deps: NmapDeps, order: NmapOrder, hosts: Hosts, onProgress: (done: number) => void): Promise<NmapEnd> {
  const program = deps.find("nmap");
  if (!program) return { ok: false, reason: "nmap is no longer on this probe's PATH" };
  const mayAsk = (ip: string) => !order.exclusions().holds(parseIp(ip) ?? new Uint8Array(4));
  const asked = hosts.filter(({ ip }) => mayAsk(ip));
  if (asked.length === 0) return { ok: true };
  const family = parseIp(asked[0]?.ip ?? "")?.length === 16 ? 6 : 4;
  const targets = new Set(asked.map(({ ip }) => ip));
  const forbidden = new AbortController();
  const stopChecking = deps.every(CHECK_EXCLUSIONS_MS, () => {
    if (!asked.every(({ ip }) => mayAsk(ip))) forbidden.abort();
  });
  const end = await runNmap({
    program, setpriv: deps.find("setpriv"), targets: [...targets], signal: AbortSignal.any([order.signal, forbidden.signal]), onProgress,
    args: nmapArguments({
      family, interfaceName: deps.interfaceName, ports: asked.flatMap(({ ports }) => ports),
      excluded: order.exclusions().prefixes.filter(({ bytes }) => bytes.length === (family === 6 ? 16 : 4)).map(formatPrefix)
        .slice(0, MAX_EXCLUDED),
    }),
    onHost(host) {
      const findings = findingsOf(host);
      const address = findings && parseIp(findings.ip);
      const ip = address ? formatIp(address) : "";
      // Whatever it says: nobody else was to be asked.
      if (findings && targets.has(ip) && mayAsk(ip)) order.onFindings({ ...findings, ip });
    },
  });
  stopChecking();
  return forbidden.signal.aborted && !order.signal.aborted ? runOnce(deps, order, asked, onProgress) : end;
}

/** Linux takes 128 KiB in one argument; targets are named one by one, and those that are excluded are not among them. */
const MAX_EXCLUDED = 2500;

function inRuns(hosts: Hosts, size: number): Hosts[] {
  return Array.from({ length: Math.ceil(hosts.length / size) }, (_, index) => hosts.slice(index * size, (index + 1) * size));
}
