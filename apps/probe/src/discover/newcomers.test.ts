import { afterEach, describe, expect, test } from "vitest";
import { arpFrame, createFakeLan, type FakeLan, type FakeLanOptions, SETTINGS } from "./testing/fake-lan.ts";
import { dhcpAckFrame, dhcpFrame, mdnsFrame, mdnsQuestions, mdnsReverseFrame, routerSolicitationFrame } from "./testing/frames.ts";

const open: FakeLan[] = [];
const ROUTER = "00:11:22:00:00:01";
const LAPTOP = "00:11:22:00:00:02";
const PHONE = "00:11:22:00:00:03";

/** A link whose first sweep is over, with a router on it. */
async function quietLan(options?: FakeLanOptions): Promise<FakeLan> {
  const lan = createFakeLan(options);
  open.push(lan);
  lan.join(ROUTER, ["192.168.1.1"]);
  lan.start();
  await lan.clock.advance(20_000);
  return lan;
}

const found = (lan: FakeLan, mac: string) => lan.eventsOf("host_found").find((host) => host.mac === mac);

afterEach(async () => {
  for (const lan of open.splice(0)) await lan.close();
});

describe("a host that joins", () => {
  test("by DHCP is published at once with its name, where the acknowledgement is seen", async () => {
    const lan = await quietLan();
    lan.deliver(
      dhcpFrame("discover", LAPTOP, "laptop"),
      dhcpFrame("request", LAPTOP, "laptop", "192.168.1.50"),
      dhcpAckFrame(ROUTER, LAPTOP, "192.168.1.50"),
    );
    await lan.clock.advance(200);
    expect(found(lan, LAPTOP)).toMatchObject({
      ip: "192.168.1.50",
      hostname: "laptop",
      evidence: [
        { field: "hostname", value: "laptop", source: "dhcp" },
        { field: "device_type", value: "workstation", source: "hostname" },
        { field: "ip", source: "dhcp" },
      ],
    });
  });

  test("by DHCP is polled, and published within two seconds, where a switch hides the acknowledgement", async () => {
    const lan = await quietLan();
    lan.deliver(dhcpFrame("discover", LAPTOP, "laptop"));
    await lan.clock.advance(3000);
    expect(found(lan, LAPTOP)).toBeUndefined();
    lan.deliver(dhcpFrame("request", LAPTOP, "laptop", "192.168.1.50"));
    lan.join(LAPTOP, ["192.168.1.50"]);
    await lan.clock.advance(2000);
    expect(found(lan, LAPTOP)).toMatchObject({ ip: "192.168.1.50", hostname: "laptop", addresses: ["192.168.1.50"] });
  });

  test("with IPv6 first is published once, with the IPv4 address that its lease brings some seconds later", async () => {
    const lan = await quietLan();
    lan.deliver(routerSolicitationFrame(LAPTOP, "fe80::2"), dhcpFrame("discover", LAPTOP, "laptop"));
    await lan.clock.advance(3500);
    lan.deliver(dhcpFrame("request", LAPTOP, "laptop", "192.168.1.50"));
    lan.join(LAPTOP, ["192.168.1.50"]);
    await lan.clock.advance(30_000);
    expect(found(lan, LAPTOP)).toMatchObject({ ip: "192.168.1.50", hostname: "laptop", addresses: ["192.168.1.50", "fe80::2"] });
    expect(lan.eventsOf("host_changed")).toEqual([]);
  });

  test("with a fixed IPv4 address that it does not speak from is found by a quick look through the subnet", async () => {
    const lan = await quietLan();
    lan.join(LAPTOP, ["192.168.1.77"]);
    lan.deliver(routerSolicitationFrame(LAPTOP, "fe80::2"));
    await lan.clock.advance(6000);
    expect(found(lan, LAPTOP)).toMatchObject({ ip: "192.168.1.77", addresses: ["192.168.1.77", "fe80::2"] });
  });

  test("with IPv6 alone is published after some seconds", async () => {
    const lan = await quietLan();
    lan.deliver(routerSolicitationFrame(LAPTOP, "fe80::2"));
    await lan.clock.advance(8000);
    expect(found(lan, LAPTOP)).toMatchObject({ ip: "fe80::2" });
  });

  test("without a name is published after two seconds, and its name as a change", async () => {
    const lan = await quietLan();
    lan.deliver(arpFrame({ op: "request", from: PHONE, spa: "192.168.1.60", tpa: "192.168.1.1" }));
    await lan.clock.advance(1500);
    expect(found(lan, PHONE)).toBeUndefined();
    await lan.clock.advance(1000);
    expect(found(lan, PHONE)).toMatchObject({ ip: "192.168.1.60", hostname: "" });
    lan.deliver(mdnsFrame(PHONE, "192.168.1.60", "phone.local"));
    await lan.clock.advance(3000);
    expect(lan.eventsOf("host_changed")).toMatchObject([{ mac: PHONE, hostname: "phone", changed: ["hostname"] }]);
  });

  test("and announced its name before we listened is asked for it, twice at most, and not once it has one", async () => {
    const lan = await quietLan();
    lan.join(PHONE, ["192.168.1.60"]);
    lan.deliver(arpFrame({ op: "request", from: PHONE, spa: "192.168.1.60", tpa: "192.168.1.1" }));
    await lan.clock.advance(1000);
    const asked = () => lan.sent.flatMap(({ bytes }) => mdnsQuestions(bytes)).filter((name) => name === "60.1.168.192.in-addr.arpa").length;
    expect(asked()).toBe(1);
    lan.deliver(mdnsReverseFrame(PHONE, "192.168.1.60", "phone.local"));
    await lan.clock.advance(60_000);
    expect([found(lan, PHONE)?.hostname, asked()]).toEqual(["phone", 1]);
    lan.deliver(arpFrame({ op: "request", from: LAPTOP, spa: "192.168.1.61", tpa: "192.168.1.1" }));
    await lan.clock.advance(20 * 60_000);
    expect(lan.sent.flatMap(({ bytes }) => mdnsQuestions(bytes)).filter((name) => name === "61.1.168.192.in-addr.arpa")).toHaveLength(2);
  });

  test("just before the end is published all the same", async () => {
    const lan = await quietLan();
    lan.deliver(arpFrame({ op: "request", from: PHONE, spa: "192.168.1.60", tpa: "192.168.1.1" }));
    await lan.restart("closed");
    expect(found(lan, PHONE)).toMatchObject({ ip: "192.168.1.60" });
  });

  test("with a name in reverse DNS is published with it", async () => {
    const asked: string[] = [];
    const lan = await quietLan({
      reverseNames: async (address) => {
        asked.push(address);
        if (address !== "192.168.1.60") throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
        return ["phone.example.com"];
      },
    });
    lan.deliver(arpFrame({ op: "request", from: PHONE, spa: "192.168.1.60", tpa: "192.168.1.1" }));
    await lan.clock.advance(1);
    await lan.clock.advance(200);
    expect(found(lan, PHONE)).toMatchObject({
      hostname: "phone.example.com",
      evidence: [{ field: "hostname", source: "reverse-dns" }, { field: "device_type", source: "hostname" }, { field: "ip" }],
    });
    await lan.clock.advance(500_000);
    expect(asked).toEqual(["192.168.1.1", "192.168.1.60"]);
    await lan.clock.advance(500_000);
    expect(asked.filter((address) => address === "192.168.1.1")).toHaveLength(2);
  });
});

