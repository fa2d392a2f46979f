import type { EventData } from "@lanthorn/contract/uplink";
import type { HealthSettings } from "./settings.ts";
import type { HealthMetric, Limit } from "./limits.ts";

/** A value of each metric that is held against a limit; null where the machine does not report one. */
export type HealthValues = Readonly<Record<HealthMetric, number | null>>;

type Severity = EventData<"probe_health_alert">["severity"];

interface Words {
  readonly unit: string;
  readonly severity: Severity;
  readonly raised: (value: string, threshold: string) => string;
  readonly cleared: string;
}

/** How many days before its end a certificate that was not renewed becomes an alert: renewal begins 30 days before. */
const CERTIFICATE_DAYS = 10;

const above = (what: string) => (value: string, threshold: string) => `${what} is ${value}, above ${threshold}`;

const WORDS: Readonly<Record<HealthMetric, Words>> = {
  cpu: {
    unit: "%", severity: "medium", raised: above("The probe's processor use"),
    cleared: "The probe's processor use is normal again",
  },
  memory: { unit: "%", severity: "high", raised: above("The machine's used memory"), cleared: "The machine has free memory again" },
  disk: {
    unit: "%", severity: "high", raised: above("The used part of the data directory's disk"),
    cleared: "The data directory's disk has free space again",
  },
  load: { unit: "", severity: "medium", raised: above("The machine's load for each core"), cleared: "The machine's load is normal again" },
  temperature: { unit: "°C", severity: "high", raised: above("The machine's temperature"), cleared: "The machine has cooled down" },
  capture_drops: {
    unit: "%", severity: "medium", raised: above("The share of frames dropped before the probe could read them"),
    cleared: "The share of dropped frames is below the threshold again",
  },
  traffic_drops: {
    unit: "%", severity: "medium", raised: above("The share of traffic that was dropped before it could be recorded"),
    cleared: "The share of traffic that is dropped is below the threshold again",
  },
  traffic_shed: {
    unit: "%", severity: "medium",
    raised: above("The share of traffic that parts of the recorder did without because there was too much"),
    cleared: "The recorder's parts get all traffic again",
  },
  traffic_process: {
    unit: "", severity: "high", raised: (value) => `The process that reads all traffic ended ${value} times; what passed meanwhile was not recorded`,
    cleared: "The process that reads all traffic runs again",
  },
  resolver_servers: {
    unit: "", severity: "high",
    raised: () => "The site's resolver cannot reach its servers: names resolve only as far as its cache has them; see upstreams and forward in dns.toml, and the way to the Internet",
    cleared: "The site's resolver reaches its servers again",
  },
  queue_depth: {
    unit: "%", severity: "high", raised: above("The used part of the queue's disk budget"), cleared: "The queue has free space again",
  },
  clock_offset: {
    unit: "s", severity: "medium", raised: above("The clock's difference from the collector's"),
    cleared: "The clock agrees with the collector's again",
  },
  interface: {
    unit: "", severity: "critical", raised: () => "The watched interface is down or missing; the probe sees nothing",
    cleared: "The watched interface is back",
  },
  certificate: {
    unit: "d", severity: "high",
    raised: (value) => `The probe's certificate ends in ${value} and could not be renewed; after that the probe cannot report`,
    cleared: "The probe's certificate was renewed",
  },
};

/** Clearing needs a tenth of the threshold as its hysteresis. */
const ROOM = 0.1;

/** The configured limits, and those that nobody can set: what is missing then is the probe's purpose. */
export function limitsOf(limits: HealthSettings["limits"]): readonly Limit[] {
  const configured: readonly (readonly [HealthMetric, number | false])[] = [
    ["cpu", limits.cpu_percent], ["memory", limits.memory_used_percent], ["disk", limits.disk_used_percent], ["load", limits.load_per_core],
    ["temperature", limits.temperature_celsius], ["capture_drops", limits.capture_drops_percent],
    ["traffic_drops", limits.traffic_drops_percent], ["traffic_shed", limits.traffic_shed_percent], ["queue_depth", limits.queue_used_percent], ["clock_offset", limits.clock_offset_seconds],
  ];
  return [
    ...configured.flatMap(([metric, threshold]): Limit[] =>
      (threshold === false ? [] : [{ metric, bad: "above", threshold, hysteresis: hysteresisOf(metric, threshold) }])),
    { metric: "traffic_process", bad: "above", threshold: 0, hysteresis: 0 },
    { metric: "resolver_servers", bad: "above", threshold: 0, hysteresis: 0 },
    { metric: "interface", bad: "above", threshold: 0, hysteresis: 0 },
    { metric: "certificate", bad: "below", threshold: CERTIFICATE_DAYS, hysteresis: 1 },
  ];
}

/** A tenth of 95 % full would be a long way back for a disk. */
function hysteresisOf(metric: HealthMetric, threshold: number): number {
  return metric === "disk" || metric === "memory" ? Math.min(threshold, 100 - threshold + 1) * 0.5 : threshold * ROOM;
}

/** @param value As measured, in the unit of the metric; the message rounds it to a tenth. */
export function toHealthAlert(limit: Limit, change: "raised" | "cleared", value: number): EventData<"probe_health_alert"> {
  const words = WORDS[limit.metric];
  const say = (number: number) =>
    `${Math.round(number * 10) / 10}${words.unit === "" || words.unit === "%" ? words.unit : ` ${words.unit}`}`;
  return {
    metric: limit.metric, state: change, severity: change === "raised" ? words.severity : "info",
    value, threshold: limit.threshold, unit: words.unit,
    message: change === "raised" ? words.raised(say(value), say(limit.threshold)) : words.cleared,
  };
}
