import { seededRandom } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { arpFrame, createFakeLan, type FakeLan, type FakeLanOptions, SETTINGS } from "./testing/fake-lan.ts";
import { routerSolicitationFrame } from "./testing/frames.ts";

const open: FakeLan[] = [];

function lanWith(options?: FakeLanOptions): FakeLan {
  const lan = createFakeLan(options);
  open.push(lan);
  return lan;
}

/** A network with a router and a laptop, which the probe has watched for so long. */
async function watched(ms: number): Promise<{ readonly lan: FakeLan; readonly laptop: ReturnType<FakeLan["join"]> }> {
  const lan = lanWith();
  lan.join(ROUTER, ["192.168.1.1"]);
  const laptop = lan.join(LAPTOP, ["192.168.1.20"]);
  lan.start();
  await lan.clock.advance(ms);
  return { lan, laptop };
}

afterEach(async () => {
  for (const lan of open.splice(0)) await lan.close();
});

const ROUTER = "00:11:22:00:00:01";
const LAPTOP = "00:11:22:00:00:02";
const PHONE = "00:11:22:00:00:03";
const NOBODY = () => null;
const MINUTE_MS = 60_000;

describe("presence", () => {
  test("of a host that leaves ends after two minutes and within three, with at least three missed checks, and once", async () => {
    const { lan, laptop } = await watched(10 * MINUTE_MS);
    laptop.answer = NOBODY;
    const leftAt = lan.clock.now();
    await lan.clock.advance(20 * MINUTE_MS);
    const offline = lan.events().filter(({ type }) => type === "host_offline");
    expect(offline).toHaveLength(1);
    expect(offline[0]?.data).toMatchObject({ ip: "192.168.1.20", mac: LAPTOP });
    const { missed_checks = 0, last_seen_at = "" } = lan.eventsOf("host_offline")[0] ?? {};
    expect(missed_checks).toBeGreaterThanOrEqual(3);
    const silentMs = Date.parse(offline[0]?.occurred_at ?? "") - Date.parse(last_seen_at);
    expect(silentMs).toBeGreaterThanOrEqual(2 * MINUTE_MS);
    expect(silentMs).toBeLessThan(3 * MINUTE_MS);
    expect(Date.parse(last_seen_at)).toBeLessThanOrEqual(leftAt);
    expect(lan.discovery.counts()).toEqual({ online: 1, known: 2 });
  });

  test("of a host that comes back begins with its first frame", async () => {
    const { lan, laptop } = await watched(5 * MINUTE_MS);
    laptop.answer = NOBODY;
    await lan.clock.advance(10 * MINUTE_MS);
    laptop.answer = () => 1;
    lan.deliver(arpFrame({ op: "request", from: LAPTOP, spa: "192.168.1.20", tpa: "192.168.1.1" }));
    await lan.clock.advance(200);
    expect(lan.eventsOf("host_online")).toEqual([{ ip: "192.168.1.20", mac: LAPTOP, last_seen_at: expect.any(String) }]);
    await lan.clock.advance(10 * MINUTE_MS);
    const published = lan.events().map(({ type }) => type).filter((type) => type.startsWith("host_"));
    expect(published).toEqual(["host_found", "host_found", "host_offline", "host_online"]);
  });

  test("is kept by sleeping phones that answer one check in three, all hundred of them, for four hours", async () => {
    const lan = lanWith();
    const random = seededRandom(1);
    lan.join(ROUTER, ["192.168.1.1"]);
    const answer = () => (random(3) === 0 ? 200 + random(2500) : null);
    for (let phone = 0; phone < 100; phone += 1) {
      lan.join(`00:11:22:00:01:${(phone + 16).toString(16)}`, [`192.168.1.${phone + 20}`], answer);
    }
    lan.start();
    await lan.clock.advance(240 * MINUTE_MS);
    expect(lan.eventsOf("host_found")).toHaveLength(101);
    expect(lan.eventsOf("host_offline")).toEqual([]);
  });

  test("does not end while the own interface is down, however long", async () => {
    const { lan } = await watched(MINUTE_MS);
    const { facts } = lan;
    for (const host of lan.hosts.values()) host.answer = NOBODY;
    lan.facts = null;
    await lan.clock.advance(60 * MINUTE_MS);
    for (const host of lan.hosts.values()) host.answer = () => 1;
    lan.facts = facts;
    await lan.clock.advance(10 * MINUTE_MS);
    expect(lan.eventsOf("host_offline")).toEqual([]);
  });

  test("does not end for all at once when the link goes dead behind the switch, until that has lasted ten minutes", async () => {
    const lan = lanWith();
    lan.join(ROUTER, ["192.168.1.1"]);
    lan.join(LAPTOP, ["192.168.1.20"]);
    lan.join(PHONE, ["192.168.1.21"]);
    lan.start();
    await lan.clock.advance(5 * MINUTE_MS);
    for (const host of lan.hosts.values()) host.answer = NOBODY;
    await lan.clock.advance(8 * MINUTE_MS);
    expect(lan.eventsOf("host_offline")).toEqual([]);
    await lan.clock.advance(10 * MINUTE_MS);
    expect(lan.eventsOf("host_offline")).toHaveLength(3);
  });

  test("does not end while the interface takes no frames", async () => {
    const lan = lanWith();
    lan.join(ROUTER, ["192.168.1.1"]);
    lan.join(LAPTOP, ["192.168.1.20"], () => 1);
    lan.start();
    await lan.clock.advance(MINUTE_MS);
    lan.failure = new Error("no buffer space");
    await lan.clock.advance(30 * MINUTE_MS);
    expect(lan.eventsOf("host_offline")).toEqual([]);
  });

  test("does not end for what was silent while the process was stopped", async () => {
    const { lan, laptop } = await watched(5 * MINUTE_MS);
    laptop.answer = NOBODY;
    await lan.clock.advance(100_000);
    lan.clock.jump(8 * 3_600_000);
    const wokeAt = lan.clock.now();
    await lan.clock.advance(5 * MINUTE_MS);
    const offline = lan.events().find(({ type }) => type === "host_offline");
    expect(Date.parse(offline?.occurred_at ?? "")).toBeGreaterThanOrEqual(wokeAt + 2 * MINUTE_MS);
  });

  test("of a host with IPv6 alone is kept by Neighbor Discovery, and ends with it", async () => {
    const lan = lanWith({ addresses: ["192.168.1.2/24", "fe80::1/64"] });
    lan.join(ROUTER, ["192.168.1.1"]);
    const sensor = lan.join(PHONE, ["fe80::33"]);
    lan.start();
    lan.deliver(routerSolicitationFrame(PHONE, "fe80::33"));
    await lan.clock.advance(30 * MINUTE_MS);
    expect(lan.eventsOf("host_found").map(({ ip }) => ip).toSorted()).toEqual(["192.168.1.1", "fe80::33"]);
    expect(lan.eventsOf("host_offline")).toEqual([]);
    sensor.answer = NOBODY;
    await lan.clock.advance(4 * MINUTE_MS);
    expect(lan.eventsOf("host_offline").map(({ ip }) => ip)).toEqual(["fe80::33"]);
  });

  test("of the only host ends too", async () => {
    const lan = lanWith();
    const router = lan.join(ROUTER, ["192.168.1.1"]);
    lan.start();
    await lan.clock.advance(5 * MINUTE_MS);
    router.answer = NOBODY;
    await lan.clock.advance(4 * MINUTE_MS);
    expect(lan.eventsOf("host_offline")).toHaveLength(1);
  });

  test("survives a restart: nobody is announced again, and only who really left goes offline, two minutes later", async () => {
    for (const how of ["closed", "killed"] as const) {
      const { lan, laptop } = await watched(5 * MINUTE_MS);
      laptop.answer = NOBODY;
      await lan.restart(how);
      const startedAt = lan.clock.now();
      expect(lan.discovery.counts()).toEqual({ online: 2, known: 2 });
      await lan.clock.advance(10 * MINUTE_MS);
      expect(lan.eventsOf("host_found")).toHaveLength(2);
      const offline = lan.events().filter(({ type }) => type === "host_offline");
      expect(offline.map(({ data }) => (data as { mac: string }).mac)).toEqual([LAPTOP]);
      expect(Date.parse(offline[0]?.occurred_at ?? "") - startedAt).toBeGreaterThanOrEqual(2 * MINUTE_MS);
    }
  });
});

