/** What goes on about one client and one campaign, from its first finding until it was quiet for long enough. */
import { DnsThreat, type Severity } from "@lanthorn/contract/uplink";
import { derivedId, toInstant } from "@lanthorn/runtime";
import type * as z from "zod";
import { cleanText } from "../listen/advert.ts";
import type { Ongoing } from "../ongoing/ongoing.ts";
import type { DnsFinding } from "./finding.ts";

/** The event's data, with what only older probes leave out. */
export const ThreatData = DnsThreat.required();
export type ThreatData = z.infer<typeof ThreatData>;

/** One that goes on. */
export type Threat = Ongoing<ThreatData>;

const MAX_COUNT = 1_000_000_000;
const MAX_SAMPLES = 8;
const MAX_LISTS = 16;
const MAX_PACKETS = 4;
const MAX_PACKET_BYTES = 2048;
const ORDER: readonly Severity[] = ["critical", "high", "medium", "low", "info"];

/** Under which it is kept; its first word is its group. @param clientIp "" for one that stands for all clients. */
export function threatKey({ category, campaign }: Pick<DnsFinding, "campaign" | "category">, clientIp: string): string {
  return `${JSON.stringify([category, campaign]).replaceAll(" ", "_")} ${clientIp}`;
}

/** @param clientMac "" while unknown. */
export function createThreat(finding: DnsFinding, clientMac: string, monotonic: number): Threat {
  const key = threatKey(finding, finding.clientIp);
  const since = toInstant(finding.at);
  return {
    key, lastAt: monotonic, news: "changed", publishedAt: null,
    data: {
      ...latest(finding), client_ip: finding.clientIp, client_mac: clientMac, campaign: cleanText(finding.campaign, 255), category: cleanText(finding.category, 64), mode: finding.mode,
      severity: finding.severity, sample_names: samplesOf(finding.samples), lists: finding.lists.slice(0, MAX_LISTS).map((list) => cleanText(list, 128)),
      mitre_techniques: finding.techniques.slice(0, 32).map((id) => cleanText(id, 16)), packets: packetOf(finding), state: "seen", count: Math.min(MAX_COUNT, finding.times), since,
      // Of what it is rather than at random: a capture file read twice gives the same events.
      incident_id: derivedId("dns threat", key, since),
    },
  };
}

/** One that an earlier run published. */
export function restoreThreat(key: string, data: ThreatData, monotonic: number): Threat {
  return { key, data, lastAt: monotonic, news: "none", publishedAt: monotonic };
}

/** Another finding of the same: it is counted, and what it says more or worse is taken. */
export function addToThreat(threat: Threat, finding: DnsFinding, monotonic: number): void {
  const { data } = threat;
  const isWorse = ORDER.indexOf(finding.severity) < ORDER.indexOf(data.severity);
  threat.lastAt = monotonic;
  if (isWorse) threat.news = "changed";
  else if (threat.news === "none") threat.news = "repeated";
  threat.data = {
    ...data, ...latest(finding), severity: isWorse ? finding.severity : data.severity, count: Math.min(MAX_COUNT, data.count + finding.times),
    sample_names: [...new Set([...data.sample_names, ...samplesOf(finding.samples)])].slice(-MAX_SAMPLES),
    mitre_techniques: [...new Set([...data.mitre_techniques, ...finding.techniques])].slice(0, 32).map((id) => cleanText(id, 16)),
    packets: data.packets.length < MAX_PACKETS ? [...data.packets, ...packetOf(finding)] : data.packets,
  };
}

/** What its last finding says. */
function latest({ name, type, action, feed, reason, policy, blockedRecord, listedAt, serverIp, at }: DnsFinding) {
  return {
    query_name: cleanText(name, 255), query_type: cleanText(type, 16), action, feed: cleanText(feed, 128), reason: cleanText(reason, 512), policy: cleanText(policy, 128),
    blocked_record: blockedRecord === null ? null : cleanText(blockedRecord, 512), listed_since: listedAt === null ? null : toInstant(listedAt), server_ip: serverIp,
    last_at: toInstant(at),
  };
}

function samplesOf(names: readonly string[]): string[] {
  return names.slice(-MAX_SAMPLES).map((name) => cleanText(name, 255));
}

function packetOf({ packet }: DnsFinding): string[] {
  return packet ? [Buffer.from(packet.subarray(0, MAX_PACKET_BYTES)).toString("base64")] : [];
}
