import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPcapngWriter, createPcapWriter } from "@lanthorn/packets";
import { createFakeClock, type FakeClock, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CapturedFrame } from "./capture-types.ts";
import { openReplay, type ReplayOptions } from "./replay.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-replay-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FRAMES = [
  { seconds: 1_700_000_000, nanoseconds: 123_456_789, bytes: new Uint8Array(60).fill(1) },
  { seconds: 1_700_000_000, nanoseconds: 623_456_789, bytes: new Uint8Array(1514).fill(2), originalLength: 9000 },
  { seconds: 1_700_000_003, nanoseconds: 0, bytes: new Uint8Array(14).fill(3) },
];
const MICROSECONDS = [1_700_000_000_123_456, 1_700_000_000_623_456, 1_700_000_003_000_000];

function pcapOf(frames: readonly (typeof FRAMES)[number][], linkType = 1): Uint8Array {
  const writer = createPcapWriter({ linkType });
  return Buffer.concat([writer.header(), ...frames.map((frame) => writer.record(frame))]);
}

function write(bytes: Uint8Array): string {
  const path = join(folder, "capture");
  writeFileSync(path, bytes);
  return path;
}

/** Plays a file to its end. @returns Batches, and how it ended: null, or the code of the loss. */
async function play(bytes: Uint8Array, options: Partial<ReplayOptions> = {}) {
  const batches: (readonly CapturedFrame[])[] = [];
  let capture: ReturnType<typeof openReplay> | undefined;
  const ended = await new Promise<string | null>((resolve) => {
    capture = openReplay({
      path: write(bytes),
      clock: systemClock,
      pace: "at-once",
      onFrames: (batch) => void batches.push(batch),
      onEnd: () => resolve(null),
      onLost: (reason) => resolve(reason.code),
      ...options,
    });
  });
  return { batches, frames: batches.flat(), ended, counters: capture?.counters() };
}

/** Moves a clock on until the work is done. */
async function runOn(clock: FakeClock, stepMs: number, work: Promise<unknown>): Promise<void> {
  const state = { done: false };
  const noted = work.finally(() => {
    state.done = true;
  });
  while (!state.done) await clock.advance(stepMs);
  await noted;
}