describe("a presence report", () => {
  test("comes each minute with who was seen since the last one", async () => {
    const lan = lanWith();
    lan.join(ROUTER, ["192.168.1.1"]);
    lan.start();
    await lan.clock.advance(10 * MINUTE_MS);
    const reports = lan.eventsOf("presence_report");
    expect(reports.length).toBeGreaterThanOrEqual(9);
    expect(reports[0]?.hosts).toEqual([{ ip: "192.168.1.1", mac: ROUTER, presence_state: "online", last_seen_at: expect.any(String) }]);
  });

  test("comes within seconds of a restart with who shows himself, without waiting for the minute", async () => {
    const lan = lanWith();
    lan.join(ROUTER, ["192.168.1.1"]);
    lan.start();
    await lan.clock.advance(10_000);
    await lan.restart("closed");
    await lan.clock.advance(8000);
    expect(lan.eventsOf("presence_report").map(({ hosts }) => hosts.map(({ mac }) => mac))).toEqual([[ROUTER]]);
  });

  test("of all tells who is there, and who was looked for in vain since the start, but nothing unknown", async () => {
    const { lan, laptop } = await watched(5 * MINUTE_MS);
    laptop.answer = NOBODY;
    await lan.clock.advance(5 * MINUTE_MS);
    await lan.restart("closed");
    await lan.clock.advance(10_000);
    lan.discovery.reportAll();
    const reported = () => lan.eventsOf("presence_report").at(-1)?.hosts.map(({ mac, presence_state: state }) => [mac, state]).toSorted();
    expect(reported()).toEqual([[ROUTER, "online"]]);
    await lan.clock.advance(5 * MINUTE_MS);
    lan.discovery.reportAll();
    expect(reported()).toEqual([[ROUTER, "online"], [LAPTOP, "offline"]]);
    expect(lan.eventsOf("host_offline")).toHaveLength(1);
  });

  test("holds at most 500 hosts", async () => {
    const lan = lanWith({ addresses: ["10.0.0.2/21"], settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, packetsPerSecond: 2000 } } });
    const hex = (byte: number) => byte.toString(16).padStart(2, "0");
    for (let host = 0; host < 1200; host += 1) {
      const [high, low] = [host >> 8, host & 255];
      lan.join(`00:11:33:00:${hex(high)}:${hex(low)}`, [`10.0.${1 + high}.${low}`]);
    }
    lan.start();
    await lan.clock.advance(30_000);
    lan.discovery.reportAll();
    expect(lan.eventsOf("presence_report").map(({ hosts }) => hosts.length)).toEqual([500, 500, 200]);
  });
});

