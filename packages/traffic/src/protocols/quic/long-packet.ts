/** Packets with the long header, of which a datagram may hold several. @see RFC 9000 sections 12.2 and 17.2, RFC 9369 section 3.2 */
import { Reader } from "@lanthorn/packets";
import { QUIC_VERSION } from "../../recognition/recognize-datagram.ts";
import { readVariableInteger } from "./variable-integer.ts";

/** One packet, still protected. */
export interface LongPacket {
  readonly type: "0-rtt" | "handshake" | "initial" | "retry";
  readonly version: number;
  readonly destinationId: Uint8Array;
  readonly sourceId: Uint8Array;
  /** From its first byte to its end, as a view. */
  readonly bytes: Uint8Array;
  /** Where the packet number begins; 0 for a Retry packet. */
  readonly numberAt: number;
}

const TYPES_V1 = ["initial", "0-rtt", "handshake", "retry"] as const;
const TYPES_V2 = ["retry", "initial", "0-rtt", "handshake"] as const;
const MAX_ID_BYTES = 20;
const MAX_PACKETS = 8;

/** @returns The packets of versions 1 and 2 at the front of a datagram; what follows them (a short header, padding) is left out. */
export function splitLongPackets(datagram: Uint8Array): readonly LongPacket[] {
  const packets: LongPacket[] = [];
  for (let rest = datagram; rest.length > 0 && packets.length < MAX_PACKETS;) {
    const packet = readLongPacket(rest);
    if (!packet) break;
    packets.push(packet);
    rest = rest.subarray(packet.bytes.length);
  }
  return packets;
}

function readLongPacket(bytes: Uint8Array): LongPacket | null {
  const reader = new Reader(bytes);
  const first = reader.u8();
  // The second bit is fixed, or random where both sides agreed on it (RFC 9287).
  if (first < 0x80) return null;
  const version = reader.u32();
  if (version !== QUIC_VERSION.v1 && version !== QUIC_VERSION.v2) return null;
  const type = (version === QUIC_VERSION.v2 ? TYPES_V2 : TYPES_V1)[(first >> 4) & 3] ?? "retry";
  const destinationId = reader.take(reader.u8());
  const sourceId = reader.take(reader.u8());
  if (destinationId.length > MAX_ID_BYTES || sourceId.length > MAX_ID_BYTES) return null;
  if (type === "retry") return reader.failed ? null : { type, version, destinationId, sourceId, bytes, numberAt: 0 };
  if (type === "initial") reader.skip(readVariableInteger(reader));
  const length = readVariableInteger(reader);
  const numberAt = reader.offset;
  reader.skip(length);
  return reader.failed ? null : { type, version, destinationId, sourceId, bytes: bytes.subarray(0, reader.offset), numberAt };
}
