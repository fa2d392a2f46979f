/** Packets as a capture file, for tests only. */
import { createPcapWriter, LINK_TYPE } from "@lanthorn/packets";
import type { Packet } from "./conversation.ts";

/** @returns A pcap file, in the order of their times. */
export function captureOf(...conversations: readonly (readonly Packet[])[]): Uint8Array {
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet, snapLength: 65_535 });
  const records = conversations.flat().toSorted((a, b) => a.at - b.at).map(({ frame, at }) =>
    writer.record({ seconds: Math.floor(at / 1e6), nanoseconds: (at % 1e6) * 1000, bytes: frame, originalLength: frame.length }));
  return Buffer.concat([writer.header(), ...records]);
}
