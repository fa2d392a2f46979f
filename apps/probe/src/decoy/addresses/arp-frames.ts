/** Requests, probes, announcements and answers of ARP as whole frames. @see RFC 826, RFC 5227 section 1.1 */
import { ARP_OPERATION, type ArpPacket, BROADCAST_MAC, decodeArp, decodeEthernet, encodeArp, encodeEthernet, ETHER_TYPE, IPV4_LENGTH, MAC_LENGTH } from "@lanthorn/packets";

const [NO_MAC, NO_ADDRESS] = [new Uint8Array(MAC_LENGTH), new Uint8Array(IPV4_LENGTH)];

/** @param from Without `ip` nobody's address is claimed: a probe. */
export function arpRequest(from: { readonly mac: Uint8Array; readonly ip?: Uint8Array }, target: Uint8Array): Uint8Array {
  return toFrame(BROADCAST_MAC, {
    operation: ARP_OPERATION.request, senderHardwareAddress: from.mac, senderProtocolAddress: from.ip ?? NO_ADDRESS, targetHardwareAddress: NO_MAC, targetProtocolAddress: target,
  });
}

/** Answers a request for an address of ours. */
export function arpAnswer(own: { readonly mac: Uint8Array; readonly ip: Uint8Array }, request: ArpPacket): Uint8Array {
  return toFrame(request.senderHardwareAddress, {
    operation: ARP_OPERATION.reply, senderHardwareAddress: own.mac, senderProtocolAddress: own.ip,
    targetHardwareAddress: request.senderHardwareAddress, targetProtocolAddress: request.senderProtocolAddress,
  });
}

/** @returns Null for what is no ARP between Ethernet and IPv4 addresses. */
export function readArpFrame(bytes: Uint8Array): ArpPacket | null {
  const frame = decodeEthernet(bytes);
  if (!frame.ok || frame.value.etherType !== ETHER_TYPE.arp) return null;
  const arp = decodeArp(frame.value.payload);
  return arp.ok && arp.value.hardwareType === 1 && arp.value.protocolType === ETHER_TYPE.ipv4 ? arp.value : null;
}

/** Whether a packet asks for an address without claiming one. @see RFC 5227 section 1.1 */
export function isArpProbe({ operation, senderProtocolAddress }: ArpPacket): boolean {
  return operation === ARP_OPERATION.request && senderProtocolAddress.every((octet) => octet === 0);
}

function toFrame(destination: Uint8Array, arp: Parameters<typeof encodeArp>[0]): Uint8Array {
  return encodeEthernet({ destination: Uint8Array.from(destination), source: arp.senderHardwareAddress, etherType: ETHER_TYPE.arp, payload: encodeArp(arp) });
}
