import { formatIp, ipv4Number, parseIp, parseMac } from "@lanthorn/packets";
import { describeError } from "@lanthorn/runtime";
import type { FrameSender } from "../egress/frame-sender.ts";
import { createNmapStage, type NmapStage, type NmapScanner } from "../nmap/nmap-stage.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import { addressesInRange, bytesOf, type RoutedRange } from "../probing/routed-addresses.ts";
import type { IdentifyService } from "./identification.ts";
import { openRunFor, type OpenRunDeps } from "./run/open-run.ts";
import { startPacedSearch } from "./paced-search.ts";
import { findByConnecting, scanByConnecting } from "./ports/connect-scan.ts";
import { createScanFindings, type ScanFindings } from "./scan-findings.ts";
import type { ScanPlan } from "./scan-plan.ts";
import type { ScanReport } from "./scan-report.ts";

/** What a scan does between its first event and its last. */
export interface ScanWork {
  /** An IPv4 neighbor spoke. */
  noteAnswer(address: Uint8Array): void;
  /** Ends everything, late answers too. */
  abort(reason: string): void;
  /** 0 to 1. */
  readonly progress: number;
  readonly done: Promise<WorkEnd>;
  /** After `done`: late answers are still taken until it resolves. */
  readonly lateDone: Promise<void>;
}

/** How a scan's work ended. */
export interface WorkEnd {
  readonly outcome: "completed" | "aborted";
  /** Why it was aborted, in words. */
  readonly reasons: readonly string[];
  readonly packetsSent: number;
}

/** What a scan needs of the daemon. A way that is null is not used. */
export interface ScanWorkDeps extends OpenRunDeps {
  /** The interface's name: link-local addresses are reached by it. */
  readonly interfaceName: string;
  /** Null where open ports are not asked what they are. */
  readonly identify: IdentifyService | null;
  /** UDP ports at which the vault has a credential for an address: a host that is silent to anonymous queries is polled there too. Default none. */
  readonly vaultPorts?: (ip: string) => readonly number[];
  /** Null where there is no profile `deep`, as with a capture file. */
  readonly nmap: NmapScanner | null;
  /** The paced way out, for searches that are to be gentle. */
  readonly sender: FrameSender;
  /** Questions went out: each may bring a host. */
  readonly onSent: (count: number) => void;
}

/** What the daemon brings for a scan's ways out. */
export type ScanWays = Pick<ScanWorkDeps, "interfaceName" | "openScanLink" | "routeTo" | "identify" | "vaultPorts" | "nmap">;

/** What our own part of a `deep` scan is of the whole. */
const OWN_SHARE_OF_DEEP = 0.2;

