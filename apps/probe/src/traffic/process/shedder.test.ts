import { encodeFrameBlock } from "@lanthorn/packet-io";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { SINK_NAMES, type Sink } from "../sinks.ts";
import { at, udpFrame } from "../testing/frames.ts";
import { createShedder } from "./shedder.ts";

const HOST = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };

function createScene({ divisible }: { readonly divisible?: string } = {}) {
  const clock = createFakeClock();
  const given = new Map<string, number>();
  const shed = new Map<string, number>();
  const shedFrom = new Set<number>();
  const held = new Set<string>();
  const sinks: readonly Sink[] = SINK_NAMES.map((name) => ({
    name, isDivisible: name === divisible, onBlock: ({ frames }) => void given.set(name, (given.get(name) ?? 0) + frames), isReady: () => !held.has(name), close: () => Promise.resolve(),
    shed(frames, _octets, interfaceId) {
      shed.set(name, (shed.get(name) ?? 0) + frames);
      shedFrom.add(interfaceId);
    },
  }));
  let [load, kernelLoad, waiting, excess] = [0, 0, 0, 0];
  const shedder = createShedder({ sinks, kernelLoad: () => kernelLoad, load: () => load, waiting: () => waiting, excess: () => excess, clock, log: silentLog });
  const block = encodeFrameBlock([at(1000, udpFrame(HOST, HOST)), at(1001, udpFrame(HOST, HOST))]);
  return {
    clock, shedder, given, shed, shedFrom,
    /** It has no room any more. */
    hold: (name: string) => void held.add(name),
    /** A block each ten milliseconds for so long. */
    async run(milliseconds: number, atLoad: number, { excess: atExcess = 0, waiting: atWaiting = atLoad, kernel = atLoad } = {}) {
      [load, kernelLoad, waiting, excess] = [atLoad, kernel, atWaiting, atExcess];
      for (let passed = 0; passed < milliseconds; passed += 10) {
        shedder.dispatch(block, 0, 100);
        await clock.advance(10);
      }
    },
  };
}

test("while there is room every sink is given every frame", async () => {
  const { run, given, shed, shedder } = createScene();
  await run(1000, 0.3);
  expect([...given.values()]).toEqual(SINK_NAMES.map(() => 200));
  expect([shed.size, shedder.state().shedding]).toEqual([0, 0]);
});

test("at overload the last sinks are left out first, each counted and with its time, and the ring never", async () => {
  const { run, given, shed, shedder, clock } = createScene();
  await run(150, 0.9);
  expect([shedder.state().shedding, [...shed.keys()]]).toEqual([2, ["continuous", "inspection"]]);
  const since = shedder.state().sinks.at(-1)?.since;
  expect(since).toBeLessThanOrEqual(clock.now());
  await run(1000, 0.9);
  expect([...shed.keys()]).toEqual([...SINK_NAMES].slice(1).toReversed());
  expect(given.get("ring")).toBe(230);
  for (const { name, frames, octets } of shedder.state().sinks) {
    expect(frames + (given.get(name) ?? 0)).toBe(230);
    expect(octets).toBe(frames * 50);
  }
});

test("a moment in which much waits costs nothing, nor does its end; when it goes on, the last sink is left out", async () => {
  const { run, shedder } = createScene();
  for (let time = 0; time < 10; time += 1) {
    await run(40, 1);
    await run(20, 0.8);
    await run(20, 0.6);
    await run(20, 0.1);
  }
  expect(shedder.state().shedding).toBe(0);
  await run(100, 0.7);
  expect(shedder.state().shedding).toBe(1);
});

test("what a sink is not given is counted for the interface that it came from", async () => {
  const { run, shedder, shedFrom } = createScene();
  await run(100, 0.9);
  shedFrom.clear();
  shedder.dispatch(encodeFrameBlock([at(1000, udpFrame(HOST, HOST))]), 3, 100);
  expect([...shedFrom]).toEqual([3]);
});

