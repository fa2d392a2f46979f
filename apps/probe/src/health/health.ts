import { MESSAGE_VERSION, type NetworkFact, type NetworkLook, type ProbeHealth, type TrafficHealth } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { OutboxState } from "../queue/outbox.ts";
import type { HealthAlerts } from "./alerts.ts";
import type { MachineFacts } from "./machine.ts";
import type { HealthValues } from "./metrics.ts";

/** How the traffic process is. */
export interface TrafficFacts {
  readonly health: TrafficHealth;
  readonly frames: number;
  /** Frames that the kernel or the process dropped. */
  readonly dropped: number;
  /** Frames that parts of the recorder did without, of all parts together. */
  readonly shed: number;
  /** Times of the last minutes in which nothing was recorded. */
  readonly recentGaps: number;
}

/** What the parts of the probe say when they are asked. */
export interface HealthSources {
  readonly machine: () => MachineFacts;
  readonly outbox: () => OutboxState;
  readonly capture: () => { readonly frames: number; readonly dropped: number };
  /** `networks`: the interface's own subnets. */
  readonly interface: () => { readonly name: string; readonly up: boolean; readonly networks: readonly string[] };
  readonly hosts: () => { readonly online: number; readonly known: number };
  readonly clockOffsetMs: () => number | null;
  /** When the certificate ends, milliseconds since the epoch; null for a probe without one. */
  readonly certificateEndsAt: () => number | null;
  readonly configuration: () => NonNullable<ProbeHealth["configuration"]>;
  readonly bundles: () => NonNullable<ProbeHealth["bundles"]>;
  /** The process that reads all traffic, with sums since the probe began; null where there is none. */
  readonly traffic: () => TrafficFacts | null;
  readonly guards: () => NonNullable<ProbeHealth["guards"]>;
  /** Null where nothing finds intrusions. */
  readonly ids: () => NonNullable<ProbeHealth["ids"]> | null;
  /** Null where no resolver runs beside the probe. */
  readonly resolver: () => NonNullable<ProbeHealth["resolver"]> | null;
  /** Null where no decoys were heard. */
  readonly decoys: () => NonNullable<ProbeHealth["decoys"]> | null;
  readonly coverage: () => ProbeHealth["coverage"] | null;
  readonly networkFacts: () => {
    readonly facts: readonly NetworkFact[]; readonly looks: readonly NetworkLook[];
  } | null;
}

/** Measures and reports how the probe is, at a steady pace. */
export interface HealthWatch {
  /** Reports now as well, because something changed that the collector is to know; alerts are judged at their own times. */
  report(): void;
  /** The last report was made in time: whatever hangs the process has not. */
  turning(): boolean;
  close(): void;
}

const DAY_MS = 86_400_000;
/** The contract's limit. */
const MAX_NETWORKS = 64;

/** By then capture and connection are up, if they come up at all: a status that is read after a start shows them. Alerts wait. */
const SECOND_REPORT_MS = 3000;

/**
 * Reports at once, soon again, and then every `intervalMs`, and lets the alerts judge the values.
 * @param deps.onHealth Called with each report, after the alerts.
 */
