import type { CommandData } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import type { LinkFacts } from "../capture/link.ts";
import { createFakeLan, type FakeLan, type FakeLanOptions, SETTINGS } from "../discover/testing/fake-lan.ts";

const open: FakeLan[] = [];
afterEach(async () => {
  for (const lan of open.splice(0)) await lan.close();
});

/** A link whose own sweeps have ended, so that what is sent next is the scan's. */
async function quietLan(options: FakeLanOptions = {}, hosts: readonly number[] = []): Promise<FakeLan> {
  const sweep = { ...SETTINGS.sweep, intervalSeconds: 86_400 };
  const lan = createFakeLan({
    ...options, settings: { ...SETTINGS, ...options.settings, sweep: { ...sweep, ...options.settings?.sweep } },
  });
  open.push(lan);
  for (const host of hosts) lan.join(macOf(host), [`192.168.1.${host}`]);
  lan.start();
  await lan.clock.advance(60_000);
  lan.sent.length = 0;
  return lan;
}

const macOf = (last: number) => `00:11:22:33:44:${last.toString(16).padStart(2, "0")}`;
const order = (values: Partial<CommandData<"scan_start">> = {}): CommandData<"scan_start"> =>
  ({ scan_id: createId(), target: "192.168.1.0/24", profile: "discovery", excluded: [], ...values });
const scanEvents = (lan: FakeLan) => lan.events().filter(({ type }) => type.startsWith("scan_"));
const asked = (lan: FakeLan) => lan.sent.filter(({ bytes }) => bytes[12] === 8 && bytes[13] === 6).map(({ bytes }) => bytes[41]);

