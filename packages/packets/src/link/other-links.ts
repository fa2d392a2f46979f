import { MAC_LENGTH } from "../addresses.ts";
import { badValue, type Malformed } from "../decoded.ts";
import { scanEtherType } from "./ethernet.ts";
import type { FrameFields } from "../frame-fields.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** Link types of captures that were not made on Ethernet. @see https://www.tcpdump.org/linktypes.html */

/** What Linux writes in place of an EtherType: `raw 802.3` and `802.2`, both without a length. */
const LINUX_8023_RAW = 1;
const LINUX_8022 = 4;

/** Both cooked headers leave eight bytes of room for the sender's link-layer address. */
const COOKED_ADDRESS_ROOM = 8;

/** Packet types of both cooked headers that tell whom the frame was for. */
const AUDIENCES = ["unicast", "broadcast", "multicast", "unicast", "unknown"] as const;

/** Raw IP has no link header: the version tells the family. */
export function scanRawIp(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const version = reader.u8() >>> 4;
  if (reader.failed) return reader.malformed("raw-ip");
  if (version !== 4 && version !== 6) return badValue("raw-ip", start);
  reader.seek(start);
  setNetwork(reader, fields, version === 4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6);
  return null;
}

/** Loopback of the BSDs: an address family in the byte order of the machine that made the capture, so either is taken. */
export function scanNullLoopback(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const value = reader.u32();
  if (reader.failed) return reader.malformed("null");
  // Families are small numbers, so one order gives a small value and the other a huge one.
  const family = value <= 0xffff ? value : ((value >>> 24) | ((value >>> 8) & 0xff00)) >>> 0;
  switch (family) {
    case 2:
      setNetwork(reader, fields, ETHER_TYPE.ipv4);
      return null;
    // NetBSD and OpenBSD, FreeBSD, macOS, Linux.
    case 24:
    case 28:
    case 30:
    case 10:
      setNetwork(reader, fields, ETHER_TYPE.ipv6);
      return null;
    default:
      return badValue("null", start);
  }
}

/** Linux "any" captures: the sender's address only. */
export function scanLinuxCooked(reader: Reader, fields: FrameFields): Malformed | null {
  const packetType = reader.u16();
  reader.skip(2);
  const addressLength = reader.u16();
  const addressOffset = reader.offset;
  reader.skip(COOKED_ADDRESS_ROOM);
  const protocol = reader.u16();
  if (reader.failed) return reader.malformed("linux-cooked");
  return finishCooked(reader, fields, { packetType, addressLength, addressOffset, protocol });
}

/** The second version puts the protocol first and adds the interface's index. */
export function scanLinuxCookedV2(reader: Reader, fields: FrameFields): Malformed | null {
  const protocol = reader.u16();
  reader.skip(8);
  const packetType = reader.u8();
  const addressLength = reader.u8();
  const addressOffset = reader.offset;
  reader.skip(COOKED_ADDRESS_ROOM);
  if (reader.failed) return reader.malformed("linux-cooked");
  return finishCooked(reader, fields, { packetType, addressLength, addressOffset, protocol });
}

function finishCooked(
  reader: Reader,
  fields: FrameFields,
  header: { readonly packetType: number; readonly addressLength: number; readonly addressOffset: number; readonly protocol: number },
): Malformed | null {
  if (header.addressLength === MAC_LENGTH) fields.sourceMacOffset = header.addressOffset;
  fields.audience = AUDIENCES[header.packetType] ?? "unknown";
  if (header.protocol === LINUX_8023_RAW || header.protocol === LINUX_8022) {
    setNetwork(reader, fields, 0);
    fields.network = "llc";
    return null;
  }
  if (header.protocol >= 0x0600) return scanEtherType(reader, header.protocol, fields);
  setNetwork(reader, fields, header.protocol);
  return null;
}

function setNetwork(reader: Reader, fields: FrameFields, etherType: number): void {
  fields.etherType = etherType;
  fields.networkOffset = reader.offset;
  fields.networkEnd = reader.end;
}
