import { type BlockFrame, encodeFrameBlock, type FrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, ETHER_TYPE, parseIp, parseMac } from "@lanthorn/packets";
import type { MemoryRing } from "../ring/memory-ring.ts";
import { readBlockFacts } from "../ring/memory-ring.ts";
import { createFrameCursor } from "@lanthorn/packet-io";

/** Frames of tests: UDP over IPv4 from one to another. */
export function udpFrame(from: { readonly mac: string; readonly ip: string }, to: { readonly mac: string; readonly ip: string }, text = "x", ports = { from: 1000, to: 53 }): Uint8Array {
  const payload = Buffer.from(text);
  const ip = Buffer.alloc(28 + payload.length);
  ip[0] = 0x45;
  ip.writeUInt16BE(ip.length, 2);
  ip[8] = 64;
  ip[9] = 17;
  ip.set(parseIp(from.ip) as Uint8Array, 12);
  ip.set(parseIp(to.ip) as Uint8Array, 16);
  ip.writeUInt16BE(ports.from, 20);
  ip.writeUInt16BE(ports.to, 22);
  ip.writeUInt16BE(8 + payload.length, 24);
  ip.set(payload, 28);
  return encodeEthernet({
    destination: parseMac(to.mac) as Uint8Array, source: parseMac(from.mac) as Uint8Array, etherType: ETHER_TYPE.ipv4, payload: ip,
  });
}

/** A frame at a time in milliseconds since the epoch. */
export function at(milliseconds: number, bytes: Uint8Array): BlockFrame {
  return { bytes, seconds: Math.floor(milliseconds / 1000), nanoseconds: Math.round((milliseconds % 1000) * 1e6) };
}

/** Copies a block into a ring, as a capture does. @returns The block as the sinks get it. */
export function putBlock(ring: Pick<MemoryRing, "allocate" | "commit">, frames: readonly BlockFrame[], interfaceId = 0): FrameBlock {
  const made = encodeFrameBlock(frames);
  const place = ring.allocate(made.end);
  made.bytes.copy(place.bytes, place.offset, 0, made.end);
  const block = { bytes: place.bytes, offset: place.offset, end: place.offset + made.end, frames: made.frames };
  ring.commit(block, interfaceId, readBlockFacts(block, createFrameCursor()));
  return block;
}
