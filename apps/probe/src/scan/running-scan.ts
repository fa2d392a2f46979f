import { type EventData, formatPortRanges, type ProbeEvent } from "@lanthorn/contract/uplink";
import type { PacedSender } from "@lanthorn/packet-io";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import { bothExclusions } from "../egress/exclusions.ts";
import { createFrameSender } from "../egress/frame-sender.ts";
import { DISCOVERY_FRAMES } from "../egress/frames.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { EventSink, Publisher } from "../queue/publisher.ts";
import { createScanRecord, type ScanRecordDeps } from "./scan-record.ts";
import type { ScanPlan } from "./scan-plan.ts";
import { startScanWork, type ScanWays, type ScanWork, type ScanWorkDeps, type WorkEnd } from "./scan-work.ts";
import type { BegunScan, ScansStore } from "./scans-store.ts";

/** One scan, from `scan_started` to its end and the late answers behind it. */
export interface RunningScan {
  readonly plan: ScanPlan;
  /** An IPv4 neighbor of its target spoke. */
  noteAnswer(address: Uint8Array): void;
  /** DNS calls an address so. */
  noteName(ip: string, name: string): void;
  /** Ends the scan, unless it is ending already. @returns Resolves when its last event is written. */
  end(ending: Ending): Promise<void>;
  /** Ends late answers too. */
  abort(reason: string): Promise<void>;
  /** Its last event is written. */
  readonly ended: Promise<void>;
  /** It takes no late answers any more. */
  readonly lateEnded: Promise<void>;
}

/** How a scan ends when its work is aborted. */
export type Ending = { readonly type: "scan_cancelled" } | { readonly type: "scan_failed"; readonly reason: string };

/** What a scan needs of the probe. */
export type RunningScanDeps = ScanRecordDeps & ScanWays & Pick<ScanWorkDeps, "link" | "online" | "onSent" | "claims"> & {
  readonly policy: EgressPolicy;
  readonly sender: Pick<PacedSender, "send">;
  readonly outbox: EventSink;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

/** What is found is reported together, but soon. */
const REPORT_EVERY_MS = 250;
/** So many hosts at a time, and the rest with the scan's end: a search that finds fifty thousand a second must not wait for its reports. */
const MAX_HOSTS_A_REPORT = 2048;
/** At most fifty reports a scan, and one a minute however slow it is. */
const PROGRESS_STEP = 0.02;
const PROGRESS_AT_LEAST_MS = 60_000;

/** Begins a scan and reports it. @param deps.publisher Writes its first and its last event together with `deps.store`. */
export function startScan(begun: BegunScan, plan: ScanPlan, deps: RunningScanDeps & {
  readonly publisher: Publisher;
  readonly store: Pick<ScansStore, "begin" | "end">;
}): RunningScan {
  const { clock, publisher, store } = deps;
  const now = () => toInstant(clock.now());
  publisher.publishAnyway(
    [{ type: "scan_started", occurred_at: now(), data: { ...begun, hosts_total: plan.hostsTotal, ports: askedPorts(plan) } }],
    () => store.begin(begun),
  );
  const record = createScanRecord(begun, deps);
  const work = startWork(plan, deps, record.report);
  const startedAt = clock.monotonic();
  let ending: Ending | null = null;
  let isRunning = true;
  let progress = 0;
  let reported = { progress: 0, at: startedAt };

  const counts = () => ({ hosts_total: plan.hostsTotal, ...record.counts });
  const reportSome = () => {
    const at = clock.monotonic();
    progress = Math.max(progress, work.progress);
    const isDue = progress - reported.progress >= PROGRESS_STEP || at - reported.at >= PROGRESS_AT_LEAST_MS;
    // Behind its end, only what came late.
    const events = [...record.take(isRunning ? MAX_HOSTS_A_REPORT : Number.POSITIVE_INFINITY)];
    if (isDue && isRunning) {
      reported = { progress, at };
      events.push({ type: "scan_progress", occurred_at: now(), data: { ...begun, progress, ...counts() } });
    }
    if (events.length > 0) deps.outbox.append(events);
  };
  const lastEvent = ({ outcome, reasons }: WorkEnd, seconds: number): ProbeEvent => {
    const data = { ...begun, ...counts(), duration_seconds: seconds };
    if (outcome === "completed") return { type: "scan_complete", occurred_at: now(), data };
    if (ending?.type === "scan_cancelled") return { type: "scan_cancelled", occurred_at: now(), data };
    const reason = ending?.reason ?? reasons.join("; ");
    return { type: "scan_failed", occurred_at: now(), data: { ...begun, reason: reason.slice(0, 1024) } };
  };
  const runToEnd = async () => {
    const end = await work.done;
    isRunning = false;
    const seconds = Math.round((clock.monotonic() - startedAt) / 10) / 100;
    const event = lastEvent(end, seconds);
    deps.log.info(
      { scan_id: begun.scan_id, ended: event.type, packets: end.packetsSent, ...record.counts, seconds }, "a scan ended",
    );
    publisher.publishAnyway([...record.take(), event], () => store.end(begun.scan_id));
  };
  const stopReporting = clock.every(REPORT_EVERY_MS, reportSome);
  const takeLate = async () => {
    await work.lateDone;
    stopReporting();
    record.notePortsTogether();
    reportSome();
  };
  const [ended, lateEnded] = [runToEnd(), takeLate()];
  return {
    plan, ended, lateEnded,
    noteAnswer: (address) => work.noteAnswer(address),
    noteName: (ip, name) => record.noteName(ip, name),
    end(how) {
      ending ??= how;
      work.abort(how.type === "scan_failed" ? how.reason : "cancelled");
      return ended;
    },
    async abort(reason) {
      work.abort(reason);
      await lateEnded;
    },
  };
}

function askedPorts({ tcpPorts, udpPorts }: ScanPlan): EventData<"scan_started">["ports"] {
  return { tcp: formatPortRanges(tcpPorts), udp: formatPortRanges(udpPorts) };
}

function startWork(plan: ScanPlan, deps: RunningScanDeps, report: Parameters<typeof startScanWork>[2]): ScanWork {
  const { policy } = deps;
  let known = { policy: policy.exclusions, both: bothExclusions(policy.exclusions, plan.exclusions) };
  /** Asked for each frame, so made anew only where the collector has changed its own. */
  const exclusions = () => {
    const now = policy.exclusions;
    if (known.policy !== now) known = { policy: now, both: bothExclusions(now, plan.exclusions) };
    return known.both;
  };
  const sender = createFrameSender({
    sender: deps.sender, allowed: DISCOVERY_FRAMES, onSent: deps.onSent, exclusions: () => ({ ...exclusions(), hasIpv6: true }),
    packetsPerSecond: () => Math.min(policy.packetsPerSecond, plan.packetsPerSecond),
  });
  return startScanWork({
    ...deps, sender, exclusions, framesPerSecond: policy.scanPacketsPerSecond,
    searchFramesPerSecond: Math.min(plan.packetsPerSecond, plan.isGentle ? policy.packetsPerSecond : Number.POSITIVE_INFINITY),
  }, plan, report);
}
