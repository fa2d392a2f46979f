import {
  ARP_OPERATION, decodeArp, decodeDhcp, decodeDhcpv6, decodeDns, decodeFrame, decodeNetbiosName, DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_PORT, dhcpMessageType,
  DHCPV6_OPTION, DHCPV6_PORT, DHCPV6_TYPE, dhcpv6Option, DNS_TYPE, ETHER_TYPE, type Frame, NDP_HOP_LIMIT, NDP_TYPE, NETBIOS_NAME_PORT, parseReverseName,
} from "@lanthorn/packets";
import type { Exclusions } from "./exclusions.ts";
import { isUnlikelyName, LLMNR_PORT } from "./name-questions.ts";
import { MDNS_PORT } from "./request-frames.ts";

/** The name of a kind of frame that may be allowed to leave. */
export type EgressKind =
  | "arp-request" | "arp-probe" | "neighbor-solicitation" | "ipv6-all-nodes" | "mdns-query" | "dhcp-discover" | "dhcp-inform"
  | "dhcpv6-solicit" | "dhcpv6-information-request" | "router-solicitation" | "llmnr-question" | "netbios-question" | "mdns-question";

/**
 * What a frame has to be to leave: each kind is recognized by its bytes, and says which addresses it asks or reaches. Whatever is of no
 * kind does not leave.
 */
const KINDS: Readonly<Record<EgressKind, (frame: Frame) => Reached | null>> = {
  /** Asks who has an address. @see RFC 826 */
  "arp-request": (frame) => arpTarget(frame, (isProbe) => !isProbe),
  /** The same without an own address: it claims nothing. @see RFC 5227 section 2.1.1 */
  "arp-probe": (frame) => arpTarget(frame, (isProbe) => isProbe),
  /** @see RFC 4861 section 4.3 */
  "neighbor-solicitation": ({ etherType, icmpType, destinationIp, transportBytes }) =>
    (etherType === ETHER_TYPE.ipv6 && icmpType === NDP_TYPE.neighborSolicitation && destinationIp && transportBytes.length >= NDP_TARGET_AT + 16
      ? { addresses: [destinationIp, transportBytes.subarray(NDP_TARGET_AT, NDP_TARGET_AT + 16)] }
      : null),
  /** An echo request or a listener query to all IPv6 nodes of the link, the excluded ones among them. @see RFC 4443, RFC 3810 */
  "ipv6-all-nodes": ({ etherType, transport, icmpType, destinationIp }) =>
    (etherType === ETHER_TYPE.ipv6 && transport === "icmpv6" && icmpType !== NDP_TYPE.neighborSolicitation && icmpType !== NDP_TYPE.routerSolicitation
      && destinationIp
      ? { addresses: [destinationIp], reachesAllIpv6: true }
      : null),
  /** Asks for the names of addresses by Multicast DNS. @see RFC 6762 */
  "mdns-query": ({ etherType, destinationPort, payload }) =>
    (etherType === ETHER_TYPE.ipv4 && destinationPort === MDNS_PORT ? namedAddresses(payload) : null),
  /** Asks all DHCP servers for an offer, and binds no address. @see RFC 2131 section 4.4.1 */
  "dhcp-discover": (frame) => dhcpTarget(frame, DHCP_MESSAGE_TYPE.discover),
  /** Asks for parameters, with an own address. @see RFC 2131 section 4.4.3 */
  "dhcp-inform": (frame) => dhcpTarget(frame, DHCP_MESSAGE_TYPE.inform),
  /** Asks all DHCPv6 servers for an advertisement, and binds no address: without Rapid Commit. @see RFC 8415 sections 18.2.1 and 21.14 */
  "dhcpv6-solicit": (frame) => dhcpv6Target(frame, DHCPV6_TYPE.solicit),
  /** Asks for parameters without addresses. @see RFC 8415 section 18.2.6 */
  "dhcpv6-information-request": (frame) => dhcpv6Target(frame, DHCPV6_TYPE.informationRequest),
  /** Asks all routers for their advertisements. @see RFC 4861 section 4.1 */
  "router-solicitation": ({ etherType, icmpType, hopLimit, destinationIp }) =>
    (etherType === ETHER_TYPE.ipv6 && icmpType === NDP_TYPE.routerSolicitation && hopLimit === NDP_HOP_LIMIT && destinationIp
      ? { addresses: [destinationIp] }
      : null),
  /** Asks everyone for a name that nobody has. @see RFC 4795 */
  "llmnr-question": (frame) => nameTarget(frame, LLMNR_PORT, ""),
  /** The same by the NetBIOS name service. @see RFC 1002 section 4.2.12 */
  "netbios-question": (frame) => netbiosTarget(frame),
  /** The same by Multicast DNS. @see RFC 6762 */
  "mdns-question": (frame) => nameTarget(frame, MDNS_PORT, ".local"),
};

