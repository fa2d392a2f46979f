import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { lldpFrame } from "../listen/testing/adverts.ts";
import { createNeighborListener } from "../listen/neighbor-listener.ts";
import { arpFrame } from "../observe/testing/frames.ts";
import { type BusClock, createLiveClock, createReplayClock } from "./bus-clock.ts";
import { type BusFrame, type BusModule, createFrameBus } from "./frame-bus.ts";

const captured = (bytes: Uint8Array, at = 0) => ({ bytes, wireLength: bytes.length, atMicroseconds: at * 1000 });

test("a frame is decoded once for all modules, in their order", () => {
  const heard: (readonly [string, unknown])[] = [];
  const module = (name: string): BusModule => ({ name, onFrame: (frame: BusFrame) => void heard.push([name, frame.decoded()]) });
  const bus = createFrameBus({ modules: [module("a"), module("b")], clock: createLiveClock(createFakeClock()), log: silentLog });
  bus.onFrames([captured(arpFrame("192.168.1.5", "192.168.1.1"))]);
  expect(heard.map(([name]) => name)).toEqual(["a", "b"]);
  expect(heard[0]?.[1]).toMatchObject({ ok: true });
  expect(heard[0]?.[1]).toBe(heard[1]?.[1]);
});

test("a module that fails is logged once, and costs the others neither frame nor tick", async () => {
  const clock = createFakeClock();
  const errors: unknown[] = [];
  const counts = { frames: 0, ticks: 0 };
  const fail = () => {
    throw new Error("a fault of this module");
  };
  const bus = createFrameBus({
    modules: [
      { name: "broken", onFrame: fail, tick: fail },
      { name: "sound", onFrame: () => void (counts.frames += 1), tick: () => void (counts.ticks += 1) },
    ],
    clock: createLiveClock(clock), log: { error: (...said: unknown[]) => void errors.push(said) },
  });
  bus.start();
  for (let n = 0; n < 5; n += 1) bus.onFrames([captured(new Uint8Array(60))]);
  await clock.advance(1000);
  expect([counts, errors.length]).toEqual([{ frames: 5, ticks: 2 }, 1]);
  bus.close();
  bus.onFrames([captured(new Uint8Array(60))]);
  await clock.advance(1000);
  expect(counts).toEqual({ frames: 5, ticks: 2 });
});

/** A switch appears, is renamed, falls silent beyond its time to live, and comes back an hour later. */
const START = Date.UTC(2019, 4, 1);
const SCENE = [
  [0, lldpFrame({ ttlSeconds: 20 })], [15_000, lldpFrame({ ttlSeconds: 20 })], [70_000, lldpFrame({ ttlSeconds: 20, name: "renamed" })],
  [3_670_000, lldpFrame({ ttlSeconds: 20 })], [3_671_000, arpFrame("192.168.1.5", "192.168.1.1")],
] as const;

function watchNeighbors(clock: BusClock) {
  const events: ProbeEvent[] = [];
  const module = createNeighborListener({
    db: new Database(":memory:"), outbox: { append: (some) => void events.push(...some) }, clock, log: silentLog, interfaceName: "lan0",
    ownMac: () => "02:00:00:00:00:01",
  });
  const bus = createFrameBus({ modules: [module], clock, log: silentLog });
  bus.start();
  return { bus, news: () => events.filter(({ type }) => type !== "neighbor_report") };
}

test("a capture file shows a module what the link showed: the same events at the same times", async () => {
  const machine = createFakeClock(START);
  const live = watchNeighbors(createLiveClock(machine));
  for (const [at, bytes] of SCENE) {
    await machine.advance(START + at - machine.now());
    live.bus.onFrames([captured(bytes, machine.now())]);
  }
  await machine.advance(10_000);

  const elsewhere = createFakeClock();
  const time = createReplayClock(elsewhere);
  const replayed = watchNeighbors(time);
  replayed.bus.onFrames(SCENE.map(([at, bytes]) => captured(bytes, START + at)));
  time.follow();
  await elsewhere.advance(10_000);

  expect(live.news().map(({ type }) => type)).toEqual([
    "neighbor_discovered", "neighbor_lost", "neighbor_discovered", "neighbor_lost", "neighbor_discovered",
  ]);
  expect(replayed.news()).toEqual(live.news());
});