describe("a scan", () => {
  test("asks its target, tells who answered, how far it is, and that it is complete", async () => {
    const lan = await quietLan({}, [10, 20]);
    const scan = order();
    expect(lan.discovery.scans.start(scan)).toEqual({ hostsTotal: 254 });
    await lan.clock.advance(60_000);
    const events = scanEvents(lan);
    const head = { scan_id: scan.scan_id, target: scan.target, profile: scan.profile };
    expect(events[0]).toMatchObject({ type: "scan_started", data: { ...head, hosts_total: 254, ports: { tcp: "", udp: "" } } });
    expect(events.at(-1)).toMatchObject({ type: "scan_complete", data: { ...head, hosts_total: 254, hosts_up: 2, ports_open: 0 } });
    const hosts = lan.eventsOf("scan_results").flatMap((data) => data.hosts);
    expect(hosts.toSorted((a, b) => a.ip.localeCompare(b.ip))).toEqual([
      { ip: "192.168.1.10", mac: macOf(10) }, { ip: "192.168.1.20", mac: macOf(20) },
    ]);
    const progress = lan.eventsOf("scan_progress").map((data) => data.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect([progress.length > 2, progress.length <= 50, Math.max(...progress) < 1]).toEqual([true, true, true]);
    expect([lan.asked("192.168.1.10"), lan.asked("192.168.1.11"), lan.asked("192.168.1.2")].map(Boolean)).toEqual([true, true, false]);
  });

  test("of a part asks that part alone, and nobody by IPv6", async () => {
    const lan = await quietLan({ addresses: ["192.168.1.2/24", "fe80::1/64"] });
    expect(lan.discovery.scans.start(order({ target: "192.168.1.64/26" }))).toEqual({ hostsTotal: 64 });
    await lan.clock.advance(20_000);
    expect(new Set(asked(lan))).toEqual(new Set(Array.from({ length: 64 }, (_, index) => 64 + index)));
    expect(lan.sent.every(({ bytes }) => bytes[12] === 8 && bytes[13] === 6)).toBe(true);
  });

  test("that thousands answer at once tells each of them once before its end, and enters them all", async () => {
    const sweep = { ...SETTINGS.sweep, packetsPerSecond: 50_000 };
    const lan = await quietLan({ addresses: ["10.9.0.1/16"], settings: { ...SETTINGS, sweep } });
    lan.discovery.configure({ sweep: { enabled: false, interval_seconds: 86_400, packets_per_second: 50_000 }, excluded: [] });
    const addresses = Array.from({ length: 3000 }, (_, index) => `10.9.${32 + (index >> 8)}.${index & 255}`);
    for (const [index, address] of addresses.entries()) {
      lan.join(`00:11:22:44:${[index >> 8, index & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`, [address]);
    }
    lan.discovery.scans.start(order({ target: "10.9.32.0/20" }));
    await lan.clock.advance(30_000);
    const events = scanEvents(lan);
    expect(events.at(-1)).toMatchObject({ type: "scan_complete", data: { hosts_up: 3000 } });
    const published = lan.eventsOf("scan_results").flatMap((data) => data.hosts.map(({ ip }) => ip));
    expect(published.toSorted()).toEqual(addresses.toSorted());
    expect(lan.discovery.counts()).toEqual({ online: 3000, known: 3000 });
  });

  test("counts an answer that comes three seconds after the last question", async () => {
    const lan = await quietLan();
    lan.join(macOf(7), ["192.168.1.7"], () => 2900);
    lan.discovery.scans.start(order({ target: "192.168.1.7/32" }));
    await lan.clock.advance(20_000);
    expect(lan.eventsOf("scan_complete")).toMatchObject([{ hosts_total: 1, hosts_up: 1 }]);
  });

  test("that is gentle holds everything that is sent below 15 a second, and lets go when it ends", async () => {
    const lan = await quietLan({}, [10, 11, 12]);
    lan.discovery.scans.start(order({ profile: "gentle" }));
    await lan.clock.advance(1000);
    void lan.discovery.sweepNow();
    await lan.clock.advance(40_000);
    const most = () => Math.max(...lan.sent.map(({ at: from }) => lan.sent.filter(({ at }) => at >= from && at < from + 1000).length));
    expect([most() <= 14, lan.sent.length > 400]).toEqual([true, true]);
    await lan.clock.advance(300_000);
    expect(lan.eventsOf("scan_complete")).toHaveLength(1);
    lan.sent.length = 0;
    void lan.discovery.sweepNow();
    await lan.clock.advance(1000);
    expect(lan.sent.length).toBeGreaterThan(50);
    await lan.clock.advance(20_000);
  });

  test("never asks an excluded address, whoever excludes it, nor counts it", async () => {
    const lan = await quietLan({ settings: { ...SETTINGS, excluded: ["192.168.1.20"] } }, [20, 21, 22]);
    lan.discovery.configure({ sweep: { enabled: true, interval_seconds: 86_400, packets_per_second: 200 }, excluded: ["192.168.1.21"] });
    lan.discovery.scans.start(order({ excluded: ["192.168.1.22/31"] }));
    await lan.clock.advance(20_000);
    expect(asked(lan).filter((last) => [20, 21, 22, 23].includes(last ?? 0))).toEqual([]);
    expect(lan.eventsOf("scan_complete")).toMatchObject([{ hosts_up: 0 }]);
  });

  test("is made although sweeps by schedule are switched off at the site", async () => {
    const lan = await quietLan({}, [9]);
    lan.discovery.configure({ sweep: { enabled: false, interval_seconds: 300, packets_per_second: 200 }, excluded: [] });
    lan.discovery.scans.start(order());
    await lan.clock.advance(20_000);
    expect(lan.eventsOf("scan_complete")).toMatchObject([{ hosts_up: 1 }]);
  });
});

describe("a scan that ends early", () => {
  test("because it is cancelled sends nothing within a second, and tells what it found", async () => {
    const lan = await quietLan({}, [10]);
    const scan = order({ profile: "gentle" });
    lan.discovery.scans.start(scan);
    await lan.clock.advance(5000);
    let running: boolean | null = null;
    void lan.discovery.scans.cancel(scan.scan_id).then((value) => (running = value));
    await lan.clock.advance(1000);
    expect(running).toBe(true);
    const { length } = lan.sent;
    await lan.clock.advance(10_000);
    expect(lan.sent.length).toBe(length);
    expect(scanEvents(lan).at(-1)).toMatchObject({ type: "scan_cancelled", data: { scan_id: scan.scan_id, hosts_total: 254 } });
    expect(await lan.discovery.scans.cancel(scan.scan_id)).toBe(false);
  });

  test("because the interface goes down or moves to another network fails; another address beside its own does nothing", async () => {
    const lan = await quietLan();
    lan.discovery.scans.start(order({ profile: "gentle" }));
    await lan.clock.advance(2000);
    const before = lan.facts as LinkFacts;
    lan.facts = { ...before, addresses: [...before.addresses, { ip: "2001:db8::5", prefixLength: 64 }] };
    await lan.clock.advance(2000);
    expect(scanEvents(lan).at(-1)?.type).toBe("scan_progress");
    lan.facts = { ...lan.facts, addresses: [{ ip: "10.0.0.2", prefixLength: 24 }] };
    await lan.clock.advance(2000);
    expect(lan.eventsOf("scan_failed")).toMatchObject([{ reason: "the interface went down or changed its addresses" }]);
  });

  test("because nothing can be sent fails with what the interface says", async () => {
    const lan = await quietLan();
    lan.discovery.scans.start(order());
    lan.failure = new Error("network is down");
    await lan.clock.advance(3000);
    expect(lan.eventsOf("scan_failed")).toMatchObject([{ reason: "network is down" }]);
  });

  test("because the probe stops fails, once; because it was killed, when it starts again", async () => {
    const lan = await quietLan();
    const [first, second] = [order({ profile: "gentle" }), order({ profile: "gentle" })];
    lan.discovery.scans.start(first);
    await lan.clock.advance(1000);
    await lan.restart("closed");
    expect(lan.eventsOf("scan_failed")).toMatchObject([{ scan_id: first.scan_id, reason: "the probe was stopped" }]);
    lan.discovery.scans.start(second);
    await lan.clock.advance(1000);
    await lan.restart("killed");
    expect(lan.eventsOf("scan_failed")).toMatchObject([
      {}, { scan_id: second.scan_id, target: second.target, reason: "the probe was restarted" },
    ]);
    await lan.restart("killed");
    expect(lan.eventsOf("scan_failed")).toHaveLength(2);
  });
});

describe("a scan is refused", () => {
  test.each([
    ["outside the own subnets", order({ target: "192.168.2.0/24" }), {}],
    ["that reaches beyond the own subnet", order({ target: "192.168.0.0/23" }), {}],
    ["of IPv6", order({ target: "fe80::/120" }), {}],
    ["of what is not a network", order({ target: "store 12" }), {}],
    ["of nobody but the probe itself", order({ target: "192.168.1.2/32" }), { addresses: ["192.168.1.2/32"] }],
    ["larger than a /16", order({ target: "10.0.0.0/8" }), { addresses: ["10.0.0.2/8"] }],
    ["with nmap", order({ profile: "deep" }), {}],
    ["with a profile that nobody knows", order({ profile: "constructor" }), {}],
    ["with an exclusion that cannot be read", order({ excluded: ["the printer"] }), {}],
    ["where the probe's own file forbids it", order(), { settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, enabled: false } } }],
    [
      "outside the networks of the probe's own file", order(),
      { settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, networks: ["192.168.1.0/25"] } } },
    ],
  ])("%s, and nothing is published or sent", async (_, scan, options) => {
    const lan = await quietLan(options);
    expect(lan.discovery.scans.start(scan)).toEqual({ refused: expect.stringMatching(/\w/) });
    await lan.clock.advance(2000);
    expect([scanEvents(lan), lan.sent.length]).toEqual([[], 0]);
  });

  test("while the interface is down, while it is under way, and when four are", async () => {
    const lan = await quietLan();
    const scan = order({ profile: "gentle" });
    lan.discovery.scans.start(scan);
    expect(lan.discovery.scans.start(scan)).toHaveProperty("refused");
    for (let more = 0; more < 3; more += 1) expect(lan.discovery.scans.start(order())).toHaveProperty("hostsTotal");
    expect(lan.discovery.scans.start(order())).toHaveProperty("refused");
    lan.facts = { ...(lan.facts as LinkFacts), up: false };
    await lan.clock.advance(2000);
    expect(lan.discovery.scans.start(order())).toEqual({ refused: "the interface is down" });
    expect(lan.eventsOf("scan_failed")).toHaveLength(4);
  });

  test("not for an interface that has come up since the last look at it", async () => {
    const lan = await quietLan();
    const up = lan.facts as LinkFacts;
    lan.facts = null;
    await lan.clock.advance(2000);
    expect(lan.discovery.scans.start(order())).toHaveProperty("refused");
    lan.facts = up;
    expect(lan.discovery.scans.start(order())).toHaveProperty("hostsTotal");
  });
});
