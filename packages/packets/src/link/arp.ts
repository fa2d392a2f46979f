import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { IPV4_LENGTH, MAC_LENGTH } from "../addresses.ts";
import type { FrameFields } from "../frame-fields.ts";
import { requireRange } from "../limits.ts";
import { ETHER_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 826: Address Resolution Protocol. */

/** @see https://www.iana.org/assignments/arp-parameters */
export const ARP_OPERATION = { request: 1, reply: 2 } as const;

const ETHERNET_HARDWARE = 1;

/** A request or reply; addresses are bytes as on the wire. @see RFC 826, "Packet format" */
export interface ArpPacket {
  /** 1 is Ethernet. */
  readonly hardwareType: number;
  /** An EtherType; 0x0800 is IPv4. */
  readonly protocolType: number;
  /** 1 asks, 2 answers. */
  readonly operation: number;
  /** Six bytes when `hardwareType` is 1. */
  readonly senderHardwareAddress: Uint8Array;
  /** Four bytes when `protocolType` is 0x0800; 0.0.0.0 in a probe of RFC 5227. */
  readonly senderProtocolAddress: Uint8Array;
  readonly targetHardwareAddress: Uint8Array;
  readonly targetProtocolAddress: Uint8Array;
}

/** @param bytes From the hardware type on; padding behind is ignored. @returns Views of `bytes`. */
export function decodeArp(bytes: Uint8Array): Decoded<ArpPacket> {
  const reader = new Reader(bytes);
  const hardwareType = reader.u16();
  const protocolType = reader.u16();
  const hardwareLength = reader.u8();
  const protocolLength = reader.u8();
  const operation = reader.u16();
  const addresses = reader.offset;
  reader.skip(2 * (hardwareLength + protocolLength));
  if (reader.failed) return reader.malformed("arp");
  if (hardwareType === ETHERNET_HARDWARE && hardwareLength !== MAC_LENGTH) return badValue("arp", 4);
  if (protocolType === ETHER_TYPE.ipv4 && protocolLength !== IPV4_LENGTH) return badValue("arp", 5);
  reader.seek(addresses);
  return decoded({
    hardwareType,
    protocolType,
    operation,
    senderHardwareAddress: reader.take(hardwareLength),
    senderProtocolAddress: reader.take(protocolLength),
    targetHardwareAddress: reader.take(hardwareLength),
    targetProtocolAddress: reader.take(protocolLength),
  });
}

/** What is needed of a packet for Ethernet and IPv4. */
export type ArpFields = Omit<ArpPacket, "hardwareType" | "protocolType"> & Partial<Pick<ArpPacket, "hardwareType" | "protocolType">>;

/**
 * @param packet Ethernet and IPv4 unless it says otherwise.
 * @throws PacketsError when sender and target lengths differ or do not fit the types.
 */
export function encodeArp(packet: ArpFields): Uint8Array {
  const { hardwareType = ETHERNET_HARDWARE, protocolType = ETHER_TYPE.ipv4 } = packet;
  const hardwareLength = packet.senderHardwareAddress.length;
  const protocolLength = packet.senderProtocolAddress.length;
  requireRange("arp.senderHardwareAddress.length", hardwareLength, 0, 0xff);
  requireRange("arp.senderProtocolAddress.length", protocolLength, 0, 0xff);
  requireRange("arp.targetHardwareAddress.length", packet.targetHardwareAddress.length, hardwareLength, hardwareLength);
  requireRange("arp.targetProtocolAddress.length", packet.targetProtocolAddress.length, protocolLength, protocolLength);
  if (hardwareType === ETHERNET_HARDWARE) requireRange("arp.senderHardwareAddress.length", hardwareLength, MAC_LENGTH, MAC_LENGTH);
  if (protocolType === ETHER_TYPE.ipv4) requireRange("arp.senderProtocolAddress.length", protocolLength, IPV4_LENGTH, IPV4_LENGTH);
  requireRange("arp.hardwareType", hardwareType, 0, 0xffff);
  requireRange("arp.protocolType", protocolType, 0, 0xffff);
  requireRange("arp.operation", packet.operation, 0, 0xffff);
  return new Writer(28)
    .u16(hardwareType)
    .u16(protocolType)
    .u8(hardwareLength)
    .u8(protocolLength)
    .u16(packet.operation)
    .put(packet.senderHardwareAddress)
    .put(packet.senderProtocolAddress)
    .put(packet.targetHardwareAddress)
    .put(packet.targetProtocolAddress)
    .finish();
}

/** Checks that all addresses are there, and cuts the padding. */
export function scanArp(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const hardwareType = reader.u16();
  const protocolType = reader.u16();
  const hardwareLength = reader.u8();
  const protocolLength = reader.u8();
  const operation = reader.u16();
  reader.skip(2 * (hardwareLength + protocolLength));
  if (reader.failed) return reader.malformed("arp");
  if (hardwareType === ETHERNET_HARDWARE && hardwareLength !== MAC_LENGTH) return badValue("arp", start + 4);
  if (protocolType === ETHER_TYPE.ipv4 && protocolLength !== IPV4_LENGTH) return badValue("arp", start + 5);
  fields.network = "arp";
  fields.arpOperation = operation;
  fields.networkEnd = reader.offset;
  fields.payloadOffset = reader.offset;
  fields.payloadEnd = reader.offset;
  return null;
}
