import { afterEach, describe, expect, test } from "vitest";
import { arpFrame, createFakeLan, type FakeLan, type FakeLanOptions, OWN_MAC, SETTINGS } from "./testing/fake-lan.ts";

const open: FakeLan[] = [];

function lanWith(options?: FakeLanOptions): FakeLan {
  const lan = createFakeLan(options);
  open.push(lan);
  return lan;
}

afterEach(async () => {
  for (const lan of open.splice(0)) await lan.close();
});

const hostMac = (number: number) =>
  `00:11:22:33:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 255).toString(16).padStart(2, "0")}`;

describe("a sweep", () => {
  test("finds every host of a /24 in one pass of under two seconds, and tells each once with its state", async () => {
    const lan = lanWith({ vendorOf: () => "Acme" });
    for (let last = 10; last < 60; last += 1) lan.join(hostMac(last), [`192.168.1.${last}`]);
    lan.start();
    await lan.clock.advance(1);
    await lan.clock.advance(1500);
    expect(lan.discovery.counts()).toEqual({ online: 50, known: 50 });
    await lan.clock.advance(60_000);
    const found = lan.eventsOf("host_found");
    expect(found).toHaveLength(50);
    expect(new Set(found.map(({ ip }) => ip)).size).toBe(50);
    expect(found.find(({ ip }) => ip === "192.168.1.42")).toMatchObject({
      mac: hostMac(42),
      hostname: "",
      vendor: "Acme",
      addresses: ["192.168.1.42"],
    });
    expect(lan.events().filter(({ type }) => type !== "host_found" && type !== "presence_report")).toEqual([]);
  });

  test("asks three times for the silent, once for who answers, and never for itself, the network or the broadcast address", async () => {
    const lan = lanWith();
    lan.join(hostMac(7), ["192.168.1.7"]);
    lan.start();
    await lan.clock.advance(15_000);
    expect([lan.asked("192.168.1.7"), lan.asked("192.168.1.8"), lan.asked("192.168.1.254")]).toEqual([1, 3, 3]);
    expect([lan.asked("192.168.1.2"), lan.asked("192.168.1.0"), lan.asked("192.168.1.255")]).toEqual([0, 0, 0]);
  });

  test("stays within its rate, in any second", async () => {
    for (const packetsPerSecond of [200, 12]) {
      const lan = lanWith({ settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, packetsPerSecond } } });
      for (let last = 100; last < 200; last += 1) lan.join(hostMac(last), [`192.168.1.${last}`]);
      lan.start();
      await lan.clock.advance(90_000);
      const times = lan.sent.map(({ at }) => at);
      const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
      expect(most).toBeLessThanOrEqual(packetsPerSecond + 2);
      expect(times.length).toBeGreaterThan(250);
    }
  });

  test("finds a host that answers after three seconds, and one that loses two questions of three", async () => {
    const lan = lanWith();
    let question = 0;
    lan.join(hostMac(1), ["192.168.1.50"], () => 3000);
    lan.join(hostMac(2), ["192.168.1.51"], () => ((question += 1) % 3 === 0 ? 5 : null));
    lan.start();
    await lan.clock.advance(20_000);
    expect(
      lan
        .eventsOf("host_found")
        .map(({ ip }) => ip)
        .toSorted(),
    ).toEqual(["192.168.1.50", "192.168.1.51"]);
  });

  test("goes in another order than that of the addresses", async () => {
    const lan = lanWith();
    lan.start();
    await lan.clock.advance(1300);
    const targets = lan.sent.map(({ bytes }) => bytes[41] as number);
    expect(targets.slice(0, 50)).not.toEqual(targets.slice(0, 50).toSorted((a, b) => a - b));
  });

  test("never sends a frame to an excluded address, of the settings or of the collector, by sweep or by check", async () => {
    const lan = lanWith({ settings: { ...SETTINGS, excluded: ["192.168.1.64/26"] } });
    lan.join(hostMac(70), ["192.168.1.70"]);
    lan.join(hostMac(20), ["192.168.1.20"]);
    expect(
      lan.discovery.configure({ sweep: { enabled: true, interval_seconds: 60, packets_per_second: 1000 }, excluded: ["192.168.1.20"] }),
    ).toBeNull();
    lan.start();
    lan.deliver(
      arpFrame({ op: "request", from: hostMac(70), spa: "192.168.1.70", tpa: "192.168.1.1" }),
      arpFrame({ op: "request", from: hostMac(20), spa: "192.168.1.20", tpa: "192.168.1.1" }),
    );
    await lan.clock.advance(400_000);
    for (let last = 64; last < 128; last += 1) expect(lan.asked(`192.168.1.${last}`)).toBe(0);
    expect(lan.asked("192.168.1.20")).toBe(0);
    expect(lan.asked("192.168.1.21")).toBeGreaterThan(3);
    expect(lan.eventsOf("host_found")).toHaveLength(2);
    expect(lan.eventsOf("host_offline")).toEqual([]);
  });

  test("refuses a subnet larger than a /16, says so once, and still hears its hosts", async () => {
    const lan = lanWith({ addresses: ["10.0.0.2/8"] });
    lan.start();
    lan.deliver(arpFrame({ op: "request", from: hostMac(9), spa: "10.200.0.9", tpa: "10.0.0.1" }));
    await lan.clock.advance(700_000);
    expect(lan.eventsOf("error")).toEqual([{ code: "subnet-not-swept", message: expect.stringContaining("10.0.0.0/8") }]);
    expect(await lan.discovery.sweepNow()).toMatchObject({
      outcome: "refused",
      packetsSent: 0,
      reasons: [expect.stringContaining("10.0.0.0/8")],
    });
    expect(lan.eventsOf("host_found").map(({ ip }) => ip)).toEqual(["10.200.0.9"]);
  });

  test("that is asked for tells what it did, and joins the one in progress", async () => {
    const lan = lanWith({ addresses: ["10.0.0.1/29"] });
    lan.join(hostMac(3), ["10.0.0.3"]);
    lan.start();
    await lan.clock.advance(20_000);
    lan.join(hostMac(4), ["10.0.0.4"]);
    const both = Promise.all([lan.discovery.sweepNow(), lan.discovery.sweepNow()]);
    await lan.clock.advance(20_000);
    const [first, second] = await both;
    expect(second).toBe(first);
    expect(first).toMatchObject({ outcome: "completed", networks: ["10.0.0.0/29"], addresses: 6, answered: 2, newHosts: 1, reasons: [] });
    expect(first.packetsSent).toBe(5 + 3 + 3);
  });

  test("is aborted when the interface goes down, and made again when it comes back", async () => {
    const lan = lanWith();
    lan.start();
    await lan.clock.advance(500);
    const { facts } = lan;
    const asked = lan.discovery.sweepNow();
    lan.facts = { ...(facts as NonNullable<typeof facts>), up: false };
    await lan.clock.advance(1000);
    expect((await asked).outcome).toBe("aborted");
    const { length } = lan.sent;
    await lan.clock.advance(60_000);
    expect(lan.sent.length).toBe(length);
    expect((await lan.discovery.sweepNow()).outcome).toBe("refused");
    lan.join(hostMac(5), ["192.168.1.5"]);
    lan.facts = facts;
    await lan.clock.advance(10_000);
    expect(lan.eventsOf("host_found")).toHaveLength(1);
  });

  test("is repeated on schedule, less often and slower when the collector says so, and not when it is switched off", async () => {
    const lan = lanWith({ addresses: ["10.0.0.1/29"] });
    const sweep = { enabled: true, interval_seconds: 600, packets_per_second: 12 };
    expect(lan.discovery.configure({ sweep, excluded: ["not an address"] })).toContain("not an address");
    expect(lan.discovery.configure({ sweep, excluded: [] })).toBeNull();
    lan.start();
    await lan.clock.advance(590_000);
    expect(lan.asked("10.0.0.2")).toBe(3);
    await lan.clock.advance(20_000);
    expect(lan.asked("10.0.0.2")).toBe(6);
    lan.discovery.configure({ sweep: { ...sweep, enabled: false }, excluded: [] });
    await lan.clock.advance(3_000_000);
    expect(lan.asked("10.0.0.2")).toBe(6);
    expect((await lan.discovery.sweepNow()).reasons).toEqual(["sweeping is switched off"]);
    lan.discovery.configure(null);
    await lan.clock.advance(20_000);
    expect(lan.asked("10.0.0.2")).toBe(9);
  });
});

test("the probe's own frames make no host", async () => {
  const lan = lanWith();
  lan.start();
  lan.deliver(arpFrame({ op: "request", from: OWN_MAC, spa: "192.168.1.2", tpa: "192.168.1.1" }));
  await lan.clock.advance(10_000);
  expect(lan.events()).toEqual([]);
});
