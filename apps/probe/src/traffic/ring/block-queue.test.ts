import { createFrameCursor, encodeFrameBlock } from "@lanthorn/packet-io";
import { createFakeClock, nextTurn } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { at, udpFrame } from "../testing/frames.ts";
import { createBlockQueue } from "./block-queue.ts";
import { createMemoryRing, MAX_BLOCKS, readBlockFacts } from "./memory-ring.ts";

const HOST = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const RING_BYTES = 64 * 1024;

function createScene() {
  const clock = createFakeClock();
  const handed: number[] = [];
  const state = { kernelLoad: 0, isReady: true };
  const ring = createMemoryRing({ memory: Buffer.alloc(RING_BYTES), seconds: 1000, onEvict: (block) => queue.leaving(block) });
  const queue = createBlockQueue({
    ring, ringBytes: RING_BYTES, clock, kernelLoad: () => state.kernelLoad, isReady: () => state.isReady, dispatch: ({ sequence }) => void handed.push(sequence),
  });
  /** Blocks of a kilobyte or so. */
  const put = (blocks: number) => {
    for (let block = 0; block < blocks; block += 1) {
      const made = encodeFrameBlock([at(1000, udpFrame(HOST, HOST, "x".repeat(900)))]);
      const { bytes, offset } = ring.allocate(made.end);
      made.bytes.copy(bytes, offset, 0, made.end);
      const held = ring.commit({ bytes, offset, end: offset + made.end, frames: 1 }, 0, readBlockFacts(made, createFrameCursor()));
      if (held) queue.added(held);
    }
  };
  return { clock, handed, state, queue, put };
}

const upTo = (count: number) => Array.from({ length: count }, (_, sequence) => sequence);

test("a block is handed on at once while nothing holds it up", () => {
  const { put, handed, queue } = createScene();
  put(3);
  expect([handed, queue.load()]).toEqual([upTo(3), 0]);
});

test("while the kernel's ring fills, blocks are copied first, and handed on in their order later", async () => {
  const { put, handed, state, queue } = createScene();
  put(1);
  state.kernelLoad = 0.5;
  put(4);
  state.kernelLoad = 0;
  put(1);
  expect(handed).toEqual(upTo(1));
  expect(queue.load()).toBeGreaterThan(0.05);
  await nextTurn();
  expect([handed, queue.load()]).toEqual([upTo(6), 0]);
});

test("a slow disk is waited for while the ring has room, and a second at most", async () => {
  const { clock, put, handed, state, queue } = createScene();
  state.isReady = false;
  put(10);
  await clock.advance(500);
  expect(handed).toEqual([]);
  state.isReady = true;
  await clock.advance(10);
  expect(handed).toEqual(upTo(10));
  state.isReady = false;
  put(50);
  await clock.advance(10);
  expect([handed.length > 10, queue.load() < 0.6, queue.load() > 0.5]).toEqual([true, true, true]);
  await clock.advance(1000);
  expect([handed, queue.load()]).toEqual([upTo(60), 0]);
});

test("what is missing is said behind what came before it", async () => {
  const { put, handed, state, queue } = createScene();
  const said: number[] = [];
  const mark = () => queue.behind(() => void said.push(handed.length));
  mark();
  state.kernelLoad = 0.5;
  put(2);
  mark();
  put(3);
  mark();
  expect(said).toEqual([0]);
  state.kernelLoad = 0;
  await nextTurn();
  expect([said, handed]).toEqual([[0, 2, 5], upTo(5)]);
});

test("what is about to leave the ring is handed on before it does, and at the end all that waits", async () => {
  const { put, handed, state, queue } = createScene();
  state.kernelLoad = 1;
  put(200);
  expect(handed.length).toBeGreaterThan(100);
  expect(queue.load()).toBeGreaterThan(0.8);
  await queue.close();
  expect([handed, queue.load()]).toEqual([upTo(200), 0]);
});

test("while the kernel's ring is full, what is read goes before what waits, as long as there is room in ours", async () => {
  const { put, handed, state } = createScene();
  state.kernelLoad = 0.5;
  put(2);
  await nextTurn();
  expect(handed).toEqual([]);
  put(2);
  await nextTurn();
  expect(handed).toEqual([]);
  // Nothing was read meanwhile.
  await nextTurn();
  expect(handed).toEqual(upTo(4));
  put(40);
  await nextTurn();
  expect(handed).toEqual(upTo(44));
});

test("a ring that is so large that its blocks run out before its bytes is full when they have", async () => {
  const blocks = Array.from({ length: MAX_BLOCKS / 2 }, (_, sequence) => ({ bytes: Buffer.alloc(0), offset: 0, end: 131_072, frames: 1, sequence, interfaceId: 0, firstMs: 0, lastMs: 0, octets: 1 }));
  const queue = createBlockQueue({
    ring: { blockAt: (sequence) => blocks[sequence] ?? null }, ringBytes: 2 ** 40, clock: createFakeClock(), kernelLoad: () => 1, isReady: () => true, dispatch: () => undefined,
  });
  for (const block of blocks) queue.added(block);
  expect(queue.load()).toBeCloseTo(0.5, 3);
  await queue.close();
  expect(queue.load()).toBe(0);
});