export function createHealthWatch(deps: {
  readonly sources: HealthSources;
  readonly alerts: HealthAlerts;
  readonly budgetBytes: number;
  readonly intervalMs: number;
  readonly version: string;
  readonly clock: Clock;
  readonly onHealth: (health: ProbeHealth) => void;
}): HealthWatch {
  const { sources, clock } = deps;
  const startedAt = clock.monotonic();
  let lastReportAt = startedAt;
  let [before, trafficBefore] = [sources.capture(), sources.traffic()];

  function report(isJudged: boolean): void {
    lastReportAt = clock.monotonic();
    const machine = sources.machine();
    const [queue, capture, resolver] = [sources.outbox(), sources.capture(), sources.resolver()];
    const [link, offsetMs] = [sources.interface(), sources.clockOffsetMs()];
    const [frames, dropped] = [capture.frames - before.frames, Math.max(0, capture.dropped - before.dropped)];
    const traffic = sources.traffic();
    const trafficShares = sharesOf(traffic, trafficBefore);
    const endsAt = sources.certificateEndsAt();
    const values: HealthValues = {
      cpu: machine.cpuPercent,
      memory: machine.memory.totalBytes > 0 ? 100 - (machine.memory.availableBytes / machine.memory.totalBytes) * 100 : null,
      // A disk that takes nothing is full, whatever the file system says of itself.
      disk: !queue.writable ? 100 : machine.disk.totalBytes > 0 ? 100 - (machine.disk.freeBytes / machine.disk.totalBytes) * 100 : null,
      load: machine.load1m / machine.cores,
      temperature: machine.temperatureCelsius,
      capture_drops: frames + dropped > 0 ? (dropped / (frames + dropped)) * 100 : 0,
      ...trafficShares, resolver_servers: resolver && resolver.unreachable,
      queue_depth: (queue.bytes / deps.budgetBytes) * 100,
      clock_offset: offsetMs === null ? null : Math.abs(offsetMs) / 1000,
      interface: link.up ? 0 : 1,
      certificate: endsAt === null ? null : (endsAt - clock.now()) / DAY_MS,
    };
    if (isJudged) {
      [before, trafficBefore] = [capture, traffic];
      deps.alerts.judge(values, toInstant(clock.now()));
    }
    const [coverage, network, decoys] = [sources.coverage(), sources.networkFacts(), sources.decoys()];
    deps.onHealth({
      v: MESSAGE_VERSION,
      at: toInstant(clock.now()),
      version: deps.version,
      uptime_seconds: Math.round((clock.monotonic() - startedAt) / 1000),
      cpu_percent: round(machine.cpuPercent),
      load_1m: round(machine.load1m),
      memory: {
        rss_bytes: machine.memory.rssBytes, available_bytes: machine.memory.availableBytes, total_bytes: machine.memory.totalBytes,
      },
      disk: { free_bytes: machine.disk.freeBytes, total_bytes: machine.disk.totalBytes },
      temperature_celsius: machine.temperatureCelsius,
      capture: { frames: capture.frames, dropped: capture.dropped },
      queue: { events: queue.events + queue.inMemory, bytes: queue.bytes, oldest_at: queue.oldestAt, dropped: queue.dropped },
      clock_offset_ms: offsetMs,
      interface: { name: link.name, up: link.up, networks: link.networks.slice(0, MAX_NETWORKS) },
      hosts: sources.hosts(),
      configuration: sources.configuration(),
      bundles: sources.bundles(), guards: sources.guards(),
      ...(coverage && { coverage }),
      ...(traffic && { traffic: traffic.health }),
      ...withIds(sources.ids()), ...(resolver && { resolver }), ...(decoys && { decoys }),
      ...(network && { network_facts: [...network.facts], network_looks: [...network.looks] }),
    });
  }

  report(true);
  const cancelSecond = clock.after(SECOND_REPORT_MS, () => report(false));
  const stop = clock.every(deps.intervalMs, () => report(true));
  return {
    report: () => report(false),
    turning: () => clock.monotonic() - lastReportAt < 3 * deps.intervalMs,
    close() {
      cancelSecond();
      stop();
    },
  };
}

function withIds(ids: ProbeHealth["ids"] | null): Pick<ProbeHealth, "ids"> {
  return ids ? { ids } : {};
}

/** Of the frames since the last report, which share was lost, and which did not reach every part of the recorder. */
function sharesOf(now: TrafficFacts | null, before: TrafficFacts | null): Pick<HealthValues, "traffic_process" | "traffic_drops" | "traffic_shed"> {
  if (!now) return { traffic_process: null, traffic_drops: null, traffic_shed: null };
  const since = (read: (facts: TrafficFacts) => number) => Math.max(0, read(now) - (before ? read(before) : 0));
  const [frames, dropped, shed] = [since((facts) => facts.frames), since((facts) => facts.dropped), since((facts) => facts.shed)];
  const share = (part: number, whole: number) => (whole > 0 ? Math.min(100, (part / whole) * 100) : 0);
  return { traffic_process: now.recentGaps, traffic_drops: share(dropped, frames + dropped), traffic_shed: share(shed, Math.max(frames, shed)) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
