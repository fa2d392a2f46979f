import { readFileSync } from "node:fs";
import { nextTurn, systemClock } from "@lanthorn/runtime";
import { openInjector } from "../send/injector.ts";
import { openRawSender } from "../send/raw-sender.ts";
import { createFrameCursor, type FrameBlock } from "../traffic/frame-block.ts";
import { openTrafficCapture } from "../traffic/traffic-capture.ts";
import type { TrafficCaptureOptions, TrafficReader } from "../traffic/traffic-types.ts";
import { udpFrame } from "./raw-frames.ts";
import { codeOf, ip, lostByVeth, numberedFrame, numberedFrames, sendWithoutLoss, until } from "./wire.ts";

interface KeptFrame {
  readonly bytes: Uint8Array;
  readonly wireLength: number;
  readonly atNanoseconds: bigint;
  readonly isOutgoing: boolean;
  readonly arrivedAt: number;
}

const TEST_ETHERTYPE = 0x88b5;
/** A loss is seen in two seconds. */
const HANG_MS = 20_000;

/** A traffic capture that keeps each frame with our test's EtherType, tagged or not. */
function keepTraffic(reader: TrafficReader, options: Partial<TrafficCaptureOptions> = {}) {
  const frames: KeptFrame[] = [];
  const losses: string[] = [];
  const blocks: FrameBlock[] = [];
  const cursor = createFrameCursor();
  const capture = openTrafficCapture({
    interface: "va", snapLength: 2048, promiscuous: true, clock: systemClock, reader,
    allocate: (octets) => ({ bytes: Buffer.alloc(octets + 8), offset: 8 }),
    onBlock(block) {
      blocks.push(block);
      for (cursor.start(block); cursor.next();) {
        const bytes = new Uint8Array(cursor.bytes.subarray(cursor.offset, cursor.offset + cursor.length));
        const type = (at: number) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
        if (![type(12), type(16), type(20)].includes(TEST_ETHERTYPE)) continue;
        const atNanoseconds = BigInt(cursor.seconds) * 1_000_000_000n + BigInt(cursor.nanoseconds);
        frames.push({ bytes, wireLength: cursor.wireLength, atNanoseconds, isOutgoing: cursor.isOutgoing, arrivedAt: Date.now() });
      }
    },
    onLost: (reason) => void losses.push(reason.code),
    ...options,
  });
  return { ...capture, frames, losses, blocks };
}

const numberOf = ({ bytes }: KeptFrame, at = 14) => new DataView(bytes.buffer).getUint32(at);
const send = (frames: Iterable<Uint8Array>, from = "vb") => openInjector({ interface: from, clock: systemClock }).send(frames);

async function order(reader: TrafficReader) {
  const capture = keepTraffic(reader);
  const startedAt = BigInt(Date.now()) * 1_000_000n;
  await sendWithoutLoss(3000, send, () => capture.frames.length);
  const endedAt = BigInt(Date.now() + 1) * 1_000_000n;
  const counters = capture.counters();
  capture.close();
  return {
    inOrder: capture.frames.every((frame, index) => numberOf(frame) === index && frame.bytes.length === 60 && frame.wireLength === 60),
    inTime: capture.frames.every(({ atNanoseconds }) => atNanoseconds >= startedAt && atNanoseconds <= endedAt),
    hasNanoseconds: capture.frames.some(({ atNanoseconds }) => atNanoseconds % 1000n !== 0n),
    isLater: capture.frames.every(({ atNanoseconds }, index) => index === 0 || atNanoseconds >= (capture.frames[index - 1]?.atNanoseconds ?? 0n)),
    handedOver: counters.frames >= 3000,
    dropped: counters.droppedByKernel + counters.droppedByInterface, load: capture.load(), afterClose: capture.counters().frames === counters.frames,
  };
}

async function snap(reader: TrafficReader) {
  const capture = keepTraffic(reader, { snapLength: 64 });
  await send([numberedFrame(7, { length: 1514 })]);
  await until(() => capture.frames.length === 1);
  capture.close();
  return capture.frames.map((frame) => ({ kept: frame.bytes.length, wireLength: frame.wireLength, number: numberOf(frame) }));
}

/** Whoever receives a tagged frame finds the outer tag beside the frame: the kernel takes it off. */
async function tags(reader: TrafficReader) {
  const capture = keepTraffic(reader);
  const filtered = keepTraffic(reader, { filter: "vlan 100" });
  const tagged = (number: number, tag: readonly number[]) => {
    const frame = numberedFrame(number);
    return Uint8Array.of(...frame.subarray(0, 12), ...tag, ...frame.subarray(12));
  };
  await send([tagged(1, [0x81, 0, 0, 100]), tagged(2, [0x88, 0xa8, 0, 7]), tagged(4, [0x88, 0xa8, 0, 7, 0x81, 0, 0xe0, 100]), numberedFrame(3)]);
  await until(() => capture.frames.length === 4 && filtered.frames.length === 1);
  capture.close();
  filtered.close();
  const head = (frame: KeptFrame) => Buffer.from(frame.bytes.subarray(12, 24)).toString("hex");
  return {
    heads: capture.frames.map(head), lengths: capture.frames.map((frame) => [frame.bytes.length, frame.wireLength]),
    filtered: filtered.frames.map(head), addresses: capture.frames.every(({ bytes }) => bytes[0] === 0xff && bytes[6] === 2 && bytes[11] === 1),
  };
}

async function direction(reader: TrafficReader) {
  const capture = keepTraffic(reader);
  await send([numberedFrame(1)], "vb");
  await send([numberedFrame(2)], "va");
  await until(() => capture.frames.length === 2);
  capture.close();
  return Object.fromEntries(capture.frames.map((frame) => [numberOf(frame), frame.isOutgoing]));
}

