/** What goes on about one rule and one host of the site, from its first finding until it was quiet for long enough. */
import { IdsAlert, type Severity } from "@lanthorn/contract/uplink";
import { derivedId, toInstant } from "@lanthorn/runtime";
import type * as z from "zod";
import { cleanText } from "../listen/advert.ts";
import type { Ongoing } from "../ongoing/ongoing.ts";
import type { End, Engine, Finding } from "./finding.ts";

/** The event's data, with what only older probes leave out; a Suricata names no class. */
export const IntrusionData = IdsAlert.required().extend({ class: IdsAlert.shape.class });
export type IntrusionData = z.infer<typeof IntrusionData>;

/** One that goes on. */
export interface Intrusion extends Ongoing<IntrusionData> {
  /** Flow → how often each engine said it there; the oldest flows are forgotten. */
  readonly flows: Map<string, Record<Engine, number>>;
}

/** Of which it is known which engine said what. */
const MAX_FLOWS = 32;
const MAX_PACKETS = 4;
const MAX_PACKET_BYTES = 2048;
const MAX_MATCHED = 16;
const MAX_MATCHED_BYTES = 256;
const MAX_FIELDS = 32;
const MAX_FIELD = 512;
const MAX_COUNT = 1_000_000_000;
const ORDER: readonly Severity[] = ["critical", "high", "medium", "low", "info"];

/** Under which it is kept. @param subjectIp "" for one that stands for all hosts. */
export function intrusionKey({ gid, id }: Pick<Finding["rule"], "gid" | "id">, subjectIp: string): string {
  return `${gid}:${id} ${subjectIp}`;
}

/** @param subject Its `ip` is "" for one that stands for all hosts. */
export function createIntrusion(finding: Finding, { subject, peer }: { readonly subject: End; readonly peer: End }, monotonic: number): Intrusion {
  const key = intrusionKey(finding.rule, subject.ip);
  const since = toInstant(finding.at);
  const { rule } = finding;
  const intrusion: Intrusion = {
    key, flows: new Map(), lastAt: monotonic, news: "changed", publishedAt: null,
    data: {
      signature_id: rule.id, gid: rule.gid, revision: rule.revision, signature: cleanText(rule.message, 512), category: cleanText(rule.category, 128), ...(rule.className !== "" && { class: cleanText(rule.className, 128) }),
      severity: rule.severity, priority: Math.min(rule.priority, 255), mitre_techniques: rule.techniques.slice(0, 32).map((id) => cleanText(id, 16)),
      packets: [], ...latest(finding), subject_ip: subject.ip, peer_ip: peer.ip, engines: [finding.engine], state: "seen", count: Math.min(MAX_COUNT, finding.times), since,
      // Of what it is rather than at random: a capture file read twice gives the same events.
      incident_id: derivedId("intrusion", key, since),
    },
  };
  countIn(intrusion, finding);
  intrusion.data.packets.push(...packetOf(finding));
  return intrusion;
}

/** One that an earlier run published. */
export function restoreIntrusion(key: string, data: IntrusionData, monotonic: number): Intrusion {
  return { key, data, flows: new Map(), lastAt: monotonic, news: "none", publishedAt: monotonic };
}

/** Another finding of the same: it is counted, unless the other engine has said it, and what it says more or worse is taken. */
export function addFinding(intrusion: Intrusion, finding: Finding, peer: End, monotonic: number): void {
  const { data } = intrusion;
  const counted = countIn(intrusion, finding);
  const isOtherEngine = !data.engines.includes(finding.engine);
  const isWorse = ORDER.indexOf(finding.rule.severity) < ORDER.indexOf(data.severity);
  intrusion.lastAt = monotonic;
  if (isWorse || isOtherEngine) intrusion.news = "changed";
  else if (counted > 0 && intrusion.news === "none") intrusion.news = "repeated";
  const news = latest(finding);
  intrusion.data = {
    ...data, ...news,
    // What the other engine says of the same flow does not take away what is known of it.
    matched: news.matched.length > 0 ? news.matched : data.matched, fields: counted > 0 ? news.fields : { ...news.fields, ...data.fields },
    peer_ip: peer.ip, severity: isWorse ? finding.rule.severity : data.severity, revision: Math.max(data.revision, finding.rule.revision),
    engines: isOtherEngine ? [...data.engines, finding.engine] : data.engines, count: Math.min(MAX_COUNT, data.count + counted),
    packets: isOtherEngine || data.packets.length < MAX_PACKETS ? [...data.packets, ...packetOf(finding)].slice(-MAX_PACKETS) : data.packets,
  };
}

/** @returns How many of its matches the other engine has not said of this flow. */
function countIn({ flows }: Intrusion, { engine, times, protocol, source, destination }: Finding): number {
  const ends = [source, destination].map(({ ip, port }) => `${ip} ${port}`).toSorted();
  const flow = [protocol, ...ends].join(" ");
  const known = flows.get(flow) ?? { lanthorn: 0, suricata: 0 };
  const before = Math.max(known.lanthorn, known.suricata);
  flows.delete(flow);
  flows.set(flow, known);
  known[engine] += times;
  for (const oldest of flows.keys()) {
    if (flows.size <= MAX_FLOWS) break;
    flows.delete(oldest);
  }
  return Math.max(0, known[engine] - before);
}

/** What its last finding says. */
function latest(finding: Finding) {
  const { source, destination, direction } = finding;
  return {
    source_ip: source.ip, source_port: source.port, destination_ip: destination.ip, destination_port: destination.port,
    protocol: cleanText(finding.protocol, 16), application: cleanText(finding.application, 32), direction, would_block: finding.wouldBlock,
    last_at: toInstant(finding.at),
    matched: finding.matched.slice(0, MAX_MATCHED).map(({ buffer, offset, length, bytes }) => ({
      buffer: buffer.slice(0, 64), offset, length, bytes: Buffer.from(bytes.subarray(0, MAX_MATCHED_BYTES)).toString("base64"),
    })),
    fields: Object.fromEntries(Object.entries(finding.fields).slice(0, MAX_FIELDS).map(([name, text]) => [name.slice(0, 64), cleanText(text, MAX_FIELD)])),
  };
}

function packetOf({ packet }: Finding): string[] {
  return packet ? [Buffer.from(packet.subarray(0, MAX_PACKET_BYTES)).toString("base64")] : [];
}
