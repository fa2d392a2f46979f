/** What our decoders say of a frame, in the words of tshark's fields. For tests only. */
import { decodeArp } from "../link/arp.ts";
import type { CaptureRecord } from "../capture-file/capture-file-framing.ts";
import type { Decoded, Malformed } from "../decoded.ts";
import { decodeDhcp, DHCP_PORT } from "../dhcp/dhcp.ts";
import { decodeDns, DNS_PORT } from "../dns/dns.ts";
import { decodeFrame, type Frame } from "../frame.ts";
import { decodeIcmpv6 } from "../ip/icmpv6.ts";
import type { NdpOption } from "../ip/ndp-options.ts";
import { isLinkType } from "../numbers.ts";
import { decodeTcp, type TcpSegment } from "../transport/tcp.ts";
import { type Add, collectFacts, type Facts } from "./facts.ts";
import { addDhcp, addDns } from "./tshark-message-facts.ts";

/** @returns Null for a link type that `decodeFrame` does not read; else the facts, or where the frame is malformed. */
export function factsOf(record: CaptureRecord): Decoded<Facts> | null {
  const { linkType } = record;
  if (!isLinkType(linkType)) return null;
  const decoded = decodeFrame(record.bytes, { linkType, wireLength: record.originalLength });
  if (!decoded.ok) return decoded;
  const frame = decoded.value;
  const { facts, add } = collectFacts();
  addRecord(add, record);
  addLink(add, frame);
  const failure = addNetwork(add, frame) ?? addTransport(add, frame);
  return failure ?? { ok: true, value: facts };
}

function addRecord(add: Add, record: CaptureRecord): void {
  add("frame.time_epoch", `${record.seconds}.${String(record.nanoseconds).padStart(9, "0")}`);
  add("frame.len", record.originalLength);
  add("frame.cap_len", record.bytes.length);
}

function addLink(add: Add, frame: Frame): void {
  if (frame.destinationMac) {
    add("eth.dst", frame.destinationMac);
    add("eth.src", frame.sourceMac);
  }
  for (const tag of frame.vlanTags) {
    add(tag.protocol === 0x88a8 ? "ieee8021ad.id" : "vlan.id", tag.vlanId);
    if (tag.protocol === 0x8100) add("vlan.priority", tag.priority);
  }
}

/** @returns What is wrong, or null. */
function addNetwork(add: Add, frame: Frame): Malformed | null {
  if (frame.network === "arp") {
    const arp = decodeArp(frame.networkBytes);
    if (!arp.ok) return arp;
    const { value } = arp;
    // ATM lays ARP out in its own way (RFC 2225), which only tshark reads.
    if (value.hardwareType === 19) return null;
    add("arp.opcode", value.operation);
    if (value.hardwareType === 1) {
      add("arp.src.hw_mac", value.senderHardwareAddress);
      add("arp.dst.hw_mac", value.targetHardwareAddress);
    }
    if (value.protocolType === 0x0800) {
      add("arp.src.proto_ipv4", value.senderProtocolAddress);
      add("arp.dst.proto_ipv4", value.targetProtocolAddress);
    }
  } else if (frame.network === "ipv4") {
    add("ip.src", frame.sourceIp);
    add("ip.dst", frame.destinationIp);
    // What the header says: behind an authentication header there is another protocol.
    add("ip.proto", frame.networkBytes[9] ?? null);
    add("ip.ttl", frame.hopLimit);
    add("ip.flags.mf", frame.moreFragments);
    // Counted in units of eight bytes, as on the wire.
    add("ip.frag_offset", frame.fragmentOffset / 8);
  } else if (frame.network === "ipv6") {
    add("ipv6.src", frame.sourceIp);
    add("ipv6.dst", frame.destinationIp);
    add("ipv6.hlim", frame.hopLimit);
  }
  return null;
}

/** @returns What is wrong, or null. */
function addTransport(add: Add, frame: Frame): Malformed | null {
  switch (frame.transport) {
    case "udp":
      add("udp.srcport", frame.sourcePort);
      add("udp.dstport", frame.destinationPort);
      return addDatagram(add, frame);
    case "tcp": {
      const tcp = decodeTcp(frame.transportBytes);
      if (!tcp.ok) return tcp;
      addTcp(add, tcp.value);
      return null;
    }
    case "icmpv4":
      add("icmp.type", frame.icmpType);
      add("icmp.code", frame.icmpCode);
      return null;
    case "icmpv6":
      add("icmpv6.type", frame.icmpType);
      add("icmpv6.code", frame.icmpCode);
      return addIcmpv6(add, frame);
    case "other":
    case "none":
  }
  return null;
}

