import { encodeEthernet, encodeIpv4, encodeIpv6, ETHER_TYPE } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { everyTruncation, seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { ip, mac, ndpFrame, udpFrame } from "../../observe/testing/frames.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createIpv6TunnelsGuard } from "./ipv6-tunnels.ts";

const HOST = "00:0c:29:00:00:66";
const GATEWAY = "00:1e:f7:05:a8:80";
const RELAY = "203.0.113.9";
const scene = (settings: object = { learning_minutes: 0 }) => createGuardScene({ guards: [createIpv6TunnelsGuard], settings });

const inner = (source = "2001:db8:1::1") => encodeIpv6({ source: ip(source), destination: ip("2001:db8:2::1"), protocol: 59, payload: new Uint8Array(0) });
function tunnel({ from = HOST, to = GATEWAY, source = "192.168.1.66", destination = RELAY, protocol = 41, payload = inner() } = {}): Uint8Array {
  return encodeEthernet({
    destination: mac(to), source: mac(from), etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ source: ip(source), destination: ip(destination), protocol, payload }),
  });
}
const teredo = (payload = inner()) => udpFrame("192.168.1.66", RELAY, [50_000, 3544], payload, { from: HOST, to: GATEWAY });
const ipv6 = (source: string, from = HOST) => encodeEthernet({
  destination: mac(GATEWAY), source: mac(from), etherType: ETHER_TYPE.ipv6,
  payload: encodeIpv6({ source: ip(source), destination: ip("2001:db8:2::1"), protocol: 59, payload: new Uint8Array(0) }),
});

describe("a tunnel", () => {
  test.each([
    ["6in4", "medium", tunnel()],
    ["ISATAP", "medium", tunnel({ payload: inner("fe80::5efe:c0a8:142") })],
    ["Teredo", "low", teredo()],
  ] as const)("of %s is reported once, for both ways and over a restart", async (kind, severity, frame) => {
    const on = scene();
    on.hear(frame);
    await on.clock.advance(1000);
    expect(on.incidents()).toMatchObject([{ kind: "unexpected_ipv6", severity, mac: HOST, ip: "192.168.1.66", facts: { [kind]: RELAY } }]);
    const after = on.restart();
    after.hear(frame, tunnel({ from: GATEWAY, to: HOST, source: RELAY, destination: "192.168.1.66" }));
    await after.clock.advance(1000);
    expect(new Set(after.incidents().map(({ subject }) => subject))).toEqual(new Set([HOST]));
    await after.clock.advance(310_000);
    expect(after.incidents().at(-1)).toMatchObject({ state: "ended" });
  });

  test("to the gateway, or to another host of the link, is its first speaker's", async () => {
    for (const destination of ["192.168.1.1", "192.168.1.5"]) {
      const on = scene();
      on.hear(tunnel({ destination }), tunnel({ from: GATEWAY, to: HOST, source: destination, destination: "192.168.1.66" }));
      await on.clock.advance(1000);
      expect(on.incidents()).toMatchObject([{ subject: HOST, ip: "192.168.1.66", count: 2 }]);
    }
  });

  test("that was there in the learning period is normal, afterwards and over a restart", async () => {
    const on = scene({ learning_minutes: 1 });
    on.hear(tunnel());
    await on.clock.advance(70_000);
    const after = on.restart();
    after.hear(tunnel());
    await after.clock.advance(1000);
    expect(after.incidents()).toEqual([]);
    after.hear(tunnel({ from: "00:0c:29:00:00:67", source: "192.168.1.67" }));
    await after.clock.advance(1000);
    expect(after.incidents()).toHaveLength(1);
  });

  test("of ten thousand forged hosts is one incident", async () => {
    const on = scene();
    for (let n = 0; n < 10_000; n += 1) {
      on.hear(tunnel({ from: `02:66:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}` }));
    }
    await on.clock.advance(1000);
    expect(on.incidents()).toMatchObject([{ subject: "*", count: 10_000 }]);
  });
});

describe("normal are", () => {
  test("GRE, IP in IP, and other things at Teredo's port", async () => {
    const on = scene();
    on.hear(
      tunnel({ protocol: 47 }), tunnel({ protocol: 4 }), tunnel({ payload: new Uint8Array(60) }), teredo(new Uint8Array(60)),
      udpFrame("192.168.1.66", "192.0.2.53", [3544, 53], Uint8Array.of(1, 2, 3), { from: HOST, to: GATEWAY }),
    );
    await on.clock.advance(1000);
    expect(on.incidents()).toEqual([]);
  });

  test("IPv6 of the link itself, which every host has", async () => {
    const on = scene();
    on.hear(ipv6("fe80::1"), ipv6("::"));
    await on.clock.advance(1000);
    expect(on.incidents()).toEqual([]);
  });

  test("IPv6 that was there in the learning period, or that a router brings, which is another incident", async () => {
    const learned = scene({ learning_minutes: 1 });
    learned.hear(ipv6("2001:db8::5"));
    await learned.clock.advance(70_000);
    const routed = scene();
    routed.hear(ndpFrame({
      kind: "router-advertisement", hopLimit: 64, isManaged: false, hasOtherConfiguration: false, preference: "medium", routerLifetimeSeconds: 1800,
      reachableTimeMs: 0, retransmissionTimerMs: 0, options: [],
    }, "fe80::1", "ff02::1", { from: GATEWAY }));
    for (const on of [learned, routed]) {
      on.hear(ipv6("2001:db8::6"));
      await on.clock.advance(1000);
      expect(on.incidents()).toEqual([]);
    }
  });
});

test("the first IPv6 address on a link without it is information, once", async () => {
  const on = scene();
  on.hear(ipv6("fd00::5"));
  await on.clock.advance(1000);
  expect(on.incidents()).toMatchObject([{ severity: "info", ip: "fd00::5", mac: HOST }]);
  on.hear(ipv6("2001:db8::6"));
  const after = on.restart();
  after.hear(ipv6("2001:db8::7"));
  await after.clock.advance(310_000);
  expect(after.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
});

test("truncated and damaged tunnels never throw", async () => {
  const on = scene();
  for (const [seed, sample] of [tunnel(), teredo()].entries()) for (const bytes of [...everyTruncation(sample), ...seededMutations(sample, 2000, seed + 1)]) on.hear(bytes);
  await on.clock.advance(1000);
  expect(on.incidents().length).toBeLessThanOrEqual(6);
});