/** Begins a scan: by frames of its own and at full speed where it can and may, else by the paced sweeper and connections. */
export function startScanWork(deps: ScanWorkDeps, plan: ScanPlan, report: ScanReport): ScanWork {
  const stop = new AbortController();
  const { signal } = stop;
  const nmapStage = openNmapStage(deps, plan, report, signal);
  const findings = createScanFindings({ ...deps, plan, report, nmapStage, signal });
  const raw = openRunFor(deps, plan, findings.run, signal);
  const search = plan.ranges.length === 0 || (raw && !plan.isGentle) ? null : startPacedSearch({ ...deps, ranges: plan.ranges });

  async function run(): Promise<WorkEnd> {
    let swept = 0;
    const end = (outcome: WorkEnd["outcome"], reasons: readonly string[]) => ({ outcome, reasons, packetsSent: swept + (raw?.sent ?? 0) });
    // Nothing is reported before whoever began it has it.
    await Promise.resolve();
    try {
      const summary = await search?.done;
      swept = summary?.packetsSent ?? 0;
      if (summary?.outcome === "aborted") return end("aborted", summary.reasons);
      await (raw ? raw.run(search ? targetsOf(findings.up, deps.macAt) : []) : runByConnecting(deps, plan, findings, signal));
      findings.askSilentAgents();
      // nmap takes minutes anyway: who answers late is looked at too.
      if (nmapStage) await raw?.runLate();
      await findings.identified();
      if (!nmapStage) return end("completed", []);
      await nmapStage.run();
      await findings.identified();
      return end("completed", []);
    } catch (error) {
      return end("aborted", [describeError(error)]);
    }
  }
  function ownProgress(): number {
    if (!search) return raw?.progress ?? 0;
    const searched = search.progress(plan.hostsTotal - findings.up.size);
    return Math.max(0, Math.min(0.99, plan.tcpPorts.length === 0 ? searched : searched / 2 + (raw?.progress ?? 0) / 2));
  }
  const done = run();
  async function takeLate(): Promise<void> {
    try {
      const { outcome } = await done;
      if (outcome === "completed" && !nmapStage) await raw?.runLate();
      await findings.identified();
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ reason: describeError(error) }, "late answers of a scan were dropped");
    } finally {
      raw?.close();
    }
  }
  return {
    done,
    lateDone: takeLate(),
    noteAnswer(address) {
      // A raw search hears for itself, and takes nobody for up whom it could not reach.
      if (search) findings.host(formatIp(address), "", false);
      search?.noteAnswer(address);
    },
    get progress() {
      return nmapStage ? ownProgress() * OWN_SHARE_OF_DEEP + nmapStage.progress * (1 - OWN_SHARE_OF_DEEP) : ownProgress();
    },
    abort(reason) {
      stop.abort(new Error(reason));
      search?.abort(reason);
    },
  };
}

/** @returns Null where the plan wants no nmap, or there is none. */
function openNmapStage(deps: ScanWorkDeps, plan: ScanPlan, report: ScanReport, signal: AbortSignal): NmapStage | null {
  if (!plan.isDeep || !deps.nmap) return null;
  return createNmapStage({
    scanner: deps.nmap, isGentle: plan.isGentle, exclusions: deps.exclusions, signal, onPort: report.port,
    onFindings: ({ ip, verdicts }) => report.facts(ip, verdicts),
    onFault(reason) {
      deps.log.warn({ reason }, "a part of a deep scan failed");
      report.fault("deep-scan-incomplete", `nmap did not scan some of the hosts: ${reason}`);
    },
  });
}

/** Without frames of one's own: whom connections find, and what is open there. */
async function runByConnecting(deps: ScanWorkDeps, plan: ScanPlan, findings: ScanFindings, signal: AbortSignal): Promise<void> {
  const connecting = { zone: deps.interfaceName, excluded: deps.exclusions, signal };
  const beyond = [
    ...plan.routed.flatMap(addressesOf), ...plan.neighbors6.flatMap(({ observed }) => observed.map((bytes) => formatIp(bytes))),
  ];
  const isRouted = plan.routed.length > 0;
  if (beyond.length > 0) {
    await findByConnecting({ ...connecting, hosts: beyond, onHost: (ip) => findings.host(ip, deps.macAt(ip), isRouted) });
  }
  await scanByConnecting({
    ...connecting, hosts: [...findings.up], ports: plan.tcpPorts, onPort: (ip, port) => findings.open({ ip, protocol: "tcp", port }),
  });
}

/** IPv4 neighbors of which a MAC is known, as targets of frames. */
function targetsOf(addresses: Iterable<string>, macAt: (address: string) => string): readonly HostTarget[] {
  return [...addresses].flatMap((address): HostTarget[] => {
    const [bytes, mac] = [parseIp(address), parseMac(macAt(address))];
    return bytes?.length === 4 && mac ? [{ ip: ipv4Number(bytes), mac }] : [];
  });
}

function addressesOf(range: RoutedRange): readonly string[] {
  const addresses = addressesInRange(range);
  return Array.from({ length: range.count }, (_, place) => formatIp(bytesOf(addresses.at(place))));
}
