import type { CommandData, ProbeEvent } from "@lanthorn/contract";
import type { PacedSender } from "@lanthorn/packet-io";
import { formatIp } from "@lanthorn/packets";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type { EventSink } from "../hosts/telling.ts";
import { ipv4Number, prefixCovers } from "../observe/address-prefix.ts";
import type { Link } from "../observe/link.ts";
import type { Policy } from "./policy.ts";
import { createQuestionSender } from "./question-sender.ts";
import { planScan, type ScanPlan } from "./scan-plan.ts";
import { type BegunScan, createScansStore } from "./scans-store.ts";
import { startSweep, type Sweep } from "./sweeper.ts";

/** Scans that people ask for: of hosts, beside the sweeps by schedule. Each tells of itself by events, from `scan_started` to its end. */
export interface Scans {
  /** @returns How many addresses it asks, or in words why it does not begin. */
  start(scan: CommandData<"scan_start">): { readonly hostsTotal: number } | { readonly refused: string };
  /** Ends a scan. @returns Whether there was one; it has ended when the promise resolves. */
  cancel(scanId: string): Promise<boolean>;
  /** An IPv4 neighbour spoke. */
  noteAnswer(address: Uint8Array): void;
  /** Says of scans that an earlier run began and did not end that they have failed. */
  recover(): void;
  /** The interface has other addresses, or is down: null. A scan whose addresses are not on its link any more fails. */
  linkChanged(link: Link | null): void;
  /** Ends all scans as failed. */
  abort(reason: string): Promise<void>;
}

interface Running {
  readonly begun: BegunScan;
  readonly plan: ScanPlan;
  readonly startedAt: number;
  readonly sweep: Sweep;
  readonly ended: Promise<void>;
  /** Addresses that answered. */
  readonly up: Set<number>;
  /** Of them, those that are not told yet. */
  untold: Uint8Array[];
  /** How it is to end when its sweep is aborted. */
  ending: { readonly type: "scan_cancelled" } | { readonly type: "scan_failed"; readonly reason: string } | null;
  progress: number;
  told: { readonly progress: number; readonly at: number };
}

/** They share one rate, so more at once make each slower, not all faster. */
const MOST_AT_ONCE = 4;
const PASSES = 3;
const TELL_EVERY_MS = 1000;
/** At most fifty reports a scan, and one a minute however slow it is. */
const PROGRESS_STEP = 0.02;
const PROGRESS_AT_LEAST_MS = 60_000;
/** The contract's limit for one event. */
const HOSTS_IN_EVENT = 256;

