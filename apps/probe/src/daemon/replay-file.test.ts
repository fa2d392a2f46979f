import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { createPcapngWriter, createPcapWriter, LINK_TYPE } from "@lanthorn/packets";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLiveClock } from "../bus/bus-clock.ts";
import { createFrameBus } from "../bus/frame-bus.ts";
import { readReplaySettings } from "../configuration.ts";
import { lldpFrame } from "../listen/testing/adverts.ts";
import { arpFrame, HOST } from "../observe/testing/frames.ts";
import { describeEvent } from "./describe-event.ts";
import { createBusModules, NO_WAYS_OUT, policyOf } from "./parts/bus-modules.ts";
import { replayFile } from "./replay-file.ts";

const START = Date.UTC(2019, 4, 1);
/** A switch and two hosts appear, one moves to another address, and the switch falls silent beyond its time to live. */
const SCENE = [
  [0, lldpFrame({ ttlSeconds: 20 })], [100, arpFrame("192.168.1.5", "192.168.1.1")],
  [3000, arpFrame("192.168.1.6", "192.168.1.1", { from: "00:11:22:33:44:66" })], [8000, arpFrame("192.168.1.9", "192.168.1.1", { from: HOST })],
  [40_000, arpFrame("192.168.1.6", "192.168.1.1", { from: "00:11:22:33:44:66" })],
] as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-replay-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeCapture(name: string): string {
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet, snapLength: 65_535 });
  const chunks = [writer.header(), ...SCENE.map(([at, bytes]) => {
    const ms = START + at;
    return writer.record({ seconds: Math.floor(ms / 1000), nanoseconds: (ms % 1000) * 1_000_000, bytes, originalLength: bytes.length });
  })];
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(chunks));
  return path;
}

async function replay(path: string, settings = readReplaySettings(null)) {
  const events: ProbeEvent[] = [];
  const result = await replayFile({ path, settings, log: silentLog, vendorOf: () => "", print: (some) => void events.push(...some) });
  return { events, result };
}

test("a file gives the same events each time, at the file's times, and they end with its last changes", async () => {
  const path = writeCapture("scene.pcap");
  const first = await replay(path);
  expect(JSON.stringify((await replay(path)).events)).toBe(JSON.stringify(first.events));
  expect(first.result).toEqual({ frames: SCENE.length, problem: null });
  const kinds = new Set(first.events.map(({ type }) => type));
  expect([...["neighbor_discovered", "neighbor_lost", "host_found", "host_changed"] as const].filter((type) => !kinds.has(type))).toEqual([]);
  for (const { occurred_at: at } of first.events) expect(at >= new Date(START).toISOString() && at < new Date(START + 60_000).toISOString()).toBe(true);
});

test("what a file shows is what the link showed", async () => {
  const machine = createFakeClock(START);
  const clock = createLiveClock(machine);
  const live: ProbeEvent[] = [];
  const settings = readReplaySettings(null);
  const networks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7"];
  const facts = {
    name: "lan0", index: 0, mac: "02:00:00:00:00:01", mtu: 1500, up: true, linkType: "ether", vlan: null, gateways: [],
    addresses: networks.map((network) => {
      const [ip = "", bits] = network.split("/");
      return { family: ip.includes(":") ? "ipv6" as const : "ipv4" as const, ip, prefixLength: Number(bits), scope: "global" as const };
    }),
  };
  const { all: modules } = createBusModules({
    ...NO_WAYS_OUT, db: new Database(":memory:"), outbox: { append: (some) => void live.push(...some) }, clock, random: () => 0.5, log: silentLog,
    policy: policyOf(settings, true), interfaceName: "replay", interfaceFacts: () => facts, maxHosts: settings.max_hosts, unasked: "all",
    sender: { send: () => Promise.resolve() }, vendorOf: () => "", identify: null,
    guardSettings: settings.guards,
  });
  const bus = createFrameBus({ modules, clock, log: silentLog });
  bus.start();
  for (const [at, bytes] of SCENE) {
    await machine.advance(START + at - machine.now());
    bus.onFrames([{ bytes, wireLength: bytes.length, atMicroseconds: machine.now() * 1000 }]);
  }
  await machine.advance(10_000);
  bus.close();
  for (const module of modules) await module.close?.();
  const shown = (events: readonly ProbeEvent[]) => events.filter(({ type }) => !type.endsWith("_report")).map((event) => JSON.stringify(event));
  expect(shown((await replay(writeCapture("live.pcap"))).events)).toEqual(shown(live));
});

test("a cut file gives the events of what it holds, and says that it was cut; one that is none is refused", async () => {
  const path = writeCapture("cut.pcap");
  const { readFileSync } = await import("node:fs");
  writeFileSync(path, readFileSync(path).subarray(0, -20));
  const { events, result } = await replay(path);
  expect([result.frames, result.problem === null, events.length > 0]).toEqual([SCENE.length - 1, false, true]);
  writeFileSync(path, "no capture");
  await expect(replay(path)).rejects.toMatchObject({ code: "config-invalid" });
});

test("frames without bytes, times that go back, and times that no date can hold, cost no event and end no replay", async () => {
  const path = join(folder, "odd.pcapng");
  const writer = createPcapngWriter({ interfaces: [{ linkType: LINK_TYPE.ethernet, snapLength: 65_535 }] });
  const odd = [
    ...Array.from({ length: 3000 }, (_, n) => ({ seconds: START / 1000 - n * 60, bytes: n % 2 === 0 ? new Uint8Array(0) : Uint8Array.of(n & 255) })),
    ...SCENE.map(([at, bytes]) => ({ seconds: START / 1000 + at / 1000, bytes })),
  ];
  const records = odd.map(({ seconds, bytes }) => writer.record({ seconds: Math.floor(seconds), nanoseconds: 0, bytes, originalLength: bytes.length }));
  // A section that counts whole seconds in the place of nanoseconds: option 9, one byte long.
  const late = Buffer.from(writer.header());
  late.writeUInt8(0, late.indexOf(Buffer.from([9, 0, 1, 0, 9])) + 4);
  const lateRecords = SCENE.map(([at, bytes]) => writer.record({ seconds: START / 1000, nanoseconds: at, bytes, originalLength: bytes.length }));
  writeFileSync(path, Buffer.concat([late, ...lateRecords, writer.header(), ...records, late, ...lateRecords]));
  const { events, result } = await replay(path);
  expect(result).toEqual({ frames: odd.length + 2 * SCENE.length, problem: null });
  expect(events.filter(({ type }) => type === "host_found")).toHaveLength(2);
  for (const { occurred_at: at } of events) expect(at >= new Date(START).toISOString() && at < new Date(START + 60_000).toISOString()).toBe(true);
});

test("settings narrow which hosts are looked for", async () => {
  const { events } = await replay(writeCapture("other.pcap"), { ...readReplaySettings(null), networks: ["192.168.1.4/30"] });
  const hosts = new Set(events.flatMap((event) => (event.type === "host_found" ? [event.data.ip] : [])));
  expect([hosts.has("192.168.1.5"), hosts.has("192.168.1.9")]).toEqual([true, false]);
});

test("a line for a person says when, what and which, and nothing that moves the cursor", () => {
  const event = {
    type: "error", occurred_at: "2026-11-20T08:15:30.250Z", data: { code: "x", message: "two words\u001b[2J", count: 3, none: "" },
  } as unknown as ProbeEvent;
  expect(describeEvent(event)).toBe('2026-11-20T08:15:30.250Z error code=x message="two words?[2J" count=3');
});
