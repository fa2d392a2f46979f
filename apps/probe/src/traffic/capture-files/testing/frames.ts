/** Frames and files for tests of captures. For tests only. */
import { encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIp } from "@lanthorn/packets";
import { createId } from "@lanthorn/runtime";
import { type CaptureFileOptions } from "../capture-file.ts";
import { createBufferPool } from "../buffer-pool.ts";
import { createDiskRoom, createFreeSpace } from "../disk-room.ts";
import type { FrameView } from "@lanthorn/packet-io";
import { KEEP_ALL } from "../privacy.ts";

/** 14 November 2023, 22:13:20 UTC. */
export const EPOCH_SECONDS = 1_700_000_000;

/** A UDP datagram over IPv4 in Ethernet. */
export function udpFrame(options: {
  readonly source?: string; readonly destination?: string; readonly sourcePort?: number; readonly destinationPort?: number; readonly payload?: Uint8Array;
}): Buffer {
  const { source = "10.0.0.1", destination = "10.0.0.2", sourcePort = 40_000, destinationPort = 53, payload = new Uint8Array(20) } = options;
  const ends = { source: parseIp(source) as Uint8Array, destination: parseIp(destination) as Uint8Array };
  return Buffer.from(encodeEthernet({
    destination: Uint8Array.of(2, 0, 0, 0, 0, 2), source: Uint8Array.of(2, 0, 0, 0, 0, 1), etherType: ETHER_TYPE.ipv4,
    payload: encodeIpv4({ protocol: IP_PROTOCOL.udp, ...ends, payload: encodeUdp({ sourcePort, destinationPort, payload }, ends) }),
  }));
}

/** A frame as a cursor shows it: in the middle of other bytes. @param atMs Since `EPOCH_SECONDS`. */
export function viewOf(frame: Uint8Array, atMs = 0, more: Partial<FrameView> = {}): FrameView {
  const bytes = Buffer.concat([Buffer.alloc(3, 0xee), frame, Buffer.alloc(5, 0xee)]);
  return {
    bytes, offset: 3, length: frame.length, wireLength: frame.length, seconds: EPOCH_SECONDS + Math.floor(atMs / 1000), nanoseconds: Math.round((atMs % 1000) * 1e6),
    isOutgoing: false, ...more,
  };
}

/** What a file is opened with, in a folder, unless the test says otherwise. */
export function fileOptions(folder: string, more: Partial<CaptureFileOptions> = {}): CaptureFileOptions {
  return {
    room: createDiskRoom({ free: createFreeSpace({ path: folder, floorBytes: 0 }), budgetBytes: 1e9 }), pool: createBufferPool({ buffers: 8 }), folder,
    id: createId(), interfaces: [{ name: "lan0", snapLength: 262_144 }], filter: "", comment: "A capture of a test.", maxBytes: 1e9, privacy: KEEP_ALL,
    about: { trigger: "request", alert_ids: [], macs: [], ips: [] }, application: "lanthorn-probe test", clock: { now: () => EPOCH_SECONDS * 1000 }, ...more,
  };
}

/** What an interface counted that lost nothing. */
export const received = (frames: number) => ({ received: frames, droppedByInterface: 0, droppedByKernel: 0, droppedByProbe: 0, leftOut: 0 });