const codeOf = (attempt: () => unknown): unknown => {
  try {
    attempt();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return null;
};

describe("a replay", () => {
  test("hands over a pcap file's frames with the file's times and lengths, and then ends", async () => {
    const { frames, ended, counters } = await play(pcapOf(FRAMES));
    expect(ended).toBeNull();
    expect(frames.map((frame) => frame.atMicroseconds)).toEqual(MICROSECONDS);
    expect(frames.map((frame) => frame.wireLength)).toEqual([60, 9000, 14]);
    expect(frames.map((frame) => [...frame.bytes])).toEqual(FRAMES.map((frame) => [...frame.bytes]));
    expect(counters).toEqual({ frames: 3, droppedByKernel: 0, droppedByInterface: 0, droppedByReader: 0 });
  });

  test("hands over the Ethernet frames of a pcapng file, and counts the others as dropped", async () => {
    const writer = createPcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: 113 }] });
    const records = FRAMES.map((frame, index) => writer.record({ ...frame, interfaceId: index === 1 ? 1 : 0 }));
    const { frames, ended, counters } = await play(Buffer.concat([writer.header(), ...records]));
    expect(ended).toBeNull();
    expect(frames.map((frame) => frame.atMicroseconds)).toEqual([MICROSECONDS[0], MICROSECONDS[2]]);
    expect(counters).toMatchObject({ frames: 2, droppedByReader: 1 });
  });

  test("says that a file holds no Ethernet frame at all", async () => {
    expect((await play(pcapOf(FRAMES, 113))).ended).toBe("interface-unsupported");
  });

  test("gives every whole frame of a file that was cut anywhere, and then says so", async () => {
    const whole = pcapOf(FRAMES);
    const ends = FRAMES.map((_, index) => pcapOf(FRAMES.slice(0, index + 1)).length);
    for (let length = 24; length < whole.length; length += 7) {
      const { frames, ended } = await play(whole.subarray(0, length));
      expect(frames).toHaveLength(ends.filter((end) => end <= length).length);
      expect(ended).toBe(length === 24 || ends.includes(length) ? null : "file-unreadable");
    }
  });

  test("gives the frames before a place that makes no sense", async () => {
    const { frames, ended } = await play(Buffer.concat([pcapOf(FRAMES), new Uint8Array(16).fill(0xff)]));
    expect([frames.length, ended]).toEqual([3, "file-unreadable"]);
  });

  test("reads a file of many pieces in batches of at most 32", async () => {
    const frameAt = (second: number) => ({ seconds: second, nanoseconds: 0, bytes: new Uint8Array(200).fill(second % 251) });
    const { batches, frames, ended } = await play(pcapOf(Array.from({ length: 5000 }, (_, index) => frameAt(index + 1))));
    expect([frames.length, ended]).toEqual([5000, null]);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(32);
    const isRight = ({ atMicroseconds, bytes }: CapturedFrame, second: number) =>
      atMicroseconds === second * 1e6 && bytes.every((byte) => byte === second % 251);
    expect(frames.every((frame, index) => isRight(frame, index + 1))).toBe(true);
  });

  test("lets others have their turn while a slow reader takes a file", async () => {
    const clock = createFakeClock();
    let turns = 0;
    let isOver = false;
    const others = () => {
      turns += 1;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    let now = 0;
    const file = pcapOf(Array.from({ length: 1024 }, (_, index) => ({ seconds: 1 + index, nanoseconds: 0, bytes: new Uint8Array(60) })));
    const { counters } = await play(file, { clock: { ...clock, monotonic: () => now }, onFrames: (batch) => void (now += batch.length * 0.122) });
    isOver = true;
    expect([counters?.frames, turns >= 1024 / 96]).toEqual([1024, true]);
  });

  test("keeps the pauses of the file when asked to, and makes none of steps back in time", async () => {
    const clock = createFakeClock();
    const early = [1000, 1001].map((seconds) => ({ seconds, nanoseconds: 0, bytes: new Uint8Array(60) }));
    const at: number[] = [];
    const onFrames = (batch: readonly CapturedFrame[]) => void at.push(...batch.map(() => clock.monotonic()));
    await runOn(clock, 1, play(pcapOf([...FRAMES, ...early]), { clock, pace: "as-recorded", onFrames }));
    expect(at.map((ms) => Math.round(ms - (at[0] ?? 0)))).toEqual([0, 500, 2877, 2877, 3877]);
  });

  test("waits through a silence longer than any timer", async () => {
    const clock = createFakeClock();
    const frames = [0, 40 * 86_400].map((seconds) => ({ seconds: 1_700_000_000 + seconds, nanoseconds: 0, bytes: new Uint8Array(60) }));
    const delays: number[] = [];
    const noting = {
      ...clock,
      after(delayMs: number, task: () => void) {
        delays.push(delayMs);
        return clock.after(delayMs, task);
      },
    };
    await runOn(clock, 3_600_000, play(pcapOf(frames), { clock: noting, pace: "as-recorded", onFrames() {} }));
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(40 * 86_400_000);
  });

  test("is silent after close, in the middle of a file too", async () => {
    const clock = createFakeClock();
    let called = 0;
    const count = () => void (called += 1);
    const path = write(pcapOf(FRAMES));
    const capture = openReplay({ path, clock, pace: "as-recorded", onFrames: count, onEnd: count, onLost: count });
    await clock.advance(100);
    await capture.close();
    await capture.close();
    await clock.advance(10_000);
    expect([called, capture.counters().frames]).toEqual([1, 1]);
  });

  test("is refused where there is no capture file", () => {
    const silent = { clock: systemClock, pace: "at-once", onFrames() {}, onEnd() {}, onLost() {} } as const;
    const open = (path: string) => codeOf(() => openReplay({ path, ...silent }));
    expect(open(join(folder, "none"))).toBe("file-unreadable");
    expect(open(folder)).toBe("file-unreadable");
    expect(open(write(new Uint8Array(0)))).toBe("file-unreadable");
    expect(open(write(Buffer.from("this is a text and no capture file")))).toBe("file-unreadable");
  });
});
