import { badValue, decoded, type Decoded, truncated } from "../decoded.ts";
import { PacketsError } from "../errors.ts";
import { finishChecksum, sumWords } from "../checksum.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** The frame of Cisco's and of Foundry's discovery protocol: version, time to live, checksum, TLVs. */

const HEADER_LENGTH = 4;
const TLV_HEADER_LENGTH = 4;

/** A TLV before its type is read: `value` is what follows type and length. Types are the protocol's own, CDP's or FDP's. */
export interface CdpTlv {
  readonly type: number;
  /** A view. */
  readonly value: Uint8Array;
}

interface CdpEnvelope {
  readonly version: number;
  readonly ttlSeconds: number;
  /** As it was on the wire; `cdpChecksum` tells whether it is right. */
  readonly checksum: number;
  /** In wire order. */
  readonly tlvs: readonly CdpTlv[];
}

/** Protocol addresses, as type 2 and type 22 list them. */
export interface CdpAddress {
  /** 1 an ISO network layer identifier, 2 an 802.2 header. */
  readonly protocolType: number;
  /** `cc` is IPv4; eight bytes that end in `86dd` are IPv6. */
  readonly protocol: Uint8Array;
  readonly address: Uint8Array;
}

/** @param bytes What follows SNAP, without padding. A TLV that is shorter than its own header is `bad-value`. */
export function readCdpEnvelope(bytes: Uint8Array, layer: string): Decoded<CdpEnvelope> {
  const reader = new Reader(bytes);
  const [version, ttlSeconds, checksum] = [reader.u8(), reader.u8(), reader.u16()];
  if (reader.failed) return reader.malformed(layer);
  const tlvs: CdpTlv[] = [];
  // Some switches end with three or fewer bytes that belong to nothing.
  while (reader.remaining >= TLV_HEADER_LENGTH) {
    const start = reader.offset;
    const type = reader.u16();
    const length = reader.u16();
    if (length < TLV_HEADER_LENGTH) return badValue(layer, start + 2);
    const value = reader.take(length - TLV_HEADER_LENGTH);
    if (reader.failed) return truncated(layer, start);
    tlvs.push({ type, value });
  }
  return decoded({ version, ttlSeconds, checksum, tlvs });
}

/** @throws PacketsError for a TLV that is too long. */
export function writeCdpEnvelope({ version, ttlSeconds, tlvs }: Omit<CdpEnvelope, "checksum">): Uint8Array {
  const writer = new Writer(512).u8(version).u8(ttlSeconds).u16(0);
  for (const { type, value } of tlvs) {
    if (value.length + TLV_HEADER_LENGTH > 0xffff) throw new PacketsError(`TLV ${type} has ${value.length} bytes, which no length says`);
    writer.u16(type).u16(value.length + TLV_HEADER_LENGTH).put(value);
  }
  const bytes = writer.finish();
  writer.setU16(2, cdpChecksum(bytes));
  return bytes;
}

/**
 * The checksum of a PDU whose own field is zero; 0 when that field is filled and right. It is the Internet checksum, but for a
 * last odd byte: Cisco adds it as a signed number in the low half of its word.
 * @param bytes What follows SNAP, without padding.
 */
export function cdpChecksum(bytes: Uint8Array): number {
  if (bytes.length < HEADER_LENGTH || bytes.length % 2 === 0) return finishChecksum(sumWords(bytes));
  const last = bytes[bytes.length - 1] as number;
  // A negative number of 32 bits, folded to 16.
  return finishChecksum(sumWords(bytes, 0, bytes.length - 1) + (last < 0x80 ? last : 0xff00 + last - 1));
}

/** @returns Null when a length points past the end. A count that promises more than there is counts for nothing. */
export function readCdpAddresses(value: Uint8Array): readonly CdpAddress[] | null {
  const reader = new Reader(value);
  const count = reader.u32();
  const addresses: CdpAddress[] = [];
  while (addresses.length < count && reader.remaining > 0) {
    const protocolType = reader.u8();
    const protocol = reader.take(reader.u8());
    const address = reader.take(reader.u16());
    if (!reader.failed) addresses.push({ protocolType, protocol, address });
  }
  return reader.failed ? null : addresses;
}

/** The value of a TLV of type 2 or 22: the number of addresses in 32 bits, then each one. Lengths are not checked here. */
export function writeCdpAddresses(addresses: readonly CdpAddress[]): Uint8Array {
  const writer = new Writer().u32(addresses.length);
  for (const { protocolType, protocol, address } of addresses) {
    writer.u8(protocolType).u8(protocol.length).put(protocol).u16(address.length).put(address);
  }
  return writer.finish();
}

/** The address as IPv4 or IPv6, or null where it is neither. */
export function cdpIpAddress({ protocolType, protocol, address }: CdpAddress): Uint8Array | null {
  const isIpv4 = protocolType === 1 && protocol.length === 1 && protocol[0] === 0xcc && address.length === 4;
  const isIpv6 = protocolType === 2 && protocol.length === 8 && protocol[6] === 0x86 && protocol[7] === 0xdd && address.length === 16;
  return isIpv4 || isIpv6 ? address : null;
}
