import { type GuardKind, RogueDetected, type Severity } from "@lanthorn/contract/uplink";
import { derivedId } from "@lanthorn/runtime";
import type * as z from "zod";
import type { Sign } from "./sign.ts";

/** The event's data, with what only older probes leave out. Incidents that an older version published have no id. */
export const IncidentData = RogueDetected.required().extend({ incident_id: RogueDetected.shape.incident_id });
export type IncidentData = z.infer<typeof IncidentData>;

/** What goes on from its first sign until it was quiet for long enough. */
export interface Incident {
  readonly key: string;
  data: IncidentData;
  /** Subjects of its signs that are not over; the first one's is the incident's own. At most `MAX_SENDERS`. */
  readonly senders: Set<string>;
  /** There were more senders than are kept: it ends only when it is quiet. */
  hasMoreSenders: boolean;
  /** Nothing shows that its senders exist; who is forged beside them belongs to it. */
  mayBeForged: boolean;
  /** Monotonic milliseconds of the first sign. */
  readonly openedAt: number;
  /** Monotonic milliseconds of the last sign. */
  lastAt: number;
  /** What of it differs from what was published last. */
  news: "none" | "repeated" | "changed";
  /** Monotonic milliseconds of the last publication; null before the first. */
  publishedAt: number | null;
  /** It was said to be over before it was published: it is published nevertheless, and over then. */
  isOver: boolean;
}

/** Of the incident that stands for all of its kind. */
export const FLOOD_SUBJECT = "*";
/** Followed to their end, and named. */
const MAX_SENDERS = 64;
const MAX_NAMED_SENDERS = 16;
const SENDERS_FACT = "senders";
const MORE_SENDERS = " Other senders do the same, so somebody forges them; the facts name some. Follow the frames to a switch port rather than a MAC address.";
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
  const key = incidentKey(sign.kind, sign.subject);
  const since = new Date(at.wall).toISOString();
  return {
    key, openedAt: at.monotonic, lastAt: at.monotonic, news: "changed", publishedAt: null, isOver: false,
    senders: new Set([sign.subject]), hasMoreSenders: sign.subject === FLOOD_SUBJECT, mayBeForged: sign.mayBeForged ?? false,
    data: {
      kind: sign.kind, state: "seen", subject: sign.subject.slice(0, MAX_SUBJECT), severity: sign.severity, ip: sign.ip, mac: sign.mac,
      expected_macs: (sign.expectedMacs ?? []).slice(0, MAX_MACS), vlan_id: sign.vlanId ?? null, detail: clean(sign.detail, MAX_DETAIL),
      facts: shorten(sign.facts ?? {}), count: 1, since, packets: sign.packet ? [toBase64(sign.packet)] : [],
      // Of what it is rather than at random: a capture file read twice gives the same events.
      incident_id: derivedId("incident", key, since),
    },
  };
}

/** One that an earlier run published. Whether its senders are known is not: who is forged from now on belongs to it. */
export function restoreIncident(key: string, data: IncidentData, monotonic: number): Incident {
  const named = data.facts[SENDERS_FACT]?.split(", ") ?? [data.subject];
  return {
    key, data, openedAt: monotonic, lastAt: monotonic, news: "none", publishedAt: monotonic, isOver: false, mayBeForged: true,
    senders: new Set(named), hasMoreSenders: named.length >= MAX_NAMED_SENDERS || data.subject === FLOOD_SUBJECT,
  };
}

/** Whether a severity is worse than another. */
export function isWorseThan(severity: Severity, other: Severity): boolean {
  return ORDER.indexOf(severity) < ORDER.indexOf(other);
}

/** A sign of another sender that belongs to the incident. @returns Whether the sender is kept. */
export function addSender(incident: Incident, sign: Sign, monotonic: number): boolean {
  const { senders } = incident;
  const isKept = senders.size < MAX_SENDERS;
  if (isKept) senders.add(sign.subject);
  else incident.hasMoreSenders = true;
  addSign(incident, { ...sign, facts: { [SENDERS_FACT]: [...senders].slice(0, MAX_NAMED_SENDERS).join(", ") } }, monotonic);
  const { data } = incident;
  if (!data.detail.endsWith(MORE_SENDERS)) incident.data = { ...data, detail: data.detail.slice(0, MAX_DETAIL - MORE_SENDERS.length) + MORE_SENDERS };
  return isKept;
}

/** Another sign of the same incident: it is counted, and what it says more or worse is taken. */
export function addSign(incident: Incident, sign: Sign, monotonic: number): void {
  const { data } = incident;
  const isWorse = isWorseThan(sign.severity, data.severity);
  const facts = shorten({ ...data.facts, ...sign.facts });
  const macs = [...new Set([...data.expected_macs, ...(sign.expectedMacs ?? [])])].slice(0, MAX_MACS);
  const isNews = isWorse || macs.length > data.expected_macs.length || JSON.stringify(facts) !== JSON.stringify(data.facts);
  incident.lastAt = monotonic;
  incident.isOver = false;
  if (sign.mayBeForged !== true && sign.subject === data.subject && incident.senders.size === 1) incident.mayBeForged = false;
  if (isNews) incident.news = "changed";
  else if (incident.news === "none") incident.news = "repeated";
  incident.data = {
    ...data, count: data.count + 1, facts, expected_macs: macs, severity: isWorse ? sign.severity : data.severity,
    detail: isWorse ? clean(sign.detail, MAX_DETAIL) : data.detail,
    packets: isNews && sign.packet && data.packets.length < MAX_PACKETS ? [...data.packets, toBase64(sign.packet)] : data.packets,
  };
}

function shorten(facts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(facts).slice(0, MAX_FACTS).map(([name, text]) => [name.slice(0, 64), clean(text, MAX_FACT)]));
}

/** Names in packets are anybody's text: control characters move a terminal's cursor, and databases refuse NUL and halves of letters. */
function clean(text: string, limit: number): string {
  return text.slice(0, limit).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ".");
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, MAX_PACKET_BYTES)).toString("base64");
}