describe("addresses", () => {
  test("of a host that moved are the new one, once the old one has stopped answering for two minutes", async () => {
    const { lan, laptop } = await watched(5 * MINUTE_MS);
    laptop.ips = ["192.168.1.30"];
    const movedAt = lan.clock.now();
    lan.deliver(arpFrame({ op: "request", from: LAPTOP, spa: "192.168.1.30", tpa: "192.168.1.1" }));
    await lan.clock.advance(10 * MINUTE_MS);
    const changes = lan.events().filter(({ type }) => type === "host_changed");
    expect(changes.map(({ data }) => data)).toMatchObject([
      { ip: "192.168.1.20", addresses: ["192.168.1.20", "192.168.1.30"], changed: ["addresses"] },
      { ip: "192.168.1.30", addresses: ["192.168.1.30"], changed: ["ip", "addresses"] },
    ]);
    const aloneMs = Date.parse(changes[1]?.occurred_at ?? "") - movedAt;
    expect(aloneMs).toBeGreaterThan(MINUTE_MS);
    expect(aloneMs).toBeLessThan(5 * MINUTE_MS);
    expect(lan.eventsOf("host_offline")).toEqual([]);
  });

  test("that all answer stay, and the lowest IPv4 is the host's", async () => {
    const lan = lanWith();
    lan.join(ROUTER, ["192.168.1.10", "192.168.1.9", "192.168.1.100"]);
    lan.join(LAPTOP, ["192.168.1.20"]);
    lan.start();
    await lan.clock.advance(60 * MINUTE_MS);
    expect(lan.eventsOf("host_found").find(({ mac }) => mac === ROUTER)).toMatchObject({
      ip: "192.168.1.9",
      addresses: ["192.168.1.9", "192.168.1.10", "192.168.1.100"],
    });
    expect(lan.eventsOf("host_changed")).toEqual([]);
  });

  test("of one MAC that answers for a whole network are at most 256", async () => {
    const lan = lanWith({ addresses: ["10.0.0.2/22"], settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, packetsPerSecond: 1000 } } });
    lan.join(ROUTER, Array.from({ length: 1000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`));
    lan.start();
    await lan.clock.advance(2 * MINUTE_MS);
    const states = [...lan.eventsOf("host_found"), ...lan.eventsOf("host_changed")];
    expect(Math.max(...states.map(({ addresses }) => addresses.length))).toBe(256);
    expect(states.length).toBeLessThan(10);
  });
});
