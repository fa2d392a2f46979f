import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { arpFrame, createFakeLan, type FakeLan, OWN_MAC, SETTINGS } from "./testing/fake-lan.ts";
import { dhcpFrame, mdnsFrame, routerSolicitationFrame } from "./testing/frames.ts";

const MIB = 1024 * 1024;
const MAX_HOSTS = 300;
const QUEUE_BYTES = MIB;
const FRAMES_OF_A_KIND = 20;
/** As the table has it. */
const MAX_ADDRESSES = MAX_HOSTS * 4 + 4096;
const KNOWN = Array.from({ length: 20 }, (_, index) => ({
  mac: `00:11:22:00:00:${(index + 1).toString(16).padStart(2, "0")}`, ip: `192.168.1.${index + 10}`,
}));
const KNOWN_MACS: ReadonlySet<string> = new Set(KNOWN.map(({ mac }) => mac));

/** Scattered, as made-up MACs are. */
const madeUp = (number: number) => {
  const mixed = Math.imul(number + 1, 0x9e37_79b1) >>> 0;
  return `06:${[24, 16, 8, 0].map((bits) => ((mixed >>> bits) & 255).toString(16).padStart(2, "0")).join(":")}:01`;
};
const ipOf = (number: number) => `192.168.1.${40 + (number % 200)}`;

let collectGarbage = () => {};
beforeAll(() => {
  setFlagsFromString("--expose-gc");
  collectGarbage = runInNewContext("gc") as () => void;
});
let lan: FakeLan;
afterEach(() => lan.close());

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** A link with twenty hosts that were found before anything happens, on a probe that reaches no collector. */
async function knownLan(): Promise<void> {
  lan = createFakeLan({ settings: { ...SETTINGS, maxHosts: MAX_HOSTS }, queueBytes: QUEUE_BYTES });
  for (const { mac, ip } of KNOWN) lan.join(mac, [ip]);
  lan.start();
  await lan.clock.advance(30_000);
  expect(lan.discovery.counts()).toEqual({ online: KNOWN.length, known: KNOWN.length });
}

/** One second of everything that a hostile host can make up. */
function floodOnce(second: number): void {
  for (let one = 0; one < FRAMES_OF_A_KIND; one += 1) {
    const number = second * FRAMES_OF_A_KIND + one;
    const mac = madeUp(number);
    const [first, other] = [ipOf(number), ipOf(number * 7)] as const;
    const victim = KNOWN[number % KNOWN.length] as (typeof KNOWN)[number];
    lan.deliver(
      arpFrame({ op: "reply", from: mac, spa: first, tpa: "192.168.1.2", to: OWN_MAC }),
      arpFrame({ op: "request", from: mac, spa: other, tpa: "192.168.1.1" }),
      dhcpFrame("request", madeUp(number + 1_000_000), `name-${number}`, first),
      routerSolicitationFrame(madeUp(number + 2_000_000), `fe80::${(number & 0xffff).toString(16)}:1`),
      mdnsFrame(mac, other, `name-${number}.local`),
      // In the name of who is there, and at his address.
      arpFrame({ op: "request", from: mac, spa: victim.ip, tpa: "192.168.1.1" }),
      arpFrame({ op: "request", from: victim.mac, spa: ipOf(number * 3), tpa: "192.168.1.1" }),
    );
  }
}

async function flood(from: number, to: number): Promise<void> {
  for (let second = from; second < to; second += 1) {
    floodOnce(second);
    // The lan keeps what was sent; the probe does not.
    lan.sent.length = 0;
    await lan.clock.advance(1000);
  }
}

const knownThatLeft = () => lan.eventsOf("host_offline").filter(({ mac }) => KNOWN_MACS.has(mac));