/** What finds hosts and watches over them. */
export const DISCOVERY_FRAMES: readonly EgressKind[] = ["arp-request", "arp-probe", "neighbor-solicitation", "ipv6-all-nodes", "mdns-query"];
/** What a guard checks a hint with. */
export const GUARD_FRAMES: readonly EgressKind[] = [
  "arp-probe", "neighbor-solicitation", "dhcp-discover", "dhcp-inform", "dhcpv6-solicit", "dhcpv6-information-request", "router-solicitation",
  "llmnr-question", "netbios-question", "mdns-question",
];

interface Reached {
  /** Four or sixteen bytes each. */
  readonly addresses: readonly Uint8Array[];
  readonly reachesAllIpv6?: boolean;
}

const NDP_TARGET_AT = 8;

/**
 * Whether a frame may leave: it is of an allowed kind, and neither goes to an excluded address nor asks for one.
 * @param bytes A whole Ethernet frame of our own, without VLAN tags.
 */
export function mayLeave(bytes: Uint8Array, allowed: readonly EgressKind[], exclusions: Exclusions): boolean {
  const decoded = decodeFrame(bytes);
  if (!decoded.ok) return false;
  for (const kind of allowed) {
    const reached = KINDS[kind](decoded.value);
    if (!reached) continue;
    if (reached.reachesAllIpv6 === true && exclusions.hasIpv6) return false;
    return !reached.addresses.some((address) => exclusions.holds(address));
  }
  return false;
}

function arpTarget({ etherType, networkBytes }: Frame, isKind: (isProbe: boolean) => boolean): Reached | null {
  const arp = etherType === ETHER_TYPE.arp ? decodeArp(networkBytes) : null;
  if (!arp?.ok || arp.value.operation !== ARP_OPERATION.request || arp.value.protocolType !== ETHER_TYPE.ipv4) return null;
  const isProbe = arp.value.senderProtocolAddress.every((byte) => byte === 0);
  return isKind(isProbe) ? { addresses: [arp.value.targetProtocolAddress] } : null;
}

/** @returns Null for a message that does anything but ask for the names of addresses. */
function namedAddresses(payload: Uint8Array): Reached | null {
  const message = decodeDns(payload);
  if (!message.ok || message.value.isResponse || message.value.questions.length === 0) return null;
  const addresses = message.value.questions.flatMap(({ name }) => parseReverseName(name) ?? []);
  return addresses.length === message.value.questions.length ? { addresses } : null;
}

/** @param ending What stands behind the unlikely name. @returns Null for a message that does anything but ask for one. */
function nameTarget({ etherType, destinationPort, destinationIp, payload }: Frame, port: number, ending: string): Reached | null {
  if (etherType !== ETHER_TYPE.ipv4 || destinationPort !== port || !destinationIp) return null;
  const message = decodeDns(payload);
  if (!message.ok || message.value.isResponse || message.value.opcode !== 0 || message.value.questions.length !== 1) return null;
  const { answers, authorities, questions: [question] } = message.value;
  if (answers.length + authorities.length > 0 || question?.type !== DNS_TYPE.a || !question.name.endsWith(ending)) return null;
  return isUnlikelyName(question.name.slice(0, question.name.length - ending.length)) ? { addresses: [destinationIp] } : null;
}

function netbiosTarget({ etherType, destinationPort, destinationIp, payload }: Frame): Reached | null {
  if (etherType !== ETHER_TYPE.ipv4 || destinationPort !== NETBIOS_NAME_PORT || !destinationIp) return null;
  const message = decodeNetbiosName(payload);
  if (!message.ok || message.value.isResponse || message.value.opcode !== 0 || message.value.addresses.length > 0) return null;
  return isUnlikelyName(message.value.name.name) ? { addresses: [destinationIp] } : null;
}

function dhcpTarget({ etherType, sourcePort, destinationPort, destinationIp, payload }: Frame, type: number): Reached | null {
  const isToServer = sourcePort === DHCP_PORT.client && destinationPort === DHCP_PORT.server;
  if (etherType !== ETHER_TYPE.ipv4 || !isToServer || !destinationIp) return null;
  const message = decodeDhcp(payload);
  const isKind = message.ok && message.value.op === DHCP_OP.bootRequest && dhcpMessageType(message.value.options) === type;
  return isKind ? { addresses: [destinationIp] } : null;
}

function dhcpv6Target({ etherType, sourcePort, destinationPort, destinationIp, payload }: Frame, type: number): Reached | null {
  const isToServer = sourcePort === DHCPV6_PORT.client && destinationPort === DHCPV6_PORT.server;
  if (etherType !== ETHER_TYPE.ipv6 || !isToServer || !destinationIp) return null;
  const message = decodeDhcpv6(payload);
  const isKind = message.ok && message.value.type === type && dhcpv6Option(message.value.options, DHCPV6_OPTION.rapidCommit) === null;
  return isKind ? { addresses: [destinationIp] } : null;
}
