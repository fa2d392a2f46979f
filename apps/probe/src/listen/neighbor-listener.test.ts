import { EVENTS, parseProbeEvent, type ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLiveClock } from "../bus/bus-clock.ts";
import { createFrameBus, type FrameBus } from "../bus/frame-bus.ts";
import { arpFrame, HOST } from "../observe/testing/frames.ts";
import { cdpFrame, edpFrame, EDP_PLACE, ip, lldpFrame, SWITCH } from "./testing/adverts.ts";
import { createNeighborListener, type NeighborListener } from "./neighbor-listener.ts";

const OWN = "02:00:00:00:00:01";

let clock: FakeClock;
let db: Database.Database;
let listener: NeighborListener;
let bus: FrameBus;
let events: ProbeEvent[];
let isDiskFull: boolean;
let warnings: unknown[];

function open(): NeighborListener {
  return createNeighborListener({
    db, clock, interfaceName: "lan0", ownMac: () => OWN,
    log: { ...silentLog, warn: (about: unknown) => void warnings.push(about) },
    outbox: {
      append(list) {
        if (isDiskFull) throw new Error("the disk is full");
        for (const event of list) {
          expect(parseProbeEvent(event)).toEqual({ ok: true, event });
          events.push(event);
        }
      },
    },
  });
}

function start(module: NeighborListener, time: Clock = clock): void {
  listener = module;
  bus = createFrameBus({ modules: [module], clock: createLiveClock(time), log: silentLog });
  bus.start();
}

beforeEach(() => {
  clock = createFakeClock();
  db = new Database(":memory:");
  events = [];
  warnings = [];
  isDiskFull = false;
  start(open());
});
afterEach(() => {
  bus.close();
  db.close();
});

const hear = (...frames: readonly Uint8Array[]) =>
  bus.onFrames(frames.map((bytes) => ({ bytes, wireLength: bytes.length, atMicroseconds: clock.now() * 1000 })));
const news = () => events.filter(({ type }) => type !== "neighbor_report");
const types = () => news().map(({ type }) => type);
const discovered = () => events.flatMap((event) => (event.type === "neighbor_discovered" ? [event.data] : []));

