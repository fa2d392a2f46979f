import type { CommandData, EventData, ProbeEvent } from "@lanthorn/contract/uplink";
import type { PacedSender } from "@lanthorn/packet-io";
import { deviceClaims } from "@lanthorn/fingerprints";
import { toInstant } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type { SaidFact } from "../hosts/facts.ts";
import { type FactsTaker, portFacts, serviceFacts } from "../hosts/service-facts.ts";
import { ipv4Number, prefixCovers } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { bothExclusions } from "../egress/exclusions.ts";
import { createFrameSender } from "../egress/frame-sender.ts";
import type { Nameable } from "../naming/reverse-names.ts";
import { createRoutedHosts, type RoutedHosts } from "../routed/routed-hosts.ts";
import { planScan, type ScanPlan } from "./scan-plan.ts";
import { type Remark, startScanWork, type ScanWork, type ScanWays, type ScanWorkDeps } from "./scan-work.ts";
import { type BegunScan, createScansStore } from "./scans-store.ts";

/** Scans that people ask for, beside the sweeps by schedule. Each tells of itself by events, from `scan_started` to its end. */
export interface Scans {
  /** @returns How many addresses it asks, or in words why it does not begin. */
  start(scan: CommandData<"scan_start">): { readonly hostsTotal: number } | { readonly refused: string };
  /** Ends a scan. @returns Whether there was one; it has ended when the promise resolves. */
  cancel(scanId: string): Promise<boolean>;
  /** An IPv4 neighbour spoke. */
  noteAnswer(address: Uint8Array): void;
  /** DNS calls an address so. */
  noteName(ip: string, name: string): void;
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
  readonly work: ScanWork;
  readonly ended: Promise<void>;
  /** How many addresses answered, and what was found at each open port. */
  hostsUp: number;
  readonly open: Map<string, string>;
  /** Hosts and ports that are not told yet. */
  readonly untoldHosts: EventData<"scan_results">["hosts"];
  untoldPorts: ProbeEvent[];
  readonly routed: RoutedHosts;
  /** Remarks whose device is not known yet. */
  unplaced: Remark[];
  /** How it is to end when its sweep is aborted. */
  ending: { readonly type: "scan_cancelled" } | { readonly type: "scan_failed"; readonly reason: string } | null;
  progress: number;
  told: { readonly progress: number; readonly at: number };
}

/** They share one rate, so more at once make each slower, not all faster. */
const MOST_AT_ONCE = 4;
/** What is found is told together, but soon. */
const TELL_EVERY_MS = 250;
/** So many hosts at a time, and the rest with the scan's end: a search that finds fifty thousand a second must not wait for its telling. */
const HOSTS_TOLD_AT_ONCE = 2048;
/** At most fifty reports a scan, and one a minute however slow it is. */
const PROGRESS_STEP = 0.02;
const PROGRESS_AT_LEAST_MS = 60_000;
/** The contract's limit for one event. */
const HOSTS_IN_EVENT = 256;
const UNKNOWN = { service: "", version: "", banner: "" } as const;

