import { type Clock, createId, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { AlertNotice } from "../messages.ts";
import { createFrameHeaders } from "../ring/frame-headers.ts";
import { createMemoryRing } from "../ring/memory-ring.ts";
import { TrafficSettings } from "../settings.ts";
import { at, putBlock, udpFrame } from "../testing/frames.ts";
import { createKeptRecordings } from "../testing/recordings.ts";
import { createEvidence } from "./evidence.ts";

const EVE = { mac: "02:00:00:00:00:66", ip: "10.0.0.66" };
const BOB = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const ANN = { mac: "02:00:00:00:00:02", ip: "10.0.0.2" };
const START = 1_700_000_000_000;
const MIB = 1024 * 1024;
const FRAMES_A_BLOCK = 1000;

/** What this process has worked, not how long it was kept from it: the machine does much else. */
function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The time of its work in each turn; between turns time goes on by what the next task waits for. */
function createTurns() {
  let skipped = 0;
  let lookMs = 0;
  let longest = 0;
  let turns = 0;
  const tasks = new Set<{ readonly dueAt: number; readonly task: () => void }>();
  const monotonic = () => (skipped += lookMs) + (lookMs === 0 ? workedMs() : 0);
  const begunAt = monotonic();
  const clock: Clock = {
    now: () => START + 10_000 + monotonic() - begunAt, monotonic, every: () => () => {},
    after(delayMs, task) {
      const one = { dueAt: monotonic() + delayMs, task };
      tasks.add(one);
      return () => void tasks.delete(one);
    },
  };
  const turn = (task: () => void) => {
    const from = workedMs();
    task();
    longest = Math.max(longest, workedMs() - from);
    turns += 1;
  };
  return {
    clock, turn,
    /** From now on time is no longer what was worked: so much passes from one look at the clock to the next. */
    countLooks(milliseconds: number) {
      skipped += workedMs();
      lookMs = milliseconds;
    },
    pass(milliseconds: number) {
      skipped += milliseconds;
    },
    /** Ticks as the process does, and runs what is due between. */
    run(milliseconds: number, tick: () => void) {
      const end = monotonic() + milliseconds;
      for (let nextTick = monotonic(); monotonic() < end;) {
        const first = [...tasks].toSorted((one, other) => one.dueAt - other.dueAt)[0];
        const due = Math.min(nextTick, first?.dueAt ?? nextTick);
        skipped += Math.max(0, due - monotonic());
        if (first && first.dueAt <= nextTick) {
          tasks.delete(first);
          turn(first.task);
        } else {
          nextTick += 250;
          turn(tick);
        }
      }
    },
    result: () => ({ longest, turns }),
  };
}

function createFlood(megabytes: number) {
  const turns = createTurns();
  const { kept, open } = createKeptRecordings();
  // Only marked frames are kept: a copy of each would be what takes the time.
  const keepMarked: typeof open = (options) => {
    const recording = open(options);
    if ("refused" in recording) return recording;
    return {
      ...recording,
      add(frame, interfaceId, comment) {
        return comment === undefined ? "added" : recording.add(frame, interfaceId, comment);
      },
    };
  };
  const evicted = { longest: 0 };
  const ring = createMemoryRing({
    memory: Buffer.alloc(megabytes * MIB), seconds: 120,
    onEvict(block) {
      const from = workedMs();
      evidence.onEvict(block);
      evicted.longest = Math.max(evicted.longest, workedMs() - from);
    },
  });
  const evidence = createEvidence({
    ring, headers: createFrameHeaders(), settings: TrafficSettings.parse({}).evidence, snapLength: 262_144, isWanted: () => true, open: keepMarked, clock: turns.clock, log: silentLog,
  });
  const flood = Array.from({ length: FRAMES_A_BLOCK }, (_, index) => udpFrame(EVE, BOB, `flood ${index}`.padEnd(22)));
  const put = (block: number) => putBlock(ring, flood.map((bytes, index) => at(START + 9000 + block + index / FRAMES_A_BLOCK, bytes)));
  const blocks = Math.floor((megabytes * MIB) / putBlock(ring, flood.map((bytes) => at(START, bytes))).end) - 1;
  const alert = (packets: readonly Uint8Array[], more: Partial<AlertNotice> = {}): AlertNotice => ({
    alert_id: createId(), kind: "arp_spoofing", at: turns.clock.now(), device: { macs: [EVE.mac], ips: [] }, peer: null,
    packets: packets.map((bytes) => Buffer.from(bytes).toString("base64")), ...more,
  });
  return { ...turns, kept, ring, evidence, put, blocks, alert, evicted };
}

test("no number of alerts and of packets to look for holds up the process in a flood", () => {
  const { run, turn, put, blocks, alert, evidence, kept, result } = createFlood(24);
  for (let block = 0; block < blocks; block += 1) put(block);
  // Packets that begin as the flood's do, and are nowhere; of one device, of many, of two who never spoke.
  for (let count = 0; count < 64; count += 1) {
    const packets = Array.from({ length: 16 }, (_, index) => udpFrame(EVE, BOB, `flood ${index}`.padEnd(18) + String(count).padStart(4)));
    const ips = count % 2 === 0 ? [] : [`10.1.0.${count}`];
    turn(() => evidence.notice(alert(packets, { device: { macs: [EVE.mac], ips }, peer: count < 60 ? { macs: [ANN.mac], ips: [`10.2.0.${count}`] } : null })));
  }
  run(8000, () => evidence.tick?.(0));
  expect(kept.length).toBeGreaterThan(0);
  // A block as it was found took seconds; the bound is for a machine that does much else.
  expect(result().longest).toBeLessThan(500);
  expect(result().turns).toBeGreaterThan(60);
});

test("the frame of an alert is found in a flood of others, though alerts of many packets are looked for too", () => {
  const { run, put, blocks, alert, evidence, kept, ring } = createFlood(32);
  for (let block = 0; block < blocks / 2; block += 1) put(block);
  const evil = udpFrame(ANN, BOB, "evil");
  putBlock(ring, [at(START + 9500, evil)]);
  for (let block = Math.ceil(blocks / 2); block < blocks; block += 1) put(block);
  for (let count = 0; count < 20; count += 1) evidence.notice(alert([udpFrame(EVE, BOB, `nowhere ${count}`)]));
  const wanted = alert([evil], { device: { macs: [ANN.mac], ips: [] } });
  evidence.notice(wanted);
  run(5000, () => evidence.tick?.(0));
  const marked = kept.flatMap(({ frames }) => frames.filter(({ comment }) => comment?.includes(wanted.alert_id)));
  expect(marked.map(({ at: time }) => time)).toEqual([START + 9500]);
});

test("a flood that pushes blocks out of the ring takes a bounded share of the time, and what there was no time for is said", () => {
  const { run, put, blocks, alert, evidence, kept, evicted } = createFlood(8);
  for (let block = 0; block < blocks; block += 1) put(block);
  for (let count = 0; count < 8; count += 1) evidence.notice(alert([], { device: { macs: [`02:00:00:00:01:0${count}`], ips: [`10.1.0.${count}`] } }));
  run(2000, () => evidence.tick?.(0));
  expect(evidence.state().open).toBe(8);
  for (let block = blocks; block < blocks * 4; block += 1) put(block);
  expect(evicted.longest).toBeLessThan(500);
  expect(kept.some(({ missing }) => missing.some(({ frames, why }) => frames > 0 && why.includes("memory ring")))).toBe(true);
});

test("a block that leaves the ring is looked at for its share of the time, and the rest of it is said to be missing", () => {
  const { run, put, blocks, alert, evidence, kept, countLooks, pass } = createFlood(8);
  for (let block = 0; block < blocks; block += 1) put(block);
  evidence.notice(alert([], { device: { macs: ["02:00:00:00:01:01"], ips: ["10.1.0.1"] } }));
  run(2000, () => evidence.tick?.(0));
  countLooks(1);
  for (let block = blocks; block < blocks * 3; block += 1) {
    pass(20);
    put(block);
  }
  const lost = kept.flatMap(({ missing }) => missing).filter(({ why }) => why.includes("memory ring"));
  expect(lost.length).toBeGreaterThan(blocks / 2);
  expect(lost.filter(({ frames }) => frames <= 0 || frames >= FRAMES_A_BLOCK)).toEqual([]);
});