describe("a neighbor", () => {
  test("is published when it appears, and not with each advertisement", async () => {
    for (let minute = 0; minute < 20; minute += 1) {
      hear(lldpFrame());
      await clock.advance(30_000);
    }
    expect(discovered()).toMatchObject([{
      protocol: "lldp", local_interface: "lan0", chassis_id: SWITCH, port_id: "Ethernet12", ttl_seconds: 120,
      source_mac: "00:1c:73:00:99:1c", changed: [],
    }]);
    expect(EVENTS.neighbor_discovered.stream).toBe("neighbor_discovered");
  });

  test("is published again when it changes, with the changed fields", async () => {
    hear(lldpFrame());
    await clock.advance(61_000);
    hear(lldpFrame({ name: "renamed", items: [{ kind: "port-vlan", vlanId: 30 }] }));
    await clock.advance(1000);
    expect(discovered().at(-1)).toMatchObject({
      system_name: "renamed", native_vlan: 30, changed: ["system_name", "vlan_ids", "native_vlan"],
    });
  });

  test("that keeps changing is published once a minute, with its state at that time", async () => {
    for (let second = 0; second < 180; second += 1) {
      hear(lldpFrame({ name: `name-${second}` }));
      await clock.advance(1000);
    }
    expect(discovered().length).toBeLessThanOrEqual(4);
  });

  test("that is silent for its time to live is gone, and published again when it comes back", async () => {
    hear(lldpFrame({ ttlSeconds: 20 }));
    const lastSeen = new Date(clock.now()).toISOString();
    await clock.advance(19_000);
    expect(types()).toEqual(["neighbor_discovered"]);
    await clock.advance(2000);
    expect(events[1]).toMatchObject({
      type: "neighbor_lost", data: { chassis_id: SWITCH, system_name: "sw-store12", reason: "expired", last_seen_at: lastSeen },
    });
    expect(listener.count()).toBe(0);
    hear(lldpFrame());
    await clock.advance(1000);
    expect(types()).toEqual(["neighbor_discovered", "neighbor_lost", "neighbor_discovered"]);
  });

  test("that says good-bye is gone at once", async () => {
    hear(lldpFrame());
    await clock.advance(1000);
    hear(lldpFrame({ ttlSeconds: 0, name: "" }));
    await clock.advance(1000);
    expect(events[1]).toMatchObject({ type: "neighbor_lost", data: { reason: "shutdown", system_name: "sw-store12" } });
  });

  test("that says goodbye by CDP without naming its port is gone at once, and nobody else", async () => {
    const from = (device: string, mac: string) =>
      cdpFrame([{ kind: "device-id", text: device }, { kind: "port-id", text: "Gi0/1" }], { from: mac });
    hear(from("S1", "00:1c:73:00:99:1d"), from("S2", "00:1c:73:00:99:1e"));
    await clock.advance(1000);
    hear(cdpFrame([{ kind: "device-id", text: "S2" }], { from: "00:1c:73:00:99:1e", ttlSeconds: 0 }));
    hear(cdpFrame([{ kind: "device-id", text: "S1" }], { from: "00:1c:73:00:99:1e", ttlSeconds: 0 }));
    await clock.advance(1000);
    expect(news().slice(2)).toMatchObject([{
      type: "neighbor_lost", data: { protocol: "cdp", chassis_id: "S2", port_id: "Gi0/1", reason: "shutdown" },
    }]);
    expect(listener.count()).toBe(1);
  });

  test("that was only heard to say goodbye by CDP was never there", async () => {
    hear(cdpFrame([{ kind: "device-id", text: "S1" }], { ttlSeconds: 0 }));
    await clock.advance(1000);
    expect([events, listener.count()]).toEqual([[], 0]);
  });

  test("that was only heard to say good-bye was never there", async () => {
    hear(lldpFrame({ ttlSeconds: 0 }));
    await clock.advance(1000);
    expect(events).toEqual([]);
  });

  test("has its VLANs by EDP whichever frame comes first", async () => {
    const vlans = edpFrame([{ kind: "vlan", flags: 0x80, vlanId: 50, address: ip("10.50.0.63"), name: "Admin" }]);
    hear(vlans, edpFrame(EDP_PLACE), vlans);
    await clock.advance(1000);
    hear(edpFrame(EDP_PLACE));
    await clock.advance(120_000);
    expect(discovered()).toMatchObject([{ protocol: "edp", port_id: "1/12", vlan_ids: [50], management_addresses: ["10.50.0.63"] }]);
  });
});

test("who is there is reported every ten minutes, and first when everybody had time to speak", async () => {
  for (let half = 0; half < 28; half += 1) {
    hear(lldpFrame());
    await clock.advance(30_000);
  }
  const reports = events.flatMap((event) => (event.type === "neighbor_report" ? [event.data] : []));
  const report = { local_interface: "lan0", neighbors: [{ protocol: "lldp", chassis_id: SWITCH, port_id: "Ethernet12" }] };
  expect(reports).toMatchObject([report, report]);
});

describe("a restart", () => {
  test("tells nobody anew, and notices who went meanwhile", async () => {
    hear(lldpFrame(), lldpFrame({ port: "Ethernet13" }));
    await clock.advance(1000);
    bus.close();
    await clock.advance(600_000);
    start(open());
    hear(lldpFrame());
    await clock.advance(100_000);
    hear(lldpFrame());
    await clock.advance(100_000);
    expect(types()).toEqual(["neighbor_discovered", "neighbor_discovered", "neighbor_lost"]);
    expect(news().at(-1)?.data).toMatchObject({ port_id: "Ethernet13", reason: "expired" });
  });

  test("leaves out what an earlier version or a fault of the disk has left in its table", () => {
    db.prepare("INSERT INTO neighbors VALUES ('a', '{', 0), ('b', '{\"protocol\":\"x25\"}', 0)").run();
    const again = open();
    again.start();
    expect(again.count()).toBe(0);
  });
});

