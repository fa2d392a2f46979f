import { badValue, decoded, type Decoded } from "../decoded.ts";
import { IPV4_LENGTH } from "../addresses.ts";
import { type DhcpOptions, readDhcpOptions, writeDhcpOptions } from "./dhcp-options.ts";
import { PacketsError } from "../errors.ts";
import { requireLength, requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 2131: Dynamic Host Configuration Protocol for IPv4, in the frame of BOOTP (RFC 951). */

/** UDP ports. */
export const DHCP_PORT = { server: 67, client: 68 } as const;

/** Values of `op`. */
export const DHCP_OP = { bootRequest: 1, bootReply: 2 } as const;

/** In `flags`: the client cannot take a unicast answer yet. */
export const DHCP_BROADCAST_FLAG = 0x8000;

const MAGIC_COOKIE = 0x63825363;
const CHADDR_LENGTH = 16;
const SNAME_LENGTH = 64;
const FILE_LENGTH = 128;
const CHADDR_AT = 28;
const SNAME_AT = CHADDR_AT + CHADDR_LENGTH;
const FILE_AT = SNAME_AT + SNAME_LENGTH;
const COOKIE_AT = FILE_AT + FILE_LENGTH;
const OPTIONS_AT = COOKIE_AT + 4;
/** BOOTP's own length, below which relays of its age drop a message. RFC 1542 section 2.1. */
const MINIMUM_LENGTH = 300;

/** Fields are named as RFC 2131 section 2 names them. */
export interface DhcpMessage {
  /** 1 from a client, 2 from a server. */
  readonly op: number;
  /** 1 is Ethernet. */
  readonly htype: number;
  readonly hops: number;
  readonly xid: number;
  /** Seconds since the client began, as it says; some send it in the wrong byte order. */
  readonly secs: number;
  readonly flags: number;
  /** The client's own address, when it has one: four bytes, as the next three. */
  readonly ciaddr: Uint8Array;
  /** The address that the client gets. */
  readonly yiaddr: Uint8Array;
  /** The next server of a boot; not the server that answers. */
  readonly siaddr: Uint8Array;
  /** The relay that passed it on, 0.0.0.0 without one. */
  readonly giaddr: Uint8Array;
  /** The client's hardware address, `hlen` bytes: at most 16, none on some media. */
  readonly chaddr: Uint8Array;
  /** Up to the first zero; empty when options stand in its place. At most 64 bytes. */
  readonly sname: Uint8Array;
  /** As `sname`, at most 128 bytes. */
  readonly file: Uint8Array;
  /** Read them with `dhcpMessageType`, `dhcpHostName`, … */
  readonly options: DhcpOptions;
}

/**
 * @param bytes The payload of a datagram from or to port 67.
 * @returns Views of `bytes`. A message of BOOTP alone, without the magic cookie, is `bad-value`.
 */
export function decodeDhcp(bytes: Uint8Array): Decoded<DhcpMessage> {
  const reader = new Reader(bytes);
  const op = reader.u8();
  const htype = reader.u8();
  const hlen = reader.u8();
  const hops = reader.u8();
  const xid = reader.u32();
  const secs = reader.u16();
  const flags = reader.u16();
  const [ciaddr, yiaddr, siaddr, giaddr] = [reader.take(4), reader.take(4), reader.take(4), reader.take(4)];
  reader.skip(CHADDR_LENGTH);
  reader.skip(SNAME_LENGTH);
  reader.skip(FILE_LENGTH);
  const cookie = reader.u32();
  if (reader.failed) return reader.malformed("dhcp");
  if (op !== DHCP_OP.bootRequest && op !== DHCP_OP.bootReply) return badValue("dhcp", 0);
  if (hlen > CHADDR_LENGTH) return badValue("dhcp", 2);
  if (cookie !== MAGIC_COOKIE) return badValue("dhcp", COOKIE_AT);
  const read = readDhcpOptions(bytes, {
    options: [OPTIONS_AT, bytes.length],
    file: [FILE_AT, COOKIE_AT],
    sname: [SNAME_AT, FILE_AT],
  });
  if (!read.ok) return read;
  const { options, isFileOverloaded, isSnameOverloaded } = read.value;
  return decoded({
    op, htype, hops, xid, secs, flags, ciaddr, yiaddr, siaddr, giaddr,
    chaddr: bytes.subarray(CHADDR_AT, CHADDR_AT + hlen),
    sname: isSnameOverloaded ? NOTHING : upToZero(bytes, SNAME_AT, FILE_AT),
    file: isFileOverloaded ? NOTHING : upToZero(bytes, FILE_AT, COOKIE_AT),
    options,
  });
}

function upToZero(bytes: Uint8Array, start: number, end: number): Uint8Array {
  let zero = start;
  while (zero < end && bytes[zero] !== 0) zero += 1;
  return zero === start ? NOTHING : bytes.subarray(start, zero);
}

/** What an encoder needs: numbers and addresses that are left out are zero, fields empty, the medium Ethernet. */
export type DhcpFields = Pick<DhcpMessage, "op" | "xid" | "chaddr" | "options"> & Partial<DhcpMessage>;

const NO_ADDRESS = new Uint8Array(IPV4_LENGTH);
const NOTHING = new Uint8Array(0);

/**
 * @returns The message with all options in the options field, padded to BOOTP's 300 bytes.
 * @throws PacketsError for a field that has no encoding.
 */
export function encodeDhcp(message: DhcpFields): Uint8Array {
  const { op, xid, chaddr, htype = 1, hops = 0, secs = 0, flags = 0 } = message;
  const { ciaddr = NO_ADDRESS, yiaddr = NO_ADDRESS, siaddr = NO_ADDRESS, giaddr = NO_ADDRESS, sname = NOTHING, file = NOTHING } = message;
  requireRange("dhcp.op", op, DHCP_OP.bootRequest, DHCP_OP.bootReply);
  requireRange("dhcp.htype", htype, 0, 0xff);
  requireRange("dhcp.hops", hops, 0, 0xff);
  requireRange("dhcp.xid", xid, 0, 0xffff_ffff);
  requireRange("dhcp.secs", secs, 0, 0xffff);
  requireRange("dhcp.flags", flags, 0, 0xffff);
  requireRange("dhcp.chaddr.length", chaddr.length, 0, CHADDR_LENGTH);
  const writer = new Writer(MINIMUM_LENGTH).u8(op).u8(htype).u8(chaddr.length).u8(hops).u32(xid).u16(secs).u16(flags);
  for (const [name, address] of Object.entries({ ciaddr, yiaddr, siaddr, giaddr })) {
    requireLength(`dhcp.${name}`, address, IPV4_LENGTH);
    writer.put(address);
  }
  writer.put(chaddr).zeros(CHADDR_LENGTH - chaddr.length);
  putField(writer, "sname", sname, SNAME_LENGTH);
  putField(writer, "file", file, FILE_LENGTH);
  writer.u32(MAGIC_COOKIE);
  writeDhcpOptions(writer, message.options);
  if (writer.length < MINIMUM_LENGTH) writer.zeros(MINIMUM_LENGTH - writer.length);
  return writer.finish();
}

function putField(writer: Writer, name: string, value: Uint8Array, length: number): void {
  requireRange(`dhcp.${name}.length`, value.length, 0, length);
  if (value.includes(0)) throw new PacketsError(`dhcp.${name} ends at a zero and cannot hold one`);
  writer.put(value).zeros(length - value.length);
}
