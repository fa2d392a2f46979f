import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createPacedSender } from "./paced-sender.ts";

/** Notes when each frame was sent. */
function setUp(options: { readonly failAt?: number; readonly lateMs?: number } = {}) {
  const clock = createFakeClock();
  const sent: { readonly at: number; readonly frame: number }[] = [];
  const bursts: number[] = [];
  let broke = false;
  const injector = {
    async send(frames: Iterable<Uint8Array>) {
      const burst = [...frames];
      bursts.push(burst.length);
      for (const frame of burst) {
        if (sent.length === options.failAt && !broke) {
          broke = true;
          throw new Error("the wire broke");
        }
        sent.push({ at: clock.monotonic(), frame: frame[0] ?? -1 });
      }
    },
  };
  const late = { ...clock, after: (delayMs: number, task: () => void) => clock.after(Math.ceil(delayMs) + (options.lateMs ?? 0), task) };
  return { clock, sent, bursts, sender: createPacedSender({ injector, clock: late }) };
}

function* frames(count: number, mark = 0): Generator<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield Uint8Array.of(mark === 0 ? index % 256 : mark);
}

/** The most frames within any stretch of this length. */
function mostWithin(sent: readonly { readonly at: number }[], stretchMs: number): number {
  return Math.max(0, ...sent.map(({ at }, first) => sent.filter((other, index) => index >= first && other.at < at + stretchMs).length));
}

/** Moves the clock on until the promise is settled. */
async function finish(clock: ReturnType<typeof createFakeClock>, work: Promise<void>): Promise<void> {
  const state = { settled: false };
  const noted = work.finally(() => {
    state.settled = true;
  });
  noted.catch(() => {});
  while (!state.settled) await clock.advance(1);
  await noted;
}

/** Moves the clock on in small steps, so that what follows a step is in time for the next one. */
async function pass(clock: ReturnType<typeof createFakeClock>, ms: number): Promise<void> {
  for (let step = 0; step < ms; step += 1) await clock.advance(1);
}

describe("a paced sender", () => {
  test("sends the first frame at once and the others at equal distances", async () => {
    const { clock, sent, sender } = setUp();
    await finish(clock, sender.send(frames(5), { framesPerSecond: 10 }));
    expect(sent.map(({ at }) => at)).toEqual([0, 100, 200, 300, 400]);
  });

  test.each([1, 12, 200, 1000, 50_000, 200_000])("keeps %i frames a second, neither slower nor faster", async (rate) => {
    const { clock, sent, bursts, sender } = setUp();
    const count = Math.min(rate * 3, 20_000);
    await finish(clock, sender.send(frames(count), { framesPerSecond: rate }));
    expect(sent.map(({ frame }) => frame)).toEqual(Array.from({ length: count }, (_, index) => index % 256));
    const tookMs = sent.at(-1)?.at ?? 0;
    expect(tookMs).toBeGreaterThanOrEqual(((count - 1) / rate) * 1000 - 5);
    expect(tookMs).toBeLessThanOrEqual((count / rate) * 1000 + 5);
    expect(Math.max(...bursts)).toBeLessThanOrEqual(256);
  });

  test("makes up for timers that are 2 ms late, and stays below 15 frames in any second when asked for 12", async () => {
    const { clock, sent, sender } = setUp({ lateMs: 2 });
    await finish(clock, sender.send(frames(60), { framesPerSecond: 12 }));
    expect(sent.at(-1)?.at).toBeLessThan((59 / 12) * 1000 + 5);
    expect(mostWithin(sent, 1000)).toBeLessThanOrEqual(13);
  });

  test("does not make up for a long pause with a burst", async () => {
    const { clock, sent, sender } = setUp({ lateMs: 700 });
    await finish(clock, sender.send(frames(5), { framesPerSecond: 100 }));
    expect(mostWithin(sent, 100)).toBe(1);
  });

  test("takes turns between callers, so that one frame need not wait for a sweep, and all share the rate", async () => {
    const { clock, sent, sender } = setUp();
    const sweep = sender.send(frames(1000, 1), { framesPerSecond: 100 });
    await pass(clock, 1000);
    const single = sender.send(frames(1, 2), { framesPerSecond: 100 });
    await pass(clock, 30);
    await single;
    expect(sent.filter(({ frame }) => frame === 2)).toHaveLength(1);
    await finish(clock, sweep);
    expect(mostWithin(sent, 1000)).toBeLessThanOrEqual(101);
    expect(sent).toHaveLength(1001);
  });

  test("makes frames when their turn comes", async () => {
    const { clock, sender } = setUp();
    let made = 0;
    const lazily = function* () {
      for (;;) {
        made += 1;
        yield Uint8Array.of(1);
      }
    };
    const work = sender.send(lazily(), { framesPerSecond: 10 });
    await pass(clock, 1000);
    expect(made).toBeLessThanOrEqual(12);
    sender.close();
    await expect(work).rejects.toMatchObject({ code: "send-failed" });
  });

  test("stops at a signal, with the signal's reason", async () => {
    const { clock, sent, sender } = setUp();
    const stop = new AbortController();
    const work = sender.send(frames(100), { framesPerSecond: 10, signal: stop.signal });
    await pass(clock, 450);
    stop.abort(new Error("enough"));
    await expect(finish(clock, work)).rejects.toThrow("enough");
    expect(sent).toHaveLength(5);
  });

  test("fails with the injector's error, and goes on with the other callers", async () => {
    const { clock, sent, sender } = setUp({ failAt: 3 });
    const first = sender.send(frames(10, 1), { framesPerSecond: 100 });
    const second = sender.send(frames(10, 2), { framesPerSecond: 100 });
    await expect(finish(clock, first)).rejects.toThrow("the wire broke");
    await finish(clock, second);
    expect(sent.filter(({ frame }) => frame === 2)).toHaveLength(10);
  });

  test("sends nothing of nothing, and takes rates outside its range as the nearest", async () => {
    const { clock, sent, sender } = setUp();
    await finish(clock, sender.send([], { framesPerSecond: 10 }));
    for (const framesPerSecond of [0, -5, Number.NaN]) await finish(clock, sender.send(frames(2), { framesPerSecond }));
    expect(sent).toHaveLength(6);
    expect(mostWithin(sent, 999)).toBe(1);
  });

  test("refuses frames after close", async () => {
    const { sender } = setUp();
    sender.close();
    await expect(sender.send(frames(1), { framesPerSecond: 10 })).rejects.toMatchObject({ code: "send-failed" });
  });
});