test("sinks come back one after the other, the most important first, and only when there was room for a while", async () => {
  const { run, shedder } = createScene();
  await run(400, 1);
  expect(shedder.state().shedding).toBe(5);
  await run(3000, 0.3);
  expect(shedder.state().shedding).toBe(5);
  await run(90, 0);
  expect(shedder.state().shedding).toBe(5);
  await run(140, 0);
  expect(shedder.state().shedding).toBe(3);
  expect(shedder.state().sinks.map(({ name, since }) => [name, since === null])).toEqual(SINK_NAMES.map((name, index) => [name, index < 3]));
  await run(400, 0);
  expect(shedder.state().shedding).toBe(0);
});

test("an overload that comes back each time is given longer and longer to be over", async () => {
  const { run, shedder } = createScene();
  const waits: number[] = [];
  await run(20, 0);
  for (let time = 0; time < 8; time += 1) {
    await run(100, 1);
    let waited = 0;
    for (; shedder.state().shedding > 0; waited += 20) await run(20, 0);
    waits.push(Math.round(waited / 100) * 100);
  }
  expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 4000, 4000]);
  await run(6000, 0);
  await run(100, 1);
  await run(140, 0);
  expect(shedder.state().shedding).toBe(0);
});

test("of a sink that can do with a part of the blocks as many are left out, evenly, as there is no time for, and none when there is", async () => {
  const { run, given, shed, shedder } = createScene({ divisible: "continuous" });
  const shares: number[] = [];
  for (const excess of [0, 0.1, 0.5, 0.75, 1, 0]) {
    const before = shed.get("continuous") ?? 0;
    await run(1000, 0.4, { excess });
    shares.push(((shed.get("continuous") ?? 0) - before) / 200);
  }
  expect(shares.map((share) => Math.round(share * 20) / 20)).toEqual([0, 0.1, 0.5, 0.75, 1, 0]);
  expect((given.get("continuous") ?? 0) + (shed.get("continuous") ?? 0)).toBe(given.get("ring"));
  expect(shedder.state().sinks.at(-1)?.frames).toBe(shed.get("continuous"));
});

test("a sink of which a part is left out now and then is said to be left out all the time, until that is over for a second", async () => {
  const { run, shedder } = createScene({ divisible: "continuous" });
  const since = () => shedder.state().sinks.at(-1)?.since ?? null;
  await run(200, 0.6, { excess: 0.2, kernel: 0.1 });
  const first = since();
  await run(400, 0);
  await run(200, 0.6, { excess: 0.2, kernel: 0.1 });
  expect([since(), shedder.state().shedding]).toEqual([first, 1]);
  await run(900, 0);
  expect(since()).toBe(first);
  await run(200, 0);
  expect([first === null, since(), shedder.state().shedding]).toEqual([false, null, 0]);
});

test("others are left out when the kernel's ring fills, and that one is given nothing before they have theirs again", async () => {
  const { run, given, shed, shedder } = createScene({ divisible: "continuous" });
  await run(1000, 0.75, { excess: 1, kernel: 0.4 });
  expect(shed.has("inspection")).toBe(false);
  await run(160, 1, { excess: 1 });
  expect([shed.has("inspection"), shedder.state().shedding]).toEqual([true, 3]);
  const before = given.get("continuous");
  await run(180, 0);
  expect(given.get("continuous")).toBe(before);
  await run(2000, 0);
  expect([given.get("continuous") === before, shedder.state().shedding]).toEqual([false, 0]);
});

test("a sink that is given a part of the blocks is waited for like any other, and one that is given none is not", async () => {
  const { run, shedder, hold } = createScene({ divisible: "continuous" });
  hold("continuous");
  expect(shedder.isReady(0)).toBe(false);
  await run(100, 0.4, { excess: 1 });
  expect(shedder.isReady(0)).toBe(false);
  await run(160, 1, { excess: 1 });
  expect([shedder.state().sinks.at(-2)?.since === null, shedder.isReady(0)]).toEqual([false, true]);
});

test("while what waits becomes less, nothing more is left out, however much it is", async () => {
  const { run, shed } = createScene();
  for (let waiting = 1; waiting > 0.3; waiting -= 0.04) await run(10, 0.9, { waiting });
  expect(shed.size).toBe(0);
  await run(120, 0.9, { waiting: 0.3 });
  expect(shed.size).toBeGreaterThan(0);
});
