/** An anomaly as it is reported to the collector. */
import type { Anomaly } from "@lanthorn/anomaly";
import type { AnomalyKind, Severity } from "@lanthorn/contract/uplink";
import { derivedId, toInstant } from "@lanthorn/runtime";
import type { FoundAnomaly } from "../messages.ts";
import type { SiteDevices } from "./site-devices.ts";

/** From `score` 5 on it is one: half of the scale, and each five more halve what is left. */
const HALF_SCORE = 5;
const GRAVE_SCORE = 10;
const MAX_NAME = 64;
const MAX_PEER = 128;

/** Patterns of attacks are graver than what is only unusual. */
const SEVERITIES: Readonly<Record<AnomalyKind, Severity>> = {
  exfiltration: "high", beacon: "high", scan: "medium", admin_protocol: "medium", new_region: "medium", unusual_hour: "low", unusual_amount: "low",
};

const KINDS: Readonly<Record<AnomalyKind, string>> = {
  exfiltration: "It sent much to hosts that few devices use", scan: "It asked very many hosts or ports", admin_protocol: "It opened a session of administration that it never had before",
  new_region: "It spoke to a country or operator that it never spoke to before", unusual_hour: "It is busy at an hour at which it and its like are not",
  beacon: "It calls a new host at regular times, as remote-controlled malware does", unusual_amount: "It does far more than is usual for it and its like",
};

/** Features in words, with their unit. */
const WORDS: Readonly<Record<string, readonly [text: string, unit: "bytes" | "number" | "share"]>> = {
  bytes_out: ["bytes sent", "bytes"], bytes_in: ["bytes received", "bytes"], packets: ["packets", "number"], flows: ["conversations", "number"], failed_flows: ["conversations that nobody answered", "number"],
  peers: ["different hosts", "number"], ports: ["different ports", "number"], names: ["different names", "number"], new_peers: ["new hosts", "number"], new_ports: ["new ports", "number"],
  dns_queries: ["DNS queries", "number"], nxdomain_share: ["share of names that do not exist", "share"], fan_out: ["different hosts of the site", "number"],
  east_west_share: ["share of bytes within the site", "share"], bytes_outside: ["bytes sent out of the site", "bytes"], bytes_to_rare: ["bytes sent to hosts that few devices use", "bytes"],
  broadcasts: ["messages to all hosts or a group of them", "number"],
  presence: ["five-minute spans with traffic", "number"], new_region: ["new country or operator", "number"], new_admin_peer: ["new session of administration", "number"], beacon: ["likeness to a beacon", "share"],
};

/** @param devices Knows where the device is. */
export function toAnomalyData(anomaly: Anomaly, devices: SiteDevices): FoundAnomaly {
  const { device, kind, technique, score, at, since, features, peers, news, group, series, siteSeries, isWithinBudget } = anomaly;
  const named = features.map(({ name, share, observed, expectedLow, expectedHigh, usual }) =>
    ({ name, share: Math.min(1, Math.max(0, share)), observed: finite(observed), expected_low: finite(expectedLow), expected_high: finite(expectedHigh), usual: finite(usual) }));
  const [first] = named;
  const { ip, mac } = devices.placeOf(device);
  const sinceText = toInstant(since * 1000);
  return {
    metric: first?.name ?? kind, ip, mac, score: 1 - 2 ** (-score / HALF_SCORE), expected: first?.usual ?? 0, observed: first?.observed ?? 0,
    severity: score >= GRAVE_SCORE && SEVERITIES[kind] === "low" ? "medium" : SEVERITIES[kind], explanation: explain(kind, named, peers), kind, device: device.slice(0, MAX_NAME), group: group.slice(0, MAX_NAME),
    features: named, since: sinceText, peers: peers.map((peer) => peer.slice(0, MAX_PEER)), news: news.map((one) => one.slice(0, MAX_PEER)),
    series: { bucket_seconds: series.bucketSeconds, ends_at: toInstant(Math.floor(at / series.bucketSeconds) * series.bucketSeconds * 1000), values: series.values.map((value) => Math.max(0, finite(value))) },
    site_series: siteSeries.map(({ name, score: ofSite, observed, at: endsAt }) => ({ name, score: ofSite, observed: finite(observed), at: toInstant(endsAt * 1000) })),
    mitre_techniques: technique === null ? [] : [technique], is_alert: isWithinBudget,
    // Of what it is rather than at random: what a restart says again is the same.
    incident_id: derivedId("anomaly", device, kind, sinceText),
  };
}

function explain(kind: AnomalyKind, features: FoundAnomaly["features"], peers: readonly string[]): string {
  const parts = features.map(({ name, observed, expected_high: high, usual }) => {
    const [text, unit] = WORDS[name] ?? [name, "number"];
    const write = WRITE[unit];
    return name.startsWith("new_region") || name === "new_admin_peer" || name === "beacon" ? text : `${text}: ${write(observed)}, up to ${write(high)} are expected, ${write(usual)} are usual at this hour`;
  });
  const hosts = peers.length === 0 ? "" : ` Hosts: ${peers.join(", ")}.`;
  return `${KINDS[kind]}. ${parts.join("; ")}.${hosts}`.slice(0, 1024);
}

const WRITE = {
  bytes: (value: number) => (value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : value >= 1e6 ? `${(value / 1e6).toFixed(1)} MB` : `${Math.round(value / 1e3)} kB`),
  number: (value: number) => String(Math.round(value)),
  share: (value: number) => `${Math.round(100 * value)} %`,
};

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}