describe("what changes", () => {
  test("in quick succession is published together", async () => {
    const lan = await quietLan();
    lan.deliver(
      mdnsFrame(ROUTER, "192.168.1.1", "gateway.local"),
      arpFrame({ op: "request", from: ROUTER, spa: "192.168.1.9", tpa: "192.168.1.1" }),
    );
    lan.join(ROUTER, ["192.168.1.1", "192.168.1.9"]);
    await lan.clock.advance(10_000);
    expect(lan.eventsOf("host_changed")).toMatchObject([
      { hostname: "gateway", addresses: ["192.168.1.1", "192.168.1.9"], changed: ["addresses", "hostname"] },
    ]);
  });

  test("again and again is published ever more rarely", async () => {
    const lan = await quietLan();
    for (let round = 0; round < 1000; round += 1) {
      lan.deliver(mdnsFrame(ROUTER, "192.168.1.1", `name-${round % 7}.local`));
      await lan.clock.advance(1000);
    }
    expect(lan.eventsOf("host_changed").length).toBeLessThan(30);
    expect(lan.eventsOf("host_changed").length).toBeGreaterThan(3);
  });

  test("and could not be written is written once the disk takes it again, and nothing is doubled", async () => {
    const lan = await quietLan();
    lan.storageFault = true;
    lan.deliver(arpFrame({ op: "request", from: PHONE, spa: "192.168.1.60", tpa: "192.168.1.1" }));
    await lan.clock.advance(60_000);
    expect(found(lan, PHONE)).toBeUndefined();
    lan.storageFault = false;
    await lan.clock.advance(10_000);
    expect(lan.eventsOf("host_found").filter(({ mac }) => mac === PHONE)).toHaveLength(1);
    await lan.restart("killed");
    await lan.clock.advance(60_000);
    expect(lan.eventsOf("host_found").filter(({ mac }) => mac === PHONE)).toHaveLength(1);
  });
});

