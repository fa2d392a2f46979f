/** Suspicions as they go from the traffic process to the daemon. */
import type { DnsFinding } from "../../dns-threats/finding.ts";
import type { FoundDnsThreat } from "../messages.ts";

const MAX_PACKET_BYTES = 2048;

/** Cut to what the message may have. */
export function toThreatMessage({ campaign, category, severity, times, at, clientIp, serverIp, name, type, samples, reason, feed, lists, blockedRecord, listedAt, techniques, packet }: DnsFinding): FoundDnsThreat {
  return {
    campaign: campaign.slice(0, 1024), category, severity, times, at, client_ip: clientIp, server_ip: serverIp, name: name.slice(0, 1024), type, samples: samples.slice(0, 8).map((one) => one.slice(0, 1024)),
    reason: reason.slice(0, 1024), feed: feed.slice(0, 128), lists: lists.slice(0, 16).map((one) => one.slice(0, 128)), blocked_record: blockedRecord && blockedRecord.slice(0, 1024), listed_at: listedAt, techniques: techniques.slice(0, 32), packet: packet && Buffer.from(packet.subarray(0, MAX_PACKET_BYTES)).toString("base64"),
  };
}

/** What the message says. */
export function fromThreatMessage({ client_ip: clientIp, server_ip: serverIp, blocked_record: blockedRecord, listed_at: listedAt, packet, ...same }: FoundDnsThreat): DnsFinding {
  return {
    ...same, clientIp, serverIp, mode: "passive", action: "reported", policy: "", blockedRecord, listedAt,
    packet: packet === null ? null : Buffer.from(packet, "base64"),
  };
}