export function createScans(deps: {
  readonly db: Database;
  readonly outbox: EventSink;
  readonly policy: Policy;
  readonly link: () => Link | null;
  readonly sender: Pick<PacedSender, "send">;
  readonly onSent: (count: number) => void;
  /** The MAC that now has an IPv4 address; empty where none was seen. */
  readonly macAt: (address: string) => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}): Scans {
  const { clock, policy, log } = deps;
  const store = createScansStore(deps.db);
  const running = new Map<string, Running>();

  const append = (...events: readonly ProbeEvent[]) => deps.outbox.append(events);
  /** Remembers and tells in one; where the disk takes nothing, it is at least told. */
  const appendWith = (remember: () => void, ...events: readonly ProbeEvent[]) => {
    try {
      deps.db.transaction(() => {
        remember();
        append(...events);
      })();
    } catch {
      append(...events);
    }
  };
  const now = () => toInstant(clock.now());
  const counts = ({ plan, up }: Running) => ({ hosts_total: plan.hostsTotal, hosts_up: up.size, ports_open: 0 });
  const holdPace = () => policy.hold(Math.min(Number.POSITIVE_INFINITY, ...[...running.values()].map(({ plan }) => plan.packetsPerSecond)));

  const takeResults = (scan: Running): ProbeEvent[] => {
    const hosts = scan.untold.map((address) => ({ ip: formatIp(address), mac: deps.macAt(formatIp(address)) }));
    scan.untold = [];
    return Array.from({ length: Math.ceil(hosts.length / HOSTS_IN_EVENT) }, (_, index) => ({
      type: "scan_results", occurred_at: now(),
      data: { scan_id: scan.begun.scan_id, hosts: hosts.slice(index * HOSTS_IN_EVENT, (index + 1) * HOSTS_IN_EVENT) },
    }));
  };
  const tell = (scan: Running) => {
    const at = clock.monotonic();
    const isDue = scan.progress - scan.told.progress >= PROGRESS_STEP || at - scan.told.at >= PROGRESS_AT_LEAST_MS;
    const events = takeResults(scan);
    if (isDue) {
      scan.told = { progress: scan.progress, at };
      events.push({ type: "scan_progress", occurred_at: now(), data: { ...scan.begun, progress: scan.progress, ...counts(scan) } });
    }
    if (events.length > 0) append(...events);
  };
  const finish = (scan: Running, done: Awaited<Sweep["done"]>) => {
    const seconds = Math.round((clock.monotonic() - scan.startedAt) / 10) / 100;
    const whole = { ...scan.begun, ...counts(scan), duration_seconds: seconds };
    const failed = (reason: string): ProbeEvent => ({
      type: "scan_failed", occurred_at: now(), data: { ...scan.begun, reason: reason.slice(0, 1024) },
    });
    const last = (): ProbeEvent => {
      if (done.outcome === "completed") return { type: "scan_complete", occurred_at: now(), data: whole };
      if (scan.ending?.type === "scan_cancelled") return { type: "scan_cancelled", occurred_at: now(), data: whole };
      return failed(scan.ending?.reason ?? done.reasons.join("; "));
    };
    const event = last();
    log.info(
      { scan_id: scan.begun.scan_id, ended: event.type, packets: done.packetsSent, hosts_up: scan.up.size, seconds }, "a scan ended",
    );
    appendWith(() => store.end(scan.begun.scan_id), ...takeResults(scan), event);
  };

  const fail = (scan: Running, reason: string) => {
    scan.ending ??= { type: "scan_failed", reason };
    scan.sweep.abort(reason);
    return scan.ended;
  };

  const begin = (begun: BegunScan, plan: ScanPlan) => {
    let pass = 0;
    const pacing = createQuestionSender({
      sender: deps.sender, onSent: deps.onSent,
      exclusions: () => ({ holds: (address) => policy.exclusions.holds(address) || plan.exclusions.holds(address), hasIpv6: true }),
      packetsPerSecond: () => Math.min(policy.packetsPerSecond, plan.packetsPerSecond),
    });
    const counting = {
      send(frames: Iterable<Uint8Array>, signal: AbortSignal) {
        pass += 1;
        let asked = 0;
        const most = Math.max(1, plan.hostsTotal - (scan?.up.size ?? 0));
        function* counted() {
          for (const frame of frames) {
            asked += 1;
            if (scan) scan.progress = Math.max(scan.progress, Math.min(0.99, (pass - 1 + asked / most) / PASSES));
            yield frame;
          }
        }
        return pacing.send(counted(), signal);
      },
    };
    let scan: Running | null = null;
    appendWith(() => store.begin(begun), { type: "scan_started", occurred_at: now(), data: { ...begun, hosts_total: plan.hostsTotal } });
    const sweep = startSweep({
      ...deps, sender: counting, ranges: plan.ranges, passes: PASSES, isSkipped: () => false, asksAllNodes: false,
    });
    const stopTelling = clock.every(TELL_EVERY_MS, () => scan && tell(scan));
    const ending = async () => {
      const done = await sweep.done;
      stopTelling();
      running.delete(begun.scan_id);
      holdPace();
      if (scan) finish(scan, done);
    };
    scan = {
      begun, plan, sweep, ended: ending(), startedAt: clock.monotonic(), up: new Set(), untold: [], ending: null, progress: 0,
      told: { progress: 0, at: clock.monotonic() },
    };
    running.set(begun.scan_id, scan);
    holdPace();
  };

  return {
    start(command) {
      const { scan_id, target, profile } = command;
      if (running.has(scan_id)) return { refused: "this scan is under way already" };
      if (running.size >= MOST_AT_ONCE) return { refused: `${MOST_AT_ONCE} scans are under way already` };
      const plan = planScan(command, { link: deps.link(), policy });
      if ("refused" in plan) return plan;
      begin({ scan_id, target, profile }, plan);
      return { hostsTotal: plan.hostsTotal };
    },
    async cancel(scanId) {
      const scan = running.get(scanId);
      if (!scan) return false;
      scan.ending ??= { type: "scan_cancelled" };
      scan.sweep.abort("cancelled");
      await scan.ended;
      return true;
    },
    noteAnswer(address) {
      if (running.size === 0) return;
      const value = ipv4Number(address);
      for (const { plan, up, untold, sweep } of running.values()) {
        const isTarget = plan.ranges.some(({ first, count }) => value >= first && value < first + count);
        if (!isTarget || up.has(value) || policy.exclusions.holds(address) || plan.exclusions.holds(address)) continue;
        up.add(value);
        untold.push(address.slice());
        sweep.noteAnswer(address);
      }
    },
    recover() {
      for (const begun of store.left()) {
        appendWith(() => store.end(begun.scan_id), {
          type: "scan_failed", occurred_at: now(), data: { ...begun, reason: "the probe was started again" },
        });
      }
    },
    linkChanged(link) {
      const isOn = ({ plan }: Running) => plan.ranges.every(({ network }) => link?.own.some(({ subnet }) => prefixCovers(subnet, network)));
      for (const scan of running.values()) if (!isOn(scan)) void fail(scan, "the interface went down or changed its addresses");
    },
    async abort(reason) {
      await Promise.all([...running.values()].map((scan) => fail(scan, reason)));
    },
  };
}