describe("made-up hosts", () => {
  const madeUp = (number: number) =>
    `06:${[24, 16, 8, 0].map((bits) => ((number >>> bits) & 255).toString(16).padStart(2, "0")).join(":")}:01`;

  test("by the hundred thousand in a minute are kept out of memory and queue, with one error, and real hosts are still found", async () => {
    const lan = await quietLan({ settings: { ...SETTINGS, maxHosts: 5000 } });
    for (let second = 0; second < 60; second += 1) {
      for (let number = 0; number < 1667; number += 1) {
        const index = second * 1667 + number;
        lan.deliver(
          arpFrame({
            op: "request",
            from: madeUp((index * 2_654_435_761) >>> 0),
            spa: `192.168.1.${3 + (index % 250)}`,
            tpa: "192.168.1.1",
          }),
        );
      }
      await lan.clock.advance(1000);
    }
    expect(lan.discovery.counts().known).toBeLessThan(1100);
    expect(lan.events().length).toBeLessThan(1500);
    expect(lan.eventsOf("error")).toMatchObject([{ code: "host-limit" }]);
    await lan.clock.advance(600_000);
    expect(lan.discovery.counts().online).toBe(1);
    lan.join(LAPTOP, ["192.168.1.20"]);
    void lan.discovery.sweepNow();
    await lan.clock.advance(10_000);
    expect(found(lan, LAPTOP)).toMatchObject({ ip: "192.168.1.20" });
  });

  test("of a capture file all come in, however fast, up to the table's limit", async () => {
    const lan = await quietLan({
      addresses: ["10.0.0.2/16"],
      settings: { ...SETTINGS, maxHosts: 5000, unasked: "all", sweep: { ...SETTINGS.sweep, enabled: false } },
    });
    for (let number = 0; number < 6000; number += 1) {
      const spa = `10.0.${1 + Math.floor(number / 250)}.${1 + (number % 250)}`;
      lan.deliver(arpFrame({ op: "request", from: madeUp(number), spa, tpa: spa }));
    }
    await lan.clock.advance(5000);
    expect(lan.discovery.counts().known).toBe(5000);
    expect(lan.eventsOf("host_found").length).toBe(5000);
  });

  test("push out those that left long ago when the table is full, never one that is there", async () => {
    const lan = await quietLan({
      addresses: ["10.0.0.2/16"],
      settings: { ...SETTINGS, maxHosts: 100, sweep: { ...SETTINGS.sweep, enabled: false } },
    });
    lan.join(ROUTER, ["10.0.0.1"]);
    const hello = (number: number) =>
      lan.deliver(arpFrame({ op: "request", from: madeUp(number), spa: `10.0.1.${number % 250}`, tpa: "10.0.0.1" }));
    lan.deliver(arpFrame({ op: "request", from: ROUTER, spa: "10.0.0.1", tpa: "10.0.0.9" }));
    for (let number = 1; number < 100; number += 1) hello(number);
    hello(200);
    await lan.clock.advance(20 * 60_000);
    expect(lan.discovery.counts()).toEqual({ online: 1, known: 100 });
    for (let number = 200; number < 210; number += 1) hello(number);
    await lan.clock.advance(5000);
    expect(lan.discovery.counts()).toEqual({ online: 11, known: 100 });
    await lan.restart("closed");
    expect(lan.discovery.counts()).toEqual({ online: 11, known: 100 });
  });
});
