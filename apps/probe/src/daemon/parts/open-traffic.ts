import type { PcapRecorded, ProbeEvent } from "@lanthorn/contract/uplink";
import { DEFAULT_CAPTURE_SETTINGS } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import type { DnsFinding } from "../../dns-threats/finding.ts";
import type { Finding } from "../../intrusions/finding.ts";
import { createPublisher } from "../../queue/publisher.ts";
import { toAlertNotice } from "../../traffic/alert-notice.ts";
import { fromThreatMessage } from "../../traffic/dns/threat-message.ts";
import { toFinding } from "../../traffic/rules/finding-message.ts";
import { withSmallHeap } from "../../traffic/supervisor/small-heap-command.ts";
import { startProcess } from "../../traffic/supervisor/start-process.ts";
import { createTrafficSupervisor, type SupervisorDeps, type TrafficSupervisor } from "../../traffic/supervisor/supervisor.ts";
import type { Queue } from "./open-queue.ts";
import type { RoundContext } from "./round-context.ts";

/** The traffic process as the daemon's parts use it. */
export interface Traffic extends Omit<TrafficSupervisor, "alert"> {
  /** An event is in the queue: one that raises an alert has frames kept for it. */
  onEvent(event: ProbeEvent): void;
}

/** Three reports in a row make an alert about the probe: a gap is said for as long. */
const REPORTS = 4;

/** Starts the process. Loaded only where the configuration names interfaces for it. */
export function openTraffic(context: RoundContext, { db, outbox }: Queue, events: Pick<SupervisorDeps, "homeNetworks" | "onRulesFailed"> & {
  readonly onFinding: (finding: Finding) => void;
  readonly onDnsFinding: (finding: DnsFinding) => void;
}): Traffic {
  const { configuration, clock, random, log, lifecycle } = context;
  const publisher = createPublisher({ db, outbox, log, what: "captures" });
  const anomalies = createPublisher({ db, outbox, log, what: "anomalies" });
  const { interval_seconds: seconds, samples } = configuration.health;
  const supervisor = createTrafficSupervisor({
    settings: configuration.traffic, dataDir: configuration.data_dir, probeId: () => context.identity().probe_id, version: context.version,
    spoolBytes: configuration.files.disk_budget_bytes, site: DEFAULT_CAPTURE_SETTINGS, recentMs: seconds * 1000 * (samples + REPORTS), clock, random, log,
    start: () => startProcess({ command: withThreads(withSmallHeap(context.trafficCommand)), dataDir: configuration.data_dir }),
    homeNetworks: events.homeNetworks, onRulesFailed: events.onRulesFailed, onFound: (intrusion) => events.onFinding(toFinding(intrusion)),
    onAnomaly: (data, at) => anomalies.publish([{ type: "anomaly_detected", occurred_at: toInstant(Math.min(at, clock.now())), data }]),
    onDnsThreat: (threat) => events.onDnsFinding(fromThreatMessage(threat)),
    onRecorded: (data: PcapRecorded, at) => publisher.publish([{ type: "pcap_recorded", occurred_at: toInstant(at), data }]),
  });
  lifecycle.onClose("traffic", () => supervisor.close());
  return {
    ...supervisor,
    onEvent(event) {
      const notice = toAlertNotice(event, context.identity().probe_id);
      if (notice) supervisor.alert(notice);
    },
  };
}

/** One waits for frames: a disk that hangs holds up as many writes as there are files, and must not take its place. */
const POOL_THREADS = 16;

const withThreads = (command: readonly string[]): readonly string[] => ["env", `UV_THREADPOOL_SIZE=${POOL_THREADS}`, ...command];
