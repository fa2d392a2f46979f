import { encodeFrameBlock, PacketIoError, type TrafficCapture, type TrafficCaptureOptions } from "@lanthorn/packet-io";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { at, udpFrame } from "../testing/frames.ts";
import { createInterfaceReader } from "./interface-reader.ts";

const HOST = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const BLOCK = encodeFrameBlock([at(1000, udpFrame(HOST, HOST))]);

function createScene() {
  const clock = createFakeClock();
  const opened: TrafficCaptureOptions[] = [];
  const missing: (readonly [number, string])[] = [];
  const scene = { isThere: true, counters: { frames: 0, droppedByKernel: 0, droppedByInterface: 0 } };
  const reader = createInterfaceReader({
    name: "eth1", snapLength: 96, clock, log: silentLog, allocate: () => BLOCK, onBlock: () => 60, onMissing: (frames, why) => missing.push([frames, why]),
    open(options): TrafficCapture {
      if (!scene.isThere) throw new PacketIoError("interface-missing", "there is no interface eth1");
      opened.push(options);
      return { counters: () => scene.counters, load: () => 0.25, close: () => undefined };
    },
  });
  clock.every(250, () => reader.tick());
  return { clock, opened, missing, scene, reader };
}

test("an interface that goes away is opened again when it comes, its sums go on, and the time between is said", async () => {
  const { clock, opened, missing, scene, reader } = createScene();
  opened[0]?.onBlock(BLOCK);
  scene.counters = { frames: 10, droppedByKernel: 2, droppedByInterface: 1 };
  scene.isThere = false;
  opened[0]?.onLost(new PacketIoError("interface-down", "eth1 is down"));
  expect(reader.state()).toMatchObject({ up: false, problem: "eth1 is down", frames: 10, droppedByKernel: 2, droppedByInterface: 1, octets: 60 });
  await clock.advance(5000);
  expect([opened.length, reader.state().problem, reader.load()]).toEqual([1, "there is no interface eth1", 0]);
  scene.isThere = true;
  scene.counters = { frames: 1, droppedByKernel: 0, droppedByInterface: 0 };
  await clock.advance(1000);
  expect(reader.state()).toMatchObject({ up: true, problem: null, frames: 11, droppedByKernel: 2 });
  expect(missing.map(([frames]) => frames)).toEqual([2, 0]);
});

test("what the kernel drops is reported once", async () => {
  const { clock, missing, scene } = createScene();
  scene.counters = { frames: 10, droppedByKernel: 7, droppedByInterface: 0 };
  await clock.advance(1000);
  scene.counters = { frames: 20, droppedByKernel: 9, droppedByInterface: 0 };
  await clock.advance(1000);
  expect(missing.map(([frames]) => frames)).toEqual([7, 2]);
});
