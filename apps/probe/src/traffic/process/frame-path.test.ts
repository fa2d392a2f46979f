import { encodeFrameBlock } from "@lanthorn/packet-io";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createMemoryRing } from "../ring/memory-ring.ts";
import type { Sink } from "../sinks.ts";
import { at, udpFrame } from "../testing/frames.ts";
import { createFramePath } from "./frame-path.ts";

const HOST = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const RING_BYTES = 128 * 1024;

/** A ring of 128 blocks, and a sink that has no room. */
function createScene() {
  const clock = createFakeClock();
  const state = { kernelLoad: 0 };
  const taken: number[] = [];
  const none: Pick<Sink, "onBlock" | "shed" | "close"> = { onBlock: () => undefined, shed: () => undefined, close: () => Promise.resolve() };
  const sinks: readonly Sink[] = [
    { ...none, name: "ring" }, { ...none, name: "inspection" }, { ...none, name: "continuous", isDivisible: true, isReady: () => false, onBlock: () => void taken.push(clock.monotonic()) },
  ];
  const ring = createMemoryRing({ memory: Buffer.alloc(RING_BYTES), seconds: 1000, onEvict: (block) => path.queue.leaving(block) });
  const path = createFramePath({ ring, ringBytes: RING_BYTES, sinks, kernelLoad: () => state.kernelLoad, clock, log: silentLog });
  const made = encodeFrameBlock([at(1000, udpFrame(HOST, HOST, "x".repeat(900)))]);
  const put = (blocks: number) => {
    for (let block = 0; block < blocks; block += 1) {
      const { bytes, offset } = ring.allocate(made.end);
      made.bytes.copy(bytes, offset, 0, made.end);
      path.take({ bytes, offset, end: offset + made.end, frames: 1 }, 0);
    }
  };
  const shed = () => Object.fromEntries(path.shedder.state().sinks.map(({ name, frames }) => [name, frames]));
  return { clock, state, put, path, taken, shed };
}

test("up to three fifths of the ring nothing is left out, however slow the disk is; where it is full, everything is, for the last sink alone", async () => {
  const { clock, put, path, taken, shed } = createScene();
  put(60);
  await clock.advance(200);
  expect([taken.length, shed()["continuous"], path.queue.load() < 0.6]).toEqual([0, 0, true]);
  put(2000);
  await clock.advance(200);
  expect(shed()).toMatchObject({ ring: 0, inspection: 0 });
  expect(shed()["continuous"]).toBeGreaterThan(1500);
});

test("where the kernel's ring waits too, and what waits does not become less, the next sink is left out", async () => {
  const { clock, state, put, shed } = createScene();
  state.kernelLoad = 0.9;
  for (let time = 0; time < 15; time += 1) {
    put(130);
    await clock.advance(10);
  }
  expect(shed()["inspection"]).toBeGreaterThan(0);
});
