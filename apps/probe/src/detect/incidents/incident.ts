import { type GuardKind, RogueDetected, type Severity } from "@lanthorn/contract/uplink";
import type * as z from "zod";
import type { Sign } from "./sign.ts";

/** The event's data, with what only older probes leave out. */
export const IncidentData = RogueDetected.required();
export type IncidentData = z.infer<typeof IncidentData>;

/** What goes on from its first sign until it was quiet for long enough. */
export interface Incident {
  readonly key: string;
  data: IncidentData;
  /** Monotonic milliseconds of the first sign. */
  readonly openedAt: number;
  /** Monotonic milliseconds of the last sign. */
  lastAt: number;
  /** What of it differs from what was published last. */
  news: "none" | "repeated" | "changed";
  /** Monotonic milliseconds of the last publication; null before the first. */
  publishedAt: number | null;
}

const MAX_PACKETS = 4;
const MAX_PACKET_BYTES = 2048;
const MAX_FACTS = 32;
const MAX_FACT = 512;
const MAX_DETAIL = 1024;
const MAX_MACS = 32;
const MAX_SUBJECT = 128;
const ORDER: readonly Severity[] = ["critical", "high", "medium", "low", "info"];

/** Under which an incident is kept. */
export function incidentKey(kind: GuardKind, subject: string): string {
  return `${kind} ${subject}`;
}

/** @param at The time of the first sign. */
export function createIncident(sign: Sign, at: { readonly wall: number; readonly monotonic: number }): Incident {
  return {
    key: incidentKey(sign.kind, sign.subject), openedAt: at.monotonic, lastAt: at.monotonic, news: "changed", publishedAt: null,
    data: {
      kind: sign.kind, state: "seen", subject: sign.subject.slice(0, MAX_SUBJECT), severity: sign.severity, ip: sign.ip, mac: sign.mac,
      expected_macs: (sign.expectedMacs ?? []).slice(0, MAX_MACS), vlan_id: sign.vlanId ?? null, detail: sign.detail.slice(0, MAX_DETAIL),
      facts: shorten(sign.facts ?? {}), count: 1, since: new Date(at.wall).toISOString(), packets: sign.packet ? [toBase64(sign.packet)] : [],
    },
  };
}

/** Another sign of the same incident: it is counted, and what it says more or worse is taken. */
export function addSign(incident: Incident, sign: Sign, monotonic: number): void {
  const { data } = incident;
  const isWorse = ORDER.indexOf(sign.severity) < ORDER.indexOf(data.severity);
  const facts = shorten({ ...data.facts, ...sign.facts });
  const macs = [...new Set([...data.expected_macs, ...(sign.expectedMacs ?? [])])].slice(0, MAX_MACS);
  const isNews = isWorse || macs.length > data.expected_macs.length || JSON.stringify(facts) !== JSON.stringify(data.facts);
  incident.lastAt = monotonic;
  if (isNews) incident.news = "changed";
  else if (incident.news === "none") incident.news = "repeated";
  incident.data = {
    ...data, count: data.count + 1, facts, expected_macs: macs, severity: isWorse ? sign.severity : data.severity,
    detail: isWorse ? sign.detail.slice(0, MAX_DETAIL) : data.detail,
    packets: isNews && sign.packet && data.packets.length < MAX_PACKETS ? [...data.packets, toBase64(sign.packet)] : data.packets,
  };
}

function shorten(facts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(facts).slice(0, MAX_FACTS).map(([name, text]) => [name.slice(0, 64), text.slice(0, MAX_FACT)]));
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, MAX_PACKET_BYTES)).toString("base64");
}