const TCP_OPTION_KINDS = {
  "no-operation": 1, "maximum-segment-size": 2, "window-scale": 3, "sack-permitted": 4, sack: 5, timestamps: 8,
} as const;

function addTcp(add: Add, segment: TcpSegment): void {
  add("tcp.srcport", segment.sourcePort);
  add("tcp.dstport", segment.destinationPort);
  add("tcp.flags", segment.flags);
  add("tcp.seq_raw", segment.sequenceNumber);
  add("tcp.ack_raw", segment.acknowledgmentNumber);
  add("tcp.window_size_value", segment.window);
  add("tcp.len", segment.payload.length);
  for (const option of segment.options) {
    add("tcp.option_kind", option.kind === "unknown" ? option.number : TCP_OPTION_KINDS[option.kind]);
    if (option.kind === "maximum-segment-size") add("tcp.options.mss_val", option.bytes);
    if (option.kind === "window-scale") add("tcp.options.wscale.shift", option.shift);
    if (option.kind === "timestamps") {
      add("tcp.options.timestamp.tsval", option.value);
      add("tcp.options.timestamp.tsecr", option.echoReply);
    }
    if (option.kind === "sack") {
      add("tcp.options.sack_le", ...option.blocks.map(({ left }) => left));
      add("tcp.options.sack_re", ...option.blocks.map(({ right }) => right));
    }
  }
}

const NDP_OPTION_TYPES = {
  "source-link-layer-address": 1, "target-link-layer-address": 2, "prefix-information": 3, mtu: 5, "recursive-dns-servers": 25,
} as const;

/** @returns What is wrong, or null. */
function addIcmpv6(add: Add, frame: Frame): Malformed | null {
  const decoded = decodeIcmpv6(frame.transportBytes);
  if (!decoded.ok) return decoded;
  const message = decoded.value;
  switch (message.kind) {
    case "echo-request":
    case "echo-reply":
    case "error":
    case "other":
    case "mld-query":
    case "mld-report":
    case "mld-done":
    case "mld-version-2-report":
      return null;
    case "router-advertisement":
      add("icmpv6.nd.ra.cur_hop_limit", message.hopLimit);
      add("icmpv6.nd.ra.flag.m", message.isManaged);
      add("icmpv6.nd.ra.flag.o", message.hasOtherConfiguration);
      add("icmpv6.nd.ra.router_lifetime", message.routerLifetimeSeconds);
      add("icmpv6.nd.ra.retrans_timer", message.retransmissionTimerMs);
      break;
    case "neighbor-solicitation":
      add("icmpv6.nd.ns.target_address", message.target);
      break;
    case "neighbor-advertisement":
      add("icmpv6.nd.na.target_address", message.target);
      add("icmpv6.nd.na.flag.r", message.isRouter);
      add("icmpv6.nd.na.flag.s", message.isSolicited);
      add("icmpv6.nd.na.flag.o", message.isOverride);
      break;
    case "redirect":
      add("icmpv6.nd.rd.target_address", message.target);
      add("icmpv6.rd.na.destination_address", message.destination);
      break;
    case "router-solicitation":
      break;
  }
  for (const option of message.options) addNdpOption(add, option);
  return null;
}

function addNdpOption(add: Add, option: NdpOption): void {
  add("icmpv6.opt.type", option.kind === "unknown" ? option.type : NDP_OPTION_TYPES[option.kind]);
  switch (option.kind) {
    case "source-link-layer-address":
    case "target-link-layer-address":
      return add("icmpv6.opt.linkaddr", option.address);
    case "prefix-information":
      add("icmpv6.opt.prefix.length", option.prefixLength);
      add("icmpv6.opt.prefix.flag.l", option.isOnLink);
      add("icmpv6.opt.prefix.flag.a", option.isAutonomous);
      add("icmpv6.opt.prefix.valid_lifetime", option.validLifetimeSeconds);
      add("icmpv6.opt.prefix.preferred_lifetime", option.preferredLifetimeSeconds);
      return add("icmpv6.opt.prefix", option.prefix);
    case "mtu":
      return add("icmpv6.opt.mtu", option.mtu);
    case "recursive-dns-servers":
      add("icmpv6.opt.rdnss.lifetime", option.lifetimeSeconds);
      return add("icmpv6.opt.rdnss", ...option.servers);
    case "unknown":
  }
}

