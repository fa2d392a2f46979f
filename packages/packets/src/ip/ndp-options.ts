import { IPV6_LENGTH } from "../addresses.ts";
import { badValue, decoded, type Decoded } from "../decoded.ts";
import { requireLength, requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 4861 section 4.6, RFC 8106 section 5.1: options of Neighbor Discovery. */

/** One option. Addresses are bytes as on the wire. @see RFC 4861 section 4.6, RFC 8106 section 5.1 */
export type NdpOption =
  | { readonly kind: "source-link-layer-address"; readonly address: Uint8Array }
  | { readonly kind: "target-link-layer-address"; readonly address: Uint8Array }
  | NdpPrefixInformation
  | { readonly kind: "mtu"; readonly mtu: number }
  | { readonly kind: "recursive-dns-servers"; readonly lifetimeSeconds: number; readonly servers: readonly Uint8Array[] }
  /** Any other type, without its type and length bytes. */
  | { readonly kind: "unknown"; readonly type: number; readonly data: Uint8Array };

/** A network that a router announces on the link. @see RFC 4861 section 4.6.2 */
export interface NdpPrefixInformation {
  readonly kind: "prefix-information";
  readonly prefixLength: number;
  readonly isOnLink: boolean;
  /** Hosts make addresses from it by themselves. */
  readonly isAutonomous: boolean;
  /** 4294967295 is for ever. */
  readonly validLifetimeSeconds: number;
  readonly preferredLifetimeSeconds: number;
  /** Sixteen bytes. */
  readonly prefix: Uint8Array;
}

const SOURCE_LINK_LAYER_ADDRESS = 1;
const TARGET_LINK_LAYER_ADDRESS = 2;
const PREFIX_INFORMATION = 3;
const MTU = 5;
const RECURSIVE_DNS_SERVERS = 25;

/**
 * Options in wire order, as views. A length of zero, and a length that cannot be a known option's, is `bad-value`: hosts discard the
 * whole message then, and so must who judges it.
 */
export function decodeNdpOptions(bytes: Uint8Array): Decoded<readonly NdpOption[]> {
  const reader = new Reader(bytes);
  const options: NdpOption[] = [];
  while (reader.remaining > 0) {
    const start = reader.offset;
    const type = reader.u8();
    const length = reader.u8() * 8;
    if (!reader.failed && length === 0) return badValue("ndp-option", start + 1);
    const data = reader.take(length - 2);
    if (reader.failed) return reader.malformed("ndp-option");
    const option = readOption(type, data);
    if (!option) return badValue("ndp-option", start + 1);
    options.push(option);
  }
  return decoded(options);
}

/** Null when `data` has a length that this type cannot have. */
function readOption(type: number, data: Uint8Array): NdpOption | null {
  const reader = new Reader(data);
  switch (type) {
    case SOURCE_LINK_LAYER_ADDRESS:
      return { kind: "source-link-layer-address", address: data };
    case TARGET_LINK_LAYER_ADDRESS:
      return { kind: "target-link-layer-address", address: data };
    case PREFIX_INFORMATION:
      return data.length === 30 ? readPrefix(reader) : null;
    case MTU:
      reader.skip(2);
      return data.length === 6 ? { kind: "mtu", mtu: reader.u32() } : null;
    case RECURSIVE_DNS_SERVERS: {
      if (data.length < 22 || data.length % 16 !== 6) return null;
      reader.skip(2);
      const lifetimeSeconds = reader.u32();
      const servers: Uint8Array[] = [];
      while (reader.remaining > 0) servers.push(reader.take(IPV6_LENGTH));
      return { kind: "recursive-dns-servers", lifetimeSeconds, servers };
    }
    default:
      return { kind: "unknown", type, data };
  }
}

function readPrefix(reader: Reader): NdpPrefixInformation {
  const prefixLength = reader.u8();
  const flags = reader.u8();
  const validLifetimeSeconds = reader.u32();
  const preferredLifetimeSeconds = reader.u32();
  reader.skip(4);
  return {
    kind: "prefix-information",
    prefixLength,
    isOnLink: (flags & 0x80) !== 0,
    isAutonomous: (flags & 0x40) !== 0,
    validLifetimeSeconds,
    preferredLifetimeSeconds,
    prefix: reader.rest(),
  };
}

/** Options, each padded with zeros to a multiple of eight bytes. @throws PacketsError for one that has no encoding. */
export function encodeNdpOptions(options: readonly NdpOption[]): Uint8Array {
  const writer = new Writer(64);
  for (const option of options) {
    const start = writer.length;
    writeOption(writer, option);
    writer.zeros((8 - ((writer.length - start) % 8)) % 8);
    const eights = (writer.length - start) / 8;
    requireRange(`ndp option ${option.kind}: its length in eights`, eights, 1, 0xff);
    writer.setU8(start + 1, eights);
  }
  return writer.finish();
}

function writeOption(writer: Writer, option: NdpOption): void {
  switch (option.kind) {
    case "source-link-layer-address":
      writer.u8(SOURCE_LINK_LAYER_ADDRESS).u8(0).put(option.address);
      return;
    case "target-link-layer-address":
      writer.u8(TARGET_LINK_LAYER_ADDRESS).u8(0).put(option.address);
      return;
    case "prefix-information":
      requireRange("ndp prefix length", option.prefixLength, 0, 128);
      requireLength("ndp prefix", option.prefix, IPV6_LENGTH);
      requireRange("ndp prefix: its valid lifetime", option.validLifetimeSeconds, 0, 0xffff_ffff);
      requireRange("ndp prefix: its preferred lifetime", option.preferredLifetimeSeconds, 0, 0xffff_ffff);
      writer.u8(PREFIX_INFORMATION).u8(0).u8(option.prefixLength);
      writer.u8((option.isOnLink ? 0x80 : 0) | (option.isAutonomous ? 0x40 : 0));
      writer.u32(option.validLifetimeSeconds).u32(option.preferredLifetimeSeconds).u32(0).put(option.prefix);
      return;
    case "mtu":
      requireRange("ndp mtu", option.mtu, 0, 0xffff_ffff);
      writer.u8(MTU).u8(0).u16(0).u32(option.mtu);
      return;
    case "recursive-dns-servers":
      requireRange("ndp dns servers: their lifetime", option.lifetimeSeconds, 0, 0xffff_ffff);
      requireRange("ndp dns servers: their number", option.servers.length, 1, 127);
      writer.u8(RECURSIVE_DNS_SERVERS).u8(0).u16(0).u32(option.lifetimeSeconds);
      for (const server of option.servers) {
        requireLength("ndp dns server", server, IPV6_LENGTH);
        writer.put(server);
      }
      return;
    case "unknown":
      requireRange("ndp option type", option.type, 0, 0xff);
      writer.u8(option.type).u8(0).put(option.data);
  }
}
