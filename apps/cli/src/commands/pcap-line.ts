import type { PcapWatchFrame } from "@lanthorn/contract";
import { decodeArp, decodeDns, decodeFrame, ETHER_TYPE, formatIp, formatMac, type Frame } from "@lanthorn/packets";
import { printable } from "../table.ts";

const TCP_FLAGS: readonly (readonly [bit: number, letter: string])[] = [[2, "S"], [1, "F"], [4, "R"], [8, "P"], [16, "."], [32, "U"], [64, "E"], [128, "W"]];
const ICMP: Readonly<Record<string, string>> = {
  "icmpv4 0": "echo reply", "icmpv4 3": "unreachable", "icmpv4 8": "echo request", "icmpv4 11": "time exceeded", "icmpv6 1": "unreachable",
  "icmpv6 128": "echo request", "icmpv6 129": "echo reply", "icmpv6 133": "router solicitation", "icmpv6 134": "router advertisement",
  "icmpv6 135": "neighbor solicitation", "icmpv6 136": "neighbor advertisement",
};
const DNS_PORTS: ReadonlySet<number> = new Set([53, 5353]);
const ETHER_TYPES: Readonly<Record<number, string>> = { 0x8809: "LACP", 0x888e: "EAPOL", [ETHER_TYPE.lldp]: "LLDP", 0x88f7: "PTP" };
const PROTOCOLS: Readonly<Record<number, string>> = { 2: "IGMP", 47: "GRE", 50: "ESP", 51: "AH", 89: "OSPF", 112: "VRRP", 132: "SCTP" };

/** A frame in one line, as tcpdump prints it: time (UTC), who to whom, and what. Nothing that a host sent reaches the terminal as a control character. */
export function frameLine({ at, bytes, wire_length: length }: PcapWatchFrame): string {
  const octets = Buffer.from(bytes, "base64");
  const decoded = decodeFrame(octets, length > octets.length ? { wireLength: length } : undefined);
  const time = at.slice(11, 23);
  if (!decoded.ok) return printable(`${time} ${decoded.layer}, cut or malformed, length ${length}`);
  const frame = decoded.value;
  const vlan = frame.vlanTags.map(({ vlanId }) => `vlan ${vlanId} `).join("");
  return printable(`${time} ${vlan}${wordsOf(frame, length)}`);
}

function wordsOf(frame: Frame, length: number): string {
  if (frame.network === "arp") return arpWords(frame);
  const [source, destination] = [frame.sourceIp, frame.destinationIp];
  if (!source || !destination) return `${macs(frame)} ${linkWords(frame)}, length ${length}`;
  const family = frame.ipLength === 4 ? "IP" : "IP6";
  const end = (ip: Uint8Array, port: number) => (port < 0 ? formatIp(ip) : `${formatIp(ip)}.${port}`);
  return `${family} ${end(source, frame.sourcePort)} > ${end(destination, frame.destinationPort)}: ${transportWords(frame, length)}`;
}

function linkWords({ network, etherType }: Frame): string {
  return network === "llc" ? "LLC" : ETHER_TYPES[etherType] ?? `ethertype 0x${etherType.toString(16).padStart(4, "0")}`;
}

function transportWords(frame: Frame, length: number): string {
  const payload = frame.payloadEnd - frame.payloadOffset;
  if (frame.transport === "tcp") {
    const flags = TCP_FLAGS.filter(([bit]) => (frame.tcpFlags & bit) !== 0).map(([, letter]) => letter).join("");
    return `Flags [${flags || "none"}], length ${payload}`;
  }
  if (frame.transport === "udp") return dnsWords(frame) ?? `UDP, length ${payload}`;
  if (frame.icmpType >= 0) {
    const kind = frame.ipLength === 4 ? "icmpv4" : "icmpv6";
    return `${kind === "icmpv4" ? "ICMP" : "ICMP6"} ${ICMP[`${kind} ${frame.icmpType}`] ?? `type ${frame.icmpType} code ${frame.icmpCode}`}, length ${length}`;
  }
  const name = PROTOCOLS[frame.ipProtocol] ?? `protocol ${frame.ipProtocol}`;
  return frame.fragmentOffset > 0 ? `${name}, fragment at ${frame.fragmentOffset}, length ${length}` : `${name}, length ${length}`;
}

/** @returns Null for what is no whole DNS message. */
function dnsWords(frame: Frame): string | null {
  if (!DNS_PORTS.has(frame.sourcePort) && !DNS_PORTS.has(frame.destinationPort)) return null;
  const message = decodeDns(frame.payload);
  if (!message.ok) return null;
  const { id, isResponse, responseCode, questions, answers } = message.value;
  const asked = questions.map(({ name, type }) => `${name} type ${type}`).join(", ");
  return isResponse ? `DNS ${id} answer ${asked}: ${answers.length} records${responseCode === 0 ? "" : `, code ${responseCode}`}` : `DNS ${id} query ${asked}`;
}

function arpWords(frame: Frame): string {
  const arp = decodeArp(frame.networkBytes);
  if (!arp.ok || arp.value.protocolType !== 0x0800) return `${macs(frame)} ARP`;
  const { operation, senderProtocolAddress: sender, senderHardwareAddress: mac, targetProtocolAddress: target } = arp.value;
  if (operation === 1) return `ARP who has ${formatIp(target)}, tell ${formatIp(sender)} (${formatMac(mac)})`;
  return operation === 2 ? `ARP ${formatIp(sender)} is at ${formatMac(mac)}` : `ARP operation ${operation} of ${formatIp(sender)}`;
}

function macs({ sourceMac, destinationMac }: Frame): string {
  return sourceMac && destinationMac ? `${formatMac(sourceMac)} > ${formatMac(destinationMac)}` : "frame";
}
