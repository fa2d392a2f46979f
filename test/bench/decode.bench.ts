import { createRequire } from "node:module";
import { decodeFrame } from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import { makeMixedFrames } from "./decode-frames.ts";

/** Enough to leave the first cache level, few enough to stay out of main memory: a capture's batches are like that. */
const FRAMES = 4096;
const SECONDS_EACH = 2;
const ROUNDS = 3;

/**
 * How fast frames are decoded on one core, beside a bare loop that reads the same header bytes through one DataView and checks
 * nothing (the floor), and beside the `pcap` package's own decoder.
 * The last line is JSON; `ratio` is decoded frames per second over the floor's.
 */
export async function run(args: readonly string[]): Promise<void> {
  const seconds = args[0] === undefined ? SECONDS_EACH : Number(args[0]);
  if (!(seconds > 0 && seconds <= 600)) throw new Error(`decode takes one number, the seconds for each contestant, not ${args[0]}`);
  const frames = makeMixedFrames(FRAMES, seededRandom(1));
  const lengths = frames.reduce((sum, frame) => sum + frame.length, 0);
  console.log(
    `${FRAMES} frames, ${Math.round(lengths / FRAMES)} bytes on average: TCP, UDP, ARP, NDP, mDNS, DHCP, ICMP, VLAN, both families`,
  );
  const contestants = { decode: decodeAll, floor: readBare(frames), pcap: decodeWithPcap() };
  for (const all of Object.values(contestants)) measure(all, frames, 0.3);
  // In turns, and the best of each, so that a neighbor's work on this machine hits none of them alone.
  const best = { decode: Number.POSITIVE_INFINITY, floor: Number.POSITIVE_INFINITY, pcap: Number.POSITIVE_INFINITY };
  let count = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of ["decode", "floor", "pcap"] as const) {
      const result = measure(contestants[name], frames, seconds / ROUNDS);
      best[name] = Math.min(best[name], result.nanoseconds);
      if (name === "decode") count += result.frames;
    }
  }
  console.log(`decodeFrame               ${best.decode.toFixed(1)} ns a frame`);
  console.log(`bare DataView loop        ${best.floor.toFixed(1)} ns a frame`);
  console.log(`pcap package's decoder    ${best.pcap.toFixed(1)} ns a frame`);
  console.log(
    JSON.stringify({
      bench: "decode",
      frames: count,
      frames_per_second: Math.round(1e9 / best.decode),
      ns_per_frame: round1(best.decode),
      floor_ns_per_frame: round1(best.floor),
      ratio: Math.round((best.floor / best.decode) * 1000) / 1000,
    }),
  );
}

type DecodeAll = (frames: readonly Uint8Array[]) => number;

/** What was read goes into `sink`, so that nothing is optimized away. */
let sink = 0;

interface Measured {
  readonly frames: number;
  /** For one frame. */
  readonly nanoseconds: number;
}

function measure(all: DecodeAll, frames: readonly Uint8Array[], seconds: number): Measured {
  const start = process.hrtime.bigint();
  const limit = BigInt(Math.round(seconds * 1e9));
  let passes = 0;
  let elapsed = 0n;
  do {
    sink += all(frames);
    passes += 1;
    elapsed = process.hrtime.bigint() - start;
  } while (elapsed < limit);
  const count = passes * frames.length;
  return { frames: count, nanoseconds: Number(elapsed) / count };
}

function decodeAll(frames: readonly Uint8Array[]): number {
  let sum = 0;
  for (const frame of frames) {
    const result = decodeFrame(frame);
    if (!result.ok) throw new Error(`a frame of the bench is malformed: ${result.layer} at ${result.offset}`);
    const { value } = result;
    sum += value.etherType + value.ipProtocol + value.sourcePort + value.payloadEnd - value.payloadOffset + value.tcpFlags + value.hopLimit;
  }
  return sum;
}

/** Reads what `decodeAll` uses by fixed offsets, without a check or an allocation. */
function readBare(frames: readonly Uint8Array[]): DecodeAll {
  const ring = new DataView(frames[0]?.buffer ?? new ArrayBuffer(0));
  return (all) => {
    let sum = 0;
    for (const frame of all) {
      let at = frame.byteOffset + 12;
      let type = ring.getUint16(at);
      if (type === 0x8100) type = ring.getUint16((at += 4));
      sum += type;
      at += 2;
      if (type === 0x0800) {
        const protocol = ring.getUint8(at + 9);
        sum += protocol + ring.getUint8(at + 8) + ring.getUint16(at + 2);
        at += (ring.getUint8(at) & 0x0f) * 4;
        if (protocol === 6 || protocol === 17) sum += ring.getUint16(at);
        if (protocol === 6) sum += ring.getUint16(at + 12);
      } else if (type === 0x86dd) {
        const protocol = ring.getUint8(at + 6);
        sum += protocol + ring.getUint8(at + 7) + ring.getUint16(at + 4);
        if (protocol === 6 || protocol === 17) sum += ring.getUint16(at + 40);
        if (protocol === 6) sum += ring.getUint16(at + 52);
      } else sum += ring.getUint16(at + 6);
    }
    return sum;
  };
}

/** What the package's types leave out. */
interface PcapDecoder {
  readonly decode: (packet: {
    readonly buf: Buffer;
    readonly header: Buffer;
    readonly link_type: string;
  }) => { readonly link_type: string };
}

function decodeWithPcap(): DecodeAll {
  const { decode } = createRequire(import.meta.url)("pcap/decode") as PcapDecoder;
  const header = Buffer.alloc(16);
  return (frames) => {
    let sum = 0;
    for (const frame of frames) {
      header.writeUInt32LE(frame.length, 8);
      const buf = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
      sum += decode({ buf, header, link_type: "LINKTYPE_ETHERNET" }).link_type.length;
    }
    return sum;
  };
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}