/** @returns What is wrong, or null. */
function addDatagram(add: Add, frame: Frame): Malformed | null {
  // A first fragment holds only the beginning of a message.
  if (frame.moreFragments || frame.isCut) return null;
  const ports = [frame.sourcePort, frame.destinationPort];
  if (ports.some((port) => port === DNS_PORT.dns || port === DNS_PORT.multicast)) {
    const message = decodeDns(frame.payload);
    if (!message.ok) return message;
    addDns(add, message.value);
  } else if (ports.some((port) => port === DHCP_PORT.server || port === DHCP_PORT.client)) {
    const message = decodeDhcp(frame.payload);
    if (!message.ok) return message;
    addDhcp(add, message.value);
  }
  return null;
}

/** Every field that `factsOf` may give; tshark is asked for these. */
export const FACT_FIELDS: readonly string[] = `
  _ws.malformed
  frame.time_epoch frame.len frame.cap_len eth.dst eth.src vlan.id vlan.priority ieee8021ad.id
  arp.opcode arp.src.hw_mac arp.dst.hw_mac arp.src.proto_ipv4 arp.dst.proto_ipv4
  ip.src ip.dst ip.proto ip.ttl ip.flags.mf ip.frag_offset ipv6.src ipv6.dst ipv6.hlim
  udp.srcport udp.dstport tcp.srcport tcp.dstport tcp.flags tcp.seq_raw tcp.ack_raw tcp.window_size_value tcp.len
  tcp.option_kind tcp.options.mss_val tcp.options.wscale.shift tcp.options.timestamp.tsval tcp.options.timestamp.tsecr
  tcp.options.sack_le tcp.options.sack_re icmp.type icmp.code icmpv6.type icmpv6.code
  icmpv6.nd.ra.cur_hop_limit icmpv6.nd.ra.flag.m icmpv6.nd.ra.flag.o icmpv6.nd.ra.router_lifetime icmpv6.nd.ra.retrans_timer
  icmpv6.nd.ns.target_address icmpv6.nd.na.target_address icmpv6.nd.na.flag.r icmpv6.nd.na.flag.s icmpv6.nd.na.flag.o
  icmpv6.nd.rd.target_address icmpv6.rd.na.destination_address icmpv6.opt.type icmpv6.opt.linkaddr icmpv6.opt.prefix.length
  icmpv6.opt.prefix.flag.l icmpv6.opt.prefix.flag.a icmpv6.opt.prefix.valid_lifetime icmpv6.opt.prefix.preferred_lifetime
  icmpv6.opt.prefix icmpv6.opt.mtu icmpv6.opt.rdnss.lifetime icmpv6.opt.rdnss
  dhcp.type dhcp.id dhcp.secs dhcp.flags dhcp.ip.client dhcp.ip.your dhcp.ip.server dhcp.ip.relay dhcp.hw.mac_addr dhcp.option.type
  dhcp.option.dhcp dhcp.option.hostname dhcp.option.domain_name dhcp.option.vendor_class_id dhcp.option.request_list_item
  dhcp.option.requested_ip_address dhcp.option.dhcp_server_id dhcp.option.ip_address_lease_time dhcp.option.router
  dhcp.option.domain_name_server dhcp.fqdn.name dhcp.option.agent_information_option.suboption
  dns.id dns.flags.response dns.flags.opcode dns.flags.truncated dns.flags.recdesired dns.flags.authoritative dns.flags.recavail
  dns.flags.rcode dns.qry.name dns.qry.type dns.resp.name dns.resp.type dns.resp.ttl dns.a dns.aaaa dns.ns dns.cname
  dns.ptr.domain_name dns.soa.mname dns.soa.rname dns.soa.serial_number dns.mx.preference dns.mx.mail_exchange dns.txt
  dns.srv.service dns.srv.proto dns.srv.name dns.srv.priority dns.srv.weight dns.srv.port dns.srv.target
  dns.nsec.next_domain_name dns.rr.udp_payload_size dns.opt.code
`.trim().split(/\s+/);
