import type { ObservedBroadcast, ObservedFlow } from "@lanthorn/anomaly";
import type { FlowRecord } from "@lanthorn/traffic";
import type { Countries } from "./countries.ts";
import type { SiteDevices } from "./site-devices.ts";

/** Zeek's states of connections that nobody took: no answer, a refusal, or given up before there was one. */
const FAILED: ReadonlySet<FlowRecord["state"]> = new Set(["S0", "REJ", "RSTOS0", "SH"]);

/**
 * A flow as behavior is learned from.
 * @param at Packet time at which its record is made, in seconds.
 * @returns Null where neither end is a host of the site, or the receiver is a group of hosts.
 */
export function observeFlow(record: FlowRecord, at: number, { devices, countries }: { readonly devices: SiteDevices; readonly countries: Pick<Countries, "countryOf"> }): ObservedFlow | null {
  const { originator_ip: from, responder_ip: to, originator_mac: fromMac, responder_mac: toMac } = record;
  if (isNobody(from) || isNobody(to) || isGroupMac(toMac)) return null;
  const [originator, responder] = [devices.note(from, fromMac), devices.note(to, toMac)];
  if (originator === null && responder === null) return null;
  return {
    at, startedAt: Date.parse(record.started_at) / 1000, originator: originator ?? from, responder: responder ?? to, isOriginatorInside: originator !== null, isResponderInside: responder !== null,
    port: `${record.protocol}/${record.responder_port}`, bytesOut: record.originator_ip_bytes, bytesIn: record.responder_ip_bytes,
    packets: record.originator_packets + record.responder_packets, hasFailed: FAILED.has(record.state),
    region: responder === null ? countries.countryOf(to) : "", isFirstPart: record.part === 0 && !record.is_midstream,
  };
}

/**
 * What a device says to all or to a group: all that is heard of others where only an access port is seen.
 * @returns Null where its receiver is one host, or its sender is none of the site's.
 */
export function observeBroadcast(record: FlowRecord, at: number, devices: SiteDevices): ObservedBroadcast | null {
  const { originator_ip: from, responder_ip: to, originator_mac: mac, responder_mac: toMac } = record;
  if (!isNobody(to) && !isGroupMac(toMac)) return null;
  // Who asks for an address by DHCP has none yet.
  const device = !isNobody(from) ? devices.note(from, mac) : mac !== null && !isGroupMac(mac) ? devices.nameOf(mac) : null;
  return device === null ? null : { at, device, port: `${record.protocol}/${record.responder_port}`, packets: record.originator_packets };
}

/** Multicast, broadcast, and addresses of who has none yet. RFC 1112, RFC 919, RFC 4291. */
function isNobody(ip: string): boolean {
  return ip.includes(":") ? ip === "::" || ip.startsWith("ff") : Number(ip.slice(0, ip.indexOf("."))) >= 224 || ip === "0.0.0.0";
}

/** IEEE 802: the lowest bit of the first octet. Broadcasts of a subnet are known by it. */
function isGroupMac(mac: string | null): boolean {
  return mac !== null && (Number.parseInt(mac.slice(1, 2), 16) & 1) === 1;
}
