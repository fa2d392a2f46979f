import type { CommandData, ProbeEvent } from "@lanthorn/contract/uplink";
import { ipv4Number, prefixCovers } from "@lanthorn/packets";
import { toInstant } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type { Link } from "../capture/link.ts";
import { createPublisher } from "../queue/publisher.ts";
import { type RunningScan, type RunningScanDeps, startScan } from "./running-scan.ts";
import { planScan } from "./scan-plan.ts";
import { createReportedSoftware } from "./software-reports.ts";
import { createScansStore } from "./scans-store.ts";

/** Scans that people ask for, beside the sweeps by schedule. Each tells of itself by events, from `scan_started` to its end. */
export interface Scans {
  /** @returns How many addresses it asks, or in words why it does not begin. */
  start(scan: CommandData<"scan_start">): { readonly hostsTotal: number } | { readonly refused: string };
  /** Ends a scan. @returns Whether there was one; it has ended when the promise resolves. */
  cancel(scanId: string): Promise<boolean>;
  /** An IPv4 neighbor spoke. */
  onSpoken(address: Uint8Array): void;
  /** DNS calls an address so. */
  onName(ip: string, name: string): void;
  /** Says of scans that an earlier run began and did not end that they have failed. */
  recover(): void;
  /** The interface has other addresses, or is down: null. A scan whose addresses are not on its link any more fails. */
  linkChanged(link: Link | null): void;
  /** Ends all scans as failed. */
  abort(reason: string): Promise<void>;
}

/** They share one rate, so more at once make each slower, not all faster. */
const MAX_AT_ONCE = 4;

/** @param deps.online6 IPv6 addresses where hosts are known to be. */
export function createScans(deps: Omit<RunningScanDeps, "reported"> & {
  readonly db: Database;
  readonly online6: () => readonly Uint8Array[];
}): Scans {
  const { clock, policy } = deps;
  const store = createScansStore(deps.db);
  const publisher = createPublisher({ ...deps, what: "scans" });
  const reported = createReportedSoftware();
  const running = new Map<string, RunningScan>();
  /** Those that run, and those that have ended and still take late answers. */
  const late = new Set<RunningScan>();
  const holdPace = () => policy.hold(Math.min(Number.POSITIVE_INFINITY, ...[...running.values()].map(({ plan }) => plan.packetsPerSecond)));

  return {
    start(command) {
      const { scan_id, target, profile } = command;
      if (running.has(scan_id)) return { refused: "this scan is already running" };
      if (running.size >= MAX_AT_ONCE) return { refused: `${MAX_AT_ONCE} scans are already running` };
      const plan = planScan(command, {
        link: deps.link(), policy, online6: deps.online6, hasOwnFrames: deps.openScanLink !== null,
        deepProblem: () => (deps.nmap ? deps.nmap.problem() : "this probe cannot run nmap"),
      });
      if ("refused" in plan) return plan;
      const scan = startScan({ scan_id, target, profile }, plan, { ...deps, reported, publisher, store });
      running.set(scan_id, scan);
      late.add(scan);
      void scan.ended.finally(() => {
        running.delete(scan_id);
        holdPace();
      });
      void scan.lateEnded.finally(() => late.delete(scan));
      holdPace();
      return { hostsTotal: plan.hostsTotal };
    },
    async cancel(scanId) {
      const scan = running.get(scanId);
      await scan?.end({ type: "scan_cancelled" });
      return scan !== undefined;
    },
    onSpoken(address) {
      if (running.size === 0) return;
      const value = ipv4Number(address);
      for (const scan of running.values()) {
        const isTarget = scan.plan.ranges.some(({ first, count }) => value >= first && value < first + count);
        if (isTarget && !policy.exclusions.holds(address) && !scan.plan.exclusions.holds(address)) scan.noteAnswer(address);
      }
    },
    onName(ip, name) {
      for (const scan of late) scan.noteName(ip, name);
    },
    recover() {
      for (const begun of store.left()) {
        const data = { ...begun, reason: "the probe was restarted" };
        const failed: ProbeEvent = { type: "scan_failed", occurred_at: toInstant(clock.now()), data };
        publisher.publishAnyway([failed], () => store.end(begun.scan_id));
      }
    },
    linkChanged(link) {
      const isOn = ({ plan }: RunningScan) =>
        link !== null && plan.ranges.every(({ network }) => link.own.some(({ subnet }) => prefixCovers(subnet, network)));
      const reason = "the interface went down or changed its addresses";
      for (const scan of running.values()) if (!isOn(scan)) void scan.end({ type: "scan_failed", reason });
    },
    async abort(reason) {
      const all = [...late];
      await Promise.all([...running.values()].map((scan) => scan.end({ type: "scan_failed", reason })));
      await Promise.all(all.map((scan) => scan.abort(reason)));
    },
  };
}