async function filter(reader: TrafficReader) {
  const capture = keepTraffic(reader, { filter: "ether proto 0x88b5 and ether[17] = 2" });
  await send([numberedFrame(1), numberedFrame(2), numberedFrame(3)]);
  await until(() => capture.frames.length === 1);
  capture.close();
  return { numbers: capture.frames.map((frame) => numberOf(frame)), counted: capture.counters().frames };
}

async function down(reader: TrafficReader) {
  const capture = keepTraffic(reader);
  await send(numberedFrames(5));
  await until(() => capture.frames.length === 5);
  ip("link", "set", "va", "down");
  await until(() => capture.losses.length > 0);
  const whileDown = await codeOf(() => keepTraffic(reader));
  ip("link", "set", "va", "up");
  const again = keepTraffic(reader);
  await until(() => readFileSync("/sys/class/net/va/operstate", "latin1").trim() === "up");
  await send(numberedFrames(5));
  await until(() => again.frames.length === 5);
  again.close();
  return { before: capture.frames.length, losses: capture.losses, whileDown, after: again.frames.length };
}

async function flap(reader: TrafficReader) {
  const capture = keepTraffic(reader);
  ip("link", "set", "va", "down");
  ip("link", "set", "va", "up");
  await until(() => capture.losses.length > 0);
  return capture.losses;
}

/** Another link is so busy that frames come with each look. */
async function flapBeside(reader: TrafficReader) {
  ip("link", "add", "vc", "type", "veth", "peer", "name", "vd");
  for (const name of ["vc", "vd"]) ip("link", "set", name, "up");
  const [capture, busy] = [keepTraffic(reader), keepTraffic(reader, { interface: "vc" })];
  const injector = openInjector({ interface: "vd", clock: systemClock });
  await injector.send([numberedFrame(0)]);
  await until(() => busy.frames.length > 0);
  ip("link", "set", "va", "down");
  ip("link", "set", "va", "up");
  for (const end = performance.now() + HANG_MS; performance.now() < end && capture.losses.length === 0;) {
    await injector.send([numberedFrame(0)]);
    await nextTurn();
  }
  busy.close();
  return { losses: capture.losses, beside: busy.losses };
}

async function removed(reader: TrafficReader) {
  const capture = keepTraffic(reader);
  ip("link", "del", "va");
  await until(() => capture.losses.length > 0);
  return { losses: capture.losses, again: await codeOf(() => keepTraffic(reader)) };
}

async function refused(reader: TrafficReader) {
  ip("tuntap", "add", "dev", "tun9", "mode", "tun");
  ip("link", "set", "tun9", "up");
  return {
    missing: await Promise.all(["nope", "", "..", "a".repeat(300), "any"].map((name) => codeOf(() => keepTraffic(reader, { interface: name })))),
    tunnel: await codeOf(() => keepTraffic(reader, { interface: "tun9" })),
    filters: await Promise.all(["frobnicate", "(", "port 99999"].map((text) => codeOf(() => keepTraffic(reader, { filter: text })))),
  };
}

async function noCapability(reader: TrafficReader) {
  return [await codeOf(() => keepTraffic(reader)), await codeOf(() => keepTraffic(reader, { filter: "arp" }))];
}

/** A reader that closes within its own callback, and one that stays: nothing comes after the close. */
async function closeWithin(reader: TrafficReader) {
  let blocks = 0;
  const other = keepTraffic(reader);
  const capture = keepTraffic(reader, {
    onBlock() {
      blocks += 1;
      capture.close();
    },
  });
  await sendWithoutLoss(2000, send, () => other.frames.length);
  other.close();
  capture.close();
  return { blocks, losses: [...capture.losses, ...other.losses] };
}

/** Frames that come while this process stands still: those that the ring has no room for are counted. */
async function overflow() {
  let frames = 0;
  const capture = keepTraffic("ring", { promiscuous: false, filter: "udp dst port 7", onBlock: (block) => void (frames += block.frames) });
  const raw = openRawSender({ interface: "vb", excluded: () => ({ holds: () => false, hasIpv6: false }) });
  const frame = udpFrame({ ip: "10.9.0.9", port: 7 });
  // The ring of 16 MiB holds some 120,000 of these.
  for (let count = 0; count < 200_000; count += 1) {
    let place = raw.place();
    while (place < 0) {
      raw.flush();
      place = raw.place();
    }
    raw.bytes.set(frame, place);
    raw.commit(frame.length);
  }
  while (!raw.flush());
  const loads = [capture.load()];
  const sum = () => frames + capture.counters().droppedByKernel + lostByVeth();
  await until(() => sum() >= raw.counters().sent);
  await until(() => capture.load() === 0);
  loads.push(capture.load());
  const { droppedByKernel } = capture.counters();
  capture.close();
  return { all: sum() === raw.counters().sent, sent: raw.counters().sent, hasDropped: droppedByKernel > 1000, still: capture.counters().droppedByKernel === droppedByKernel, loads };
}

const byReader = { order, snap, tags, direction, filter, down, flap, flapBeside, removed, refused, noCapability, closeWithin };

/** `ring-order`, `pcap-order` and so on. */
export const trafficScenarios: Readonly<Record<string, () => unknown>> = {
  overflow,
  ...Object.fromEntries(
    (["ring", "pcap"] as const).flatMap((reader) => Object.entries(byReader).map(([name, run]) => [`${reader}-${name}`, () => run(reader)])),
  ),
};