export function createScans(deps: {
  readonly db: Database;
  readonly outbox: EventSink;
  readonly policy: EgressPolicy;
  readonly sender: Pick<PacedSender, "send">;
  /** What services, open ports and a device's ways say of hosts. */
  readonly facts: Pick<FactsTaker, "noteAt" | "noteRole">;
  /** Who is at these addresses is told now, if not yet: the collector keeps no port of a device that it does not know. */
  readonly announce: (addresses: readonly string[]) => void;
  /** A part of a scan was not done. */
  readonly onFault: (code: string, message: string) => void;
  readonly online6: () => readonly Uint8Array[];
  /** A scan saw a host behind a router. */
  readonly onRouted: (ip: string) => void;
  /** As of `createRoutedHosts`. */
  readonly wantName: (host: Nameable) => boolean;
} & ScanWays & Pick<ScanWorkDeps, "link" | "online" | "macAt" | "onSent" | "clock" | "random" | "log">): Scans {
  const { clock, policy, log } = deps;
  const store = createScansStore(deps.db);
  const running = new Map<string, Running>();
  /** Those that run, and those that have ended and still take late answers. */
  const late = new Set<Running>();

  const append = (...events: readonly ProbeEvent[]) => deps.outbox.append(events);
  const publisher = createPublisher({ ...deps, what: "scans" });
  const now = () => toInstant(clock.now());
  const counts = ({ plan, hostsUp, open }: Running) => ({ hosts_total: plan.hostsTotal, hosts_up: hostsUp, ports_open: open.size });
  const holdPace = () => policy.hold(Math.min(Number.POSITIVE_INFINITY, ...[...running.values()].map(({ plan }) => plan.packetsPerSecond)));

  const takeResults = (scan: Running, mostHosts = Number.POSITIVE_INFINITY): ProbeEvent[] => {
    // A host that just spoke is in the table by now.
    const hosts = scan.untoldHosts.splice(0, mostHosts).map((host) => ({ ...host, mac: host.mac || deps.macAt(host.ip) }));
    const ports = scan.untoldPorts.map((event): ProbeEvent => (
      event.type === "port_found" ? { ...event, data: { ...event.data, mac: deps.macAt(event.data.ip) } } : event
    ));
    const withPorts = new Set(ports.flatMap((event) => (event.type === "port_found" ? [event.data.ip] : [])));
    if (withPorts.size > 0) deps.announce([...withPorts]);
    scan.untoldPorts = [];
    const results = Array.from({ length: Math.ceil(hosts.length / HOSTS_IN_EVENT) }, (_, index): ProbeEvent => ({
      type: "scan_results", occurred_at: now(),
      data: { scan_id: scan.begun.scan_id, hosts: hosts.slice(index * HOSTS_IN_EVENT, (index + 1) * HOSTS_IN_EVENT) },
    }));
    return [...scan.routed.take(), ...results, ...ports];
  };
  const tell = (scan: Running) => {
    const at = clock.monotonic();
    scan.progress = Math.max(scan.progress, scan.work.progress);
    const isDue = scan.progress - scan.told.progress >= PROGRESS_STEP || at - scan.told.at >= PROGRESS_AT_LEAST_MS;
    // Behind its end, only what came late.
    const isRunning = running.get(scan.begun.scan_id) === scan;
    const events = takeResults(scan, isRunning ? HOSTS_TOLD_AT_ONCE : Number.POSITIVE_INFINITY);
    scan.unplaced = scan.unplaced.filter((remark) => !deps.facts.noteRole(remark));
    if (isDue && isRunning) {
      scan.told = { progress: scan.progress, at };
      events.push({ type: "scan_progress", occurred_at: now(), data: { ...scan.begun, progress: scan.progress, ...counts(scan) } });
    }
    if (events.length > 0) append(...events);
  };
  const finish = (scan: Running, done: Awaited<ScanWork["done"]>) => {
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
      {
        scan_id: scan.begun.scan_id, ended: event.type, packets: done.packetsSent,
        hosts_up: scan.hostsUp, ports_open: scan.open.size, seconds,
      }, "a scan ended",
    );
    publisher.publishAnyway([...takeResults(scan), event], () => store.end(scan.begun.scan_id));
  };

  const fail = (scan: Running, reason: string) => {
    scan.ending ??= { type: "scan_failed", reason };
    scan.work.abort(reason);
    return scan.ended;
  };

  const begin = (begun: BegunScan, plan: ScanPlan) => {
    const exclusions = () => bothExclusions(policy.exclusions, plan.exclusions);
    const paced = createFrameSender({
      sender: deps.sender, onSent: deps.onSent, exclusions: () => ({ ...exclusions(), hasIpv6: true }),
      packetsPerSecond: () => Math.min(policy.packetsPerSecond, plan.packetsPerSecond),
    });
    const started: ProbeEvent = { type: "scan_started", occurred_at: now(), data: { ...begun, hosts_total: plan.hostsTotal } };
    publisher.publishAnyway([started], () => store.begin(begun));
    const found = {
      hostsUp: 0, routed: createRoutedHosts(deps), unplaced: [] as Remark[], open: new Map<string, string>(),
      untoldHosts: [] as Running["untoldHosts"], untoldPorts: [] as ProbeEvent[],
    };
    const learn = (ip: string, facts: readonly SaidFact[]) => {
      deps.facts.noteAt(ip, facts);
      scan.routed.learn(ip, facts);
    };
    const searchFramesPerSecond = Math.min(plan.packetsPerSecond, plan.isGentle ? policy.packetsPerSecond : Number.POSITIVE_INFINITY);
    const work = startScanWork({
      ...deps, sender: paced, exclusions, framesPerSecond: policy.scanPacketsPerSecond, searchFramesPerSecond,
    }, plan, {
      host({ ip, mac, isRouted }) {
        scan.hostsUp += 1;
        scan.untoldHosts.push({ ip, mac });
        if (!isRouted) return;
        scan.routed.add(ip);
        deps.onRouted(ip);
      },
      port({ ip, protocol, port }, finding) {
        scan.open.set(`${ip} ${protocol} ${port}`, finding ? `${finding.service} ${finding.version}`.trim() : "");
        if (finding?.claims && finding.keys) learn(ip, serviceFacts(port, { claims: finding.claims, keys: finding.keys }));
        const { service, version, banner } = finding ?? UNKNOWN;
        scan.untoldPorts.push({
          type: "port_found", occurred_at: now(),
          data: { ip, mac: "", port, protocol, state: "open", service, version, banner, scan_id: begun.scan_id },
        });
      },
      facts: (ip, verdicts) => learn(ip, deviceClaims(Object.values(verdicts))),
      fault: deps.onFault,
      counts(ip, counts) {
        scan.untoldHosts.push({ ip, mac: "", port_counts: counts });
      },
      remark(remark) {
        scan.unplaced.push(remark);
        scan.untoldPorts.push({ type: "scan_remark", occurred_at: now(), data: { ...remark, scan_id: begun.scan_id } });
      },
    });
    const stopTelling = clock.every(TELL_EVERY_MS, () => tell(scan));
    const ending = async () => {
      const done = await work.done;
      running.delete(begun.scan_id);
      holdPace();
      finish(scan, done);
    };
    const scan: Running = {
      begun, plan, work, ended: ending(), startedAt: clock.monotonic(), ...found, ending: null, progress: 0,
      told: { progress: 0, at: clock.monotonic() },
    };
    running.set(begun.scan_id, scan);
    late.add(scan);
    void work.lateDone.finally(() => {
      stopTelling();
      for (const [ip, facts] of portFacts(scan.open)) learn(ip, facts);
      late.delete(scan);
      tell(scan);
    });
    holdPace();
  };

  return {
    start(command) {
      const { scan_id, target, profile } = command;
      if (running.has(scan_id)) return { refused: "this scan is under way already" };
      if (running.size >= MOST_AT_ONCE) return { refused: `${MOST_AT_ONCE} scans are under way already` };
      const plan = planScan(command, {
        link: deps.link(), policy, online6: deps.online6, hasOwnFrames: deps.openScanLink !== null,
        deepProblem: () => (deps.deepLook ? deps.deepLook.problem() : "this probe has no way to run nmap"),
      });
      if ("refused" in plan) return plan;
      begin({ scan_id, target, profile }, plan);
      return { hostsTotal: plan.hostsTotal };
    },
    async cancel(scanId) {
      const scan = running.get(scanId);
      if (!scan) return false;
      scan.ending ??= { type: "scan_cancelled" };
      scan.work.abort("cancelled");
      await scan.ended;
      return true;
    },
    noteAnswer(address) {
      if (running.size === 0) return;
      const value = ipv4Number(address);
      for (const { plan, work } of running.values()) {
        const isTarget = plan.ranges.some(({ first, count }) => value >= first && value < first + count);
        if (isTarget && !policy.exclusions.holds(address) && !plan.exclusions.holds(address)) work.noteAnswer(address);
      }
    },
    noteName(ip, name) {
      for (const scan of late) scan.routed.noteName(ip, name);
    },
    recover() {
      for (const begun of store.left()) {
        const failed: ProbeEvent = { type: "scan_failed", occurred_at: now(), data: { ...begun, reason: "the probe was started again" } };
        publisher.publishAnyway([failed], () => store.end(begun.scan_id));
      }
    },
    linkChanged(link) {
      const isOn = ({ plan }: Running) =>
        link !== null && plan.ranges.every(({ network }) => link.own.some(({ subnet }) => prefixCovers(subnet, network)));
      for (const scan of running.values()) if (!isOn(scan)) void fail(scan, "the interface went down or changed its addresses");
    },
    async abort(reason) {
      const all = [...late];
      await Promise.all([...running.values()].map((scan) => fail(scan, reason)));
      for (const { work } of all) work.abort(reason);
      await Promise.all(all.map(({ work }) => work.lateDone));
    },
  };
}
