import { createFrameCursor } from "@lanthorn/packet-io";
import { seededRandom } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { at, putBlock, udpFrame } from "../testing/frames.ts";
import { createMemoryRing, millisecondsOf, type RingBlock } from "./memory-ring.ts";

const ONE = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const TWO = { mac: "02:00:00:00:00:02", ip: "10.0.0.2" };
const KIB = 1024;

test("what is in the ring is what was put there last, whatever lengths the blocks have", () => {
  const random = seededRandom(7);
  const evicted: number[] = [];
  const ring = createMemoryRing({ memory: Buffer.alloc(64 * KIB), seconds: 1000, onEvict: ({ sequence }) => evicted.push(sequence) });
  for (let block = 0; block < 600; block += 1) {
    const frames = Array.from({ length: 1 + random(20) }, (_, index) => at(block * 1000 + index, udpFrame(ONE, TWO, `${block} ${index} ${"x".repeat(random(400))}`)));
    putBlock(ring, frames);
    const held = ring.blocksFrom(0);
    expect(held.at(-1)?.sequence).toBe(block);
    expect(readTexts(held)).toEqual(held.flatMap(({ sequence, frames: count }) => Array.from({ length: count }, (_, index) => `${sequence} ${index}`)));
    expect(held[0]?.sequence).toBe(evicted.length);
  }
  expect(evicted).toEqual(evicted.map((_, index) => index));
  expect(ring.state().bytes).toBeGreaterThan(32 * KIB);
  expect(ring.state().bytes).toBeLessThanOrEqual(64 * KIB);
});

test("blocks are found by time and by number, and the oldest leave when they are too old", () => {
  const ring = createMemoryRing({ memory: Buffer.alloc(64 * KIB), seconds: 10 });
  expect([ring.blocksFrom(0), ring.blockAt(0), ring.evictedUntil()]).toEqual([[], null, null]);
  for (let second = 0; second < 20; second += 1) {
    ring.tick(second * 1000);
    putBlock(ring, [at(second * 1000, udpFrame(ONE, TWO)), at(second * 1000 + 500, udpFrame(TWO, ONE))]);
    if (second === 9) expect(ring.blocksFrom(0)).toHaveLength(10);
  }
  expect(ring.lastSequence()).toBe(19);
  expect(ring.blocksFrom(17_200).map(({ sequence }) => sequence)).toEqual([17, 18, 19]);
  expect(ring.blockAt(12)).toMatchObject({ sequence: 12, firstMs: 12_000, lastMs: 12_500, frames: 2 });
  ring.tick(20_000);
  expect(ring.blocksFrom(0)[0]?.sequence).toBe(10);
  expect(ring.evictedUntil()).toBe(9500);
  expect([ring.blockAt(3)?.sequence, ring.blockAt(20)]).toEqual([10, null]);
  expect(ring.state()).toMatchObject({ seconds: 9.5, evictedFrames: 20 });
});

test("a machine's clock that is set does not empty the ring", () => {
  const ring = createMemoryRing({ memory: Buffer.alloc(64 * KIB), seconds: 10 });
  ring.tick(1000);
  putBlock(ring, [at(5000, udpFrame(ONE, TWO))]);
  ring.tick(1250);
  putBlock(ring, [at(1_700_000_000_000, udpFrame(ONE, TWO))]);
  ring.tick(11_000);
  expect(ring.blocksFrom(0).map(({ sequence }) => sequence)).toEqual([0, 1]);
  ring.tick(11_001);
  expect(ring.blocksFrom(0).map(({ sequence }) => sequence)).toEqual([1]);
});

test("a block that would take more than a quarter of the ring is refused", () => {
  const ring = createMemoryRing({ memory: Buffer.alloc(64 * KIB), seconds: 10 });
  expect(() => ring.allocate(17 * KIB)).toThrow(RangeError);
});

function readTexts(blocks: readonly RingBlock[]): readonly string[] {
  const cursor = createFrameCursor();
  return blocks.flatMap((block) => {
    const texts: string[] = [];
    cursor.start(block);
    while (cursor.next()) {
      const text = cursor.bytes.toString("latin1", cursor.offset + 42, cursor.offset + cursor.length).split(" ");
      texts.push(`${text[0]} ${text[1]}`);
      expect(Math.floor(millisecondsOf(cursor) / 1000)).toBe(block.sequence);
    }
    return texts;
  });
}