describe("the outside", () => {
  test("ten thousand senders displace each other and not the switch, and fill no queue", async () => {
    hear(lldpFrame());
    await clock.advance(1000);
    for (let sender = 0; sender < 10_000; sender += 1) {
      hear(lldpFrame({
        port: `port-${sender}`,
        from: `02:00:00:00:${(sender >> 8).toString(16).padStart(2, "0")}:${(sender & 255).toString(16).padStart(2, "0")}`,
      }));
    }
    await clock.advance(1000);
    expect(listener.count()).toBe(256);
    expect(events.length).toBeLessThanOrEqual(120);
    hear(lldpFrame({ name: "still-here" }));
    await clock.advance(120_000);
    expect(discovered().at(-1)).toBeDefined();
    expect(discovered().some(({ system_name, changed }) => system_name === "still-here" && changed?.length === 1)).toBe(true);
    await clock.advance(600_000);
    expect(listener.count()).toBe(0);
  });

  test.each(["lldp", "cdp"] as const)("a sender of ever new names by %s fills neither table nor queue nor log, and hides no news of the switch", async (by) => {
    hear(lldpFrame());
    await clock.advance(1000);
    let number = 0;
    const flood = () => {
      number += 1;
      const from = `06:00:${[24, 16, 8, 0].map((bits) => ((number >>> bits) & 255).toString(16).padStart(2, "0")).join(":")}`;
      const device = `fake-${number}`;
      return by === "lldp" ? lldpFrame({ from, chassis: from, name: device, ttlSeconds: 65_535 })
        : cdpFrame([{ kind: "device-id", text: device }, { kind: "port-id", text: "Gi0/1" }], { from, ttlSeconds: 255 });
    };
    let most = 0;
    for (let second = 0; second < 7200; second += 10) {
      hear(...Array.from({ length: 50 }, flood), lldpFrame({ name: second < 7000 ? "sw-store12" : "renamed" }));
      await clock.advance(10_000);
      most = Math.max(most, listener.count());
    }
    expect(most).toBeLessThanOrEqual(256);
    // 300 unknown neighbors an hour come, over three begun hours, and go; without a bound it was 120 events a minute.
    expect(news().length).toBeLessThanOrEqual(1802);
    expect(news().filter(({ data }) => JSON.stringify(data).includes(SWITCH))).toMatchObject([
      { type: "neighbor_discovered", data: { system_name: "sw-store12" } },
      { type: "neighbor_discovered", data: { system_name: "renamed", changed: ["system_name"] } },
    ]);
    expect(warnings.length).toBeGreaterThan(0);
    expect(warnings.length).toBeLessThanOrEqual(3);
  });

  test("many that keep changing are published ever more rarely", async () => {
    for (let second = 0; second < 4 * 3600; second += 20) {
      hear(...Array.from({ length: 30 }, (_, sender) => lldpFrame({ port: `port-${sender}`, name: `name-${second}` })));
      await clock.advance(20_000);
    }
    // Each after 1, 2, 4 … 60 minutes; it was once a minute.
    expect(news().length).toBeLessThanOrEqual(30 * 12);
  });

  test("a machine that slept takes nobody for gone", async () => {
    hear(lldpFrame());
    await clock.advance(1000);
    bus.close();
    const ticks = createFakeClock();
    // Its timers stood still for ten minutes.
    const time = { ...ticks, monotonic: () => clock.monotonic() };
    start(createNeighborListener({
      db, log: silentLog, interfaceName: "lan0", ownMac: () => OWN, outbox: { append: (list) => events.push(...list) },
      clock: time,
    }), time);
    await ticks.advance(500);
    await clock.advance(600_000);
    await ticks.advance(500);
    expect(types()).toEqual(["neighbor_discovered"]);
    await clock.advance(4000);
    await ticks.advance(500);
    expect(listener.count()).toBe(1);
  });

  test("a disk that takes nothing loses no news", async () => {
    isDiskFull = true;
    hear(lldpFrame());
    await clock.advance(10_000);
    isDiskFull = false;
    await clock.advance(1000);
    expect(types()).toEqual(["neighbor_discovered"]);
  });

  test("own frames and quiet traffic tell of nobody", async () => {
    hear(lldpFrame({ from: OWN }), arpFrame("192.168.1.5", "192.168.1.1", { from: HOST }));
    await clock.advance(60_000);
    expect([events, listener.count()]).toEqual([[], 0]);
  });
});