describe("a host that floods the link with made-up ones", () => {
  test("fills neither memory nor tables nor queue, and those known before stay, are asked and are reported", async () => {
    await knownLan();
    await flood(0, 120);
    const before = heapBytes();
    await flood(120, 240);
    // A table that grew with each frame would be ten times as much.
    expect((heapBytes() - before) / MIB).toBeLessThan(8);
    expect(lan.discovery.counts().known).toBe(MAX_HOSTS);
    expect(lan.rowsOf("hosts")).toBeLessThanOrEqual(MAX_HOSTS);
    expect(lan.rowsOf("host_addresses")).toBeLessThanOrEqual(MAX_ADDRESSES);
    const queued = lan.queue?.state();
    expect(queued?.events).toBe(lan.rowsOf("outbox"));
    expect(queued?.bytes).toBeLessThanOrEqual(QUEUE_BYTES);
    expect(queued?.dropped).toBeGreaterThan(0);

    expect(knownThatLeft()).toEqual([]);
    lan.sent.length = 0;
    const eventsBefore = lan.events().length;
    for (let second = 240; second < 300; second += 1) {
      floodOnce(second);
      await lan.clock.advance(1000);
    }
    for (const { ip } of KNOWN) expect([ip, lan.asked(ip) > 0]).toEqual([ip, true]);
    const reported = lan.events().slice(eventsBefore).flatMap((event) => (event.type === "presence_report" ? event.data.hosts : []));
    const online = new Set(reported.filter((host) => host.presence_state === "online").map(({ mac }) => mac));
    expect(KNOWN.filter(({ mac }) => !online.has(mac))).toEqual([]);
  });

  test.each([[300, 12], [65_536, 200]])("delays no word of a known host that leaves, of %d hosts at %d frames a second", async (maxHosts, packetsPerSecond) => {
    lan = createFakeLan({ settings: { ...SETTINGS, maxHosts, sweep: { ...SETTINGS.sweep, packetsPerSecond } } });
    for (const { mac, ip } of KNOWN) lan.join(mac, [ip]);
    lan.start();
    await lan.clock.advance(300_000);
    const say = (second: number) => {
      for (let number = second * 20; number < second * 20 + 20; number += 1) {
        const mac = madeUp(number);
        lan.deliver(
          arpFrame({ op: "reply", from: mac, spa: ipOf(number), tpa: "192.168.1.2", to: OWN_MAC }),
          dhcpFrame("request", madeUp(number + 1_000_000), `name-${number}`, ipOf(number)),
          mdnsFrame(mac, ipOf(number * 7), `name-${number}.local`),
        );
      }
    };
    const flooded = async (from: number, to: number) => {
      for (let second = from; second < to; second += 1) {
        say(second);
        await lan.clock.advance(1000);
      }
    };
    await flooded(0, 120);
    const [gone] = KNOWN;
    lan.hosts.delete(gone?.mac ?? "");
    await flooded(120, 300);
    // At 12 frames a second it took more than ten minutes when all were asked in turn.
    expect(knownThatLeft().map(({ mac }) => mac)).toEqual([gone?.mac]);
  });

  test("that answers pushes out nobody of the inventory, be it offline for days", async () => {
    const maxHosts = 100;
    lan = createFakeLan({ settings: { ...SETTINGS, maxHosts, sweep: { ...SETTINGS.sweep, intervalSeconds: 3600 } } });
    for (const { mac, ip } of KNOWN) lan.join(mac, [ip]);
    lan.start();
    await lan.clock.advance(7_300_000);
    const away = KNOWN.slice(0, 10);
    for (const { mac } of away) lan.hosts.delete(mac);
    await lan.clock.advance(300_000);
    expect(knownThatLeft().length).toBe(away.length);
    await lan.restart("closed");
    lan.clock.jump(3 * 86_400_000);

    const answerFrom = (number: number) => {
      const [mac, address] = [madeUp(number), ipOf(number)] as const;
      lan.join(mac, [address]);
      lan.deliver(arpFrame({ op: "reply", from: mac, spa: address, tpa: "192.168.1.2", to: OWN_MAC }));
    };
    for (let number = 0; number < 2000; number += 1) {
      answerFrom(number);
      // Some of them answer for good, others go and are followed by new ones.
      if (number >= 200 && number % 2 === 0) lan.hosts.delete(madeUp(number - 100));
      if (number % 10 === 9) await lan.clock.advance(number < 200 ? 1000 : 10_000);
      lan.sent.length = 0;
    }
    expect(lan.discovery.counts().known).toBe(maxHosts);
    const foundBefore = lan.eventsOf("host_found").filter(({ mac }) => KNOWN_MACS.has(mac)).length;
    for (const { mac, ip } of away) lan.join(mac, [ip]);
    void lan.discovery.sweepNow();
    await lan.clock.advance(60_000);
    // They come back as who they were: nobody is found anew.
    expect(lan.eventsOf("host_found").filter(({ mac }) => KNOWN_MACS.has(mac)).length).toBe(foundBefore);
    const back = new Set(lan.eventsOf("host_online").map(({ mac }) => mac));
    expect(away.filter(({ mac }) => !back.has(mac))).toEqual([]);
    expect(lan.rowsOf("hosts")).toBeLessThanOrEqual(maxHosts);
  });

  test("has room for some addresses of each MAC only, and a known host for its next one", async () => {
    lan = createFakeLan({
      addresses: ["10.0.0.2/16"], settings: { ...SETTINGS, maxHosts: MAX_HOSTS, sweep: { ...SETTINGS.sweep, enabled: false } },
    });
    const laptop = "00:11:22:00:00:01";
    lan.join(laptop, ["10.0.0.9"]);
    lan.start();
    await lan.clock.advance(1000);
    const say = (from: string, spa: string) => lan.deliver(arpFrame({ op: "request", from, spa, tpa: "10.0.0.2" }));
    say(laptop, "10.0.0.9");
    await lan.clock.advance(5000);
    for (let host = 0; host < 60; host += 1) {
      for (let address = 0; address < 256; address += 1) say(madeUp(host), `10.0.${host + 1}.${address}`);
    }
    say(laptop, "10.0.0.10");
    await lan.clock.advance(10_000);
    expect(lan.rowsOf("host_addresses")).toBeLessThanOrEqual(MAX_ADDRESSES);
    expect(lan.rowsOf("host_addresses")).toBeGreaterThan(4096);
    expect(lan.eventsOf("host_changed").findLast(({ mac }) => mac === laptop)?.addresses).toContain("10.0.0.10");
  });
});
