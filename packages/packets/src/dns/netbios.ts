import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 1001 and RFC 1002: the NetBIOS name service. Its messages have DNS's form, and names of their own. */

/** UDP port of both sides. */
export const NETBIOS_NAME_PORT = 137;

const TYPE_NB = 0x20;
const CLASS_IN = 1;
const NAME_LENGTH = 16;
const ENCODED_LENGTH = 2 * NAME_LENGTH;
const LETTER_A = 0x41;
const BLANK = 0x20;
const POINTER = 0xc0;
const HEADER_LENGTH = 12;
const FLAG = { response: 0x8000, recursionDesired: 0x0100, broadcast: 0x0010 } as const;
const MAX_SCOPE_LENGTH = 255;
const ADDRESS_ENTRY_LENGTH = 6;
/** One host has a few addresses; a message has no room for more. */
const MAX_ADDRESSES = 64;

/** @see RFC 1001 section 14 */
export interface NetbiosName {
  /** Without the blanks that fill it; bytes as Latin-1 letters. */
  readonly name: string;
  /** What the name is for: 0 a workstation, 0x20 a file server, 0x1b to 0x1e domains and browsers. */
  readonly suffix: number;
}

/** One address that a name stands for. */
export interface NetbiosAddress {
  /** Several hosts have the name. */
  readonly isGroup: boolean;
  /** Four bytes, a view. */
  readonly address: Uint8Array;
}

/** A message about one name. */
export interface NetbiosMessage {
  readonly id: number;
  readonly isResponse: boolean;
  /** 0 query, 5 registration, 6 release, 7 wait, 8 refresh. */
  readonly opcode: number;
  /** 0 yes, 3 nobody has the name. */
  readonly responseCode: number;
  readonly isBroadcast: boolean;
  /** What is asked for, or what the first record is of. */
  readonly name: NetbiosName;
  /** Of the first record of type NB: what an answer gives, or a registration claims. */
  readonly addresses: readonly NetbiosAddress[];
}

/** @param bytes The datagram. @returns The first question and the first record; what follows is ignored. */
export function decodeNetbiosName(bytes: Uint8Array): Decoded<NetbiosMessage> {
  const reader = new Reader(bytes);
  const [id, flags] = [reader.u16(), reader.u16()];
  const [questions, answers, authorities, additionals] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  if (reader.failed) return reader.malformed("netbios");
  const asked = questions > 0 ? readName(reader) : null;
  if (asked !== null && "ok" in asked) return asked;
  if (asked !== null) reader.skip(4);
  const record = answers + authorities + additionals > 0 ? readRecord(reader) : null;
  if (record !== null && "ok" in record) return record;
  if (reader.failed) return reader.malformed("netbios");
  const name = asked ?? record?.name;
  if (name === undefined) return badValue("netbios", 4);
  return decoded({
    id, isResponse: (flags & FLAG.response) !== 0, opcode: (flags >>> 11) & 0x0f, responseCode: flags & 0x0f,
    isBroadcast: (flags & FLAG.broadcast) !== 0, name, addresses: record?.addresses ?? [],
  });
}

/**
 * A name query request to everyone.
 * @throws PacketsError for a name above 15 characters.
 * @see RFC 1002 section 4.2.12
 */
export function encodeNetbiosQuery({ id, name }: { readonly id: number; readonly name: NetbiosName }): Uint8Array {
  requireRange("netbios.id", id, 0, 0xffff);
  const writer = new Writer(64).u16(id).u16(FLAG.recursionDesired | FLAG.broadcast).u16(1).u16(0).u16(0).u16(0);
  return writer.put(encodeName(name)).u16(TYPE_NB).u16(CLASS_IN).finish();
}

/**
 * A positive name query response, or a negative one without addresses.
 * @throws PacketsError for a name above 15 characters.
 * @see RFC 1002 section 4.2.13
 */
export function encodeNetbiosAnswer({ id, name, addresses }: Pick<NetbiosMessage, "id" | "name" | "addresses">): Uint8Array {
  requireRange("netbios.id", id, 0, 0xffff);
  const writer = new Writer(64).u16(id).u16(addresses.length > 0 ? 0x8500 : 0x8583).u16(0).u16(1).u16(0).u16(0);
  writer.put(encodeName(name)).u16(TYPE_NB).u16(CLASS_IN).u32(0).u16(addresses.length * ADDRESS_ENTRY_LENGTH);
  for (const { isGroup, address } of addresses) writer.u16(isGroup ? 0x8000 : 0).put(address);
  return writer.finish();
}

function encodeName({ name, suffix }: NetbiosName): Uint8Array {
  requireRange("netbios.name.length", name.length, 1, NAME_LENGTH - 1);
  requireRange("netbios.suffix", suffix, 0, 0xff);
  const writer = new Writer(ENCODED_LENGTH + 2).u8(ENCODED_LENGTH);
  const letters = Array.from({ length: NAME_LENGTH - 1 }, (_, at) => (at < name.length ? name.charCodeAt(at) : BLANK));
  for (const byte of [...letters, suffix]) writer.u8(LETTER_A + (byte >>> 4 & 0x0f)).u8(LETTER_A + (byte & 0x0f));
  return writer.u8(0).finish();
}

/** A name and its scope, which is left out. A pointer leads to the name of the question alone. */
function readName(reader: Reader): NetbiosName | Malformed {
  const at = reader.offset;
  const length = reader.u8();
  if (length >= POINTER) {
    const target = ((length & 0x3f) << 8) | reader.u8();
    if (reader.failed) return reader.malformed("netbios");
    if (target !== HEADER_LENGTH || at <= HEADER_LENGTH) return badValue("netbios", at);
    return readName(new Reader(reader.bytes, target, reader.end));
  }
  const name = readHalves(reader);
  if (reader.failed) return reader.malformed("netbios");
  if (length !== ENCODED_LENGTH || name === null) return badValue("netbios", at);
  const end = reader.offset + MAX_SCOPE_LENGTH;
  for (let label = reader.u8(); label !== 0; label = reader.u8()) {
    if (label >= POINTER || reader.offset > end) return badValue("netbios", reader.offset - 1);
    reader.skip(label);
    if (reader.failed) break;
  }
  return reader.failed ? reader.malformed("netbios") : name;
}

/** Each byte of the name is two letters, A for 0. @see RFC 1001 section 14.1 */
function readHalves(reader: Reader): NetbiosName | null {
  let name = "";
  let suffix = 0;
  for (let at = 0; at < NAME_LENGTH; at += 1) {
    const [high, low] = [reader.u8() - LETTER_A, reader.u8() - LETTER_A];
    if (high < 0 || high > 15 || low < 0 || low > 15) return null;
    const byte = (high << 4) | low;
    if (at < NAME_LENGTH - 1) name += String.fromCharCode(byte);
    else suffix = byte;
  }
  return { name: name.trimEnd(), suffix };
}

function readRecord(reader: Reader): { readonly name: NetbiosName; readonly addresses: readonly NetbiosAddress[] } | Malformed {
  const name = readName(reader);
  if ("ok" in name) return name;
  const type = reader.u16();
  reader.skip(6);
  const length = reader.u16();
  const data = new Reader(reader.take(length));
  if (reader.failed) return reader.malformed("netbios");
  const addresses: NetbiosAddress[] = [];
  if (type !== TYPE_NB) return { name, addresses };
  while (data.remaining >= ADDRESS_ENTRY_LENGTH && addresses.length < MAX_ADDRESSES) {
    addresses.push({ isGroup: (data.u16() & 0x8000) !== 0, address: data.take(4) });
  }
  return { name, addresses };
}
