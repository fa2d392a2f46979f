import {
  ARP_OPERATION,
  ETHER_TYPE,
  type Frame,
  isUnspecifiedIp,
  MLD_TYPE,
  NDP_HOP_LIMIT,
  ndpLinkLayerAddress,
} from "@lanthorn/packets";
import type { BusFrame } from "../bus/frame-bus.ts";
import { macKey } from "../hosts/host.ts";
import { observeDhcp } from "./dhcp.ts";
import { isForeignHost, isNeighborAddress, type Link, sameMac } from "../capture/link.ts";
import { observeMdns } from "./mdns.ts";
import type { Observer } from "../hosts/observer.ts";
import { observeSsdp } from "./ssdp.ts";
import { observeTcp } from "./tcp.ts";

const FROM = {
  arp: { source: "arp", solicited: false },
  arpAnswer: { source: "arp", solicited: true },
  ndp: { source: "ndp", solicited: false },
  ndpAnswer: { source: "ndp", solicited: true },
  traffic: { source: "traffic", solicited: false },
} as const;

const MIN_HEADER = 14;
const MDNS_PORT = 5353;
const SSDP_PORT = 1900;
const DHCP_SERVER_PORT = 67;

/**
 * Reads one frame for evidence of hosts: broadcast and multicast of any kind, and what is sent to us. Own frames, frames of other VLANs
 * and frames between others say nothing; what is malformed still shows that its sender lives.
 */
export function observeFrame(frame: BusFrame, link: Link, observer: Observer): void {
  const { bytes } = frame;
  if (bytes.length < MIN_HEADER || !isForeignHost(link, bytes, 6)) return;
  const isForUs = sameMac(link.mac, bytes, 0);
  if (!isForUs && ((bytes[0] as number) & 1) === 0) return;
  const sender = macKey(bytes, 6);
  const decoded = frame.decoded();
  if (!decoded.ok) {
    observer.seen(sender, null, FROM.traffic);
    return;
  }
  const { value } = decoded;
  if (value.vlanTags.length > 0 && value.vlanTags.some(({ vlanId }) => vlanId !== 0)) return;
  if (value.etherType === ETHER_TYPE.arp) observeArp(frame, { sender, link, observer, isForUs });
  else if (value.ipLength > 0) observeIp(frame, value, { sender, link, observer, isForUs });
  else observer.seen(sender, null, FROM.traffic);
}

interface Scene {
  readonly sender: number;
  readonly link: Link;
  readonly observer: Observer;
  readonly isForUs: boolean;
}

function observeArp(frame: BusFrame, { sender, link, observer, isForUs }: Scene): void {
  const decoded = frame.arp();
  const packet = decoded.ok ? decoded.value : null;
  if (packet?.hardwareType !== 1 || packet.protocolType !== ETHER_TYPE.ipv4 || !isForeignHost(link, packet.senderHardwareAddress, 0)) {
    observer.seen(sender, null, FROM.arp);
    return;
  }
  // The binding is what the packet says; behind a wireless bridge the frame comes from another MAC.
  const owner = macKey(packet.senderHardwareAddress);
  if (owner !== sender) observer.seen(sender, null, FROM.traffic);
  const address = packet.senderProtocolAddress;
  const answers = isForUs && packet.operation === ARP_OPERATION.reply;
  observer.seen(owner, isNeighborAddress(link, address, 0, 4) ? address : null, answers ? FROM.arpAnswer : FROM.arp);
  // RFC 5227 section 2.1.1: a probe has no sender address, and asks for the one that its sender means to take.
  if (isUnspecifiedIp(address) && isNeighborAddress(link, packet.targetProtocolAddress, 0, 4)) {
    observer.expectation(owner, packet.targetProtocolAddress);
  }
}

function observeIp(captured: BusFrame, frame: Frame, scene: Scene): void {
  const { sender, link, observer } = scene;
  if (frame.icmpType >= 133 && frame.transport === "icmpv6" && frame.hopLimit === NDP_HOP_LIMIT && observeNdp(captured, frame, scene)) return;
  // The source address of a router's frame is somebody else's: only one of this link is the sender's own.
  const source = frame.sourceIp as Uint8Array;
  const isNeighbor = isNeighborAddress(link, source, 0, source.length);
  observer.seen(sender, isNeighbor ? source : null, FROM.traffic);
  if (frame.icmpType === MLD_TYPE.query && frame.transport === "icmpv6") observer.listenerQuery();
  if (frame.transport === "tcp" && isNeighbor) observeTcp(frame, sender, observer);
  if (frame.transport !== "udp") return;
  if (frame.sourcePort === MDNS_PORT) observeMdns(captured, link, observer);
  else if (frame.destinationPort === SSDP_PORT && isNeighbor) observeSsdp(frame.payload, sender, observer);
  else if (frame.destinationPort === DHCP_SERVER_PORT || frame.sourcePort === DHCP_SERVER_PORT) observeDhcp(captured, link, observer);
}

/** @returns False for a message that says nothing of its own about its sender. */
function observeNdp(captured: BusFrame, frame: Frame, { sender, link, observer, isForUs }: Scene): boolean {
  const decoded = captured.icmpv6();
  if (!decoded.ok || !("options" in decoded.value) || decoded.value.kind === "redirect") return false;
  const message = decoded.value;
  const said = ndpLinkLayerAddress(message);
  const owner = said?.length === 6 && isForeignHost(link, said, 0) ? macKey(said) : sender;
  if (owner !== sender) observer.seen(sender, null, FROM.traffic);
  const isAdvertisement = message.kind === "neighbor-advertisement";
  const address = isAdvertisement ? message.target : (frame.sourceIp as Uint8Array);
  const isAnswer = isAdvertisement && message.isSolicited && isForUs;
  observer.seen(owner, isNeighborAddress(link, address, 0, 16) ? address : null, isAnswer ? FROM.ndpAnswer : FROM.ndp);
  // RFC 4862 section 5.4.2: duplicate address detection asks from the unspecified address.
  if (message.kind === "neighbor-solicitation" && isUnspecifiedIp(address) && isNeighborAddress(link, message.target, 0, 16)) {
    observer.expectation(owner, message.target);
  }
  return true;
}
