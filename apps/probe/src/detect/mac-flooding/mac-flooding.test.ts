import { encodeEthernet, ETHER_TYPE } from "@lanthorn/packets";
import { expect, test } from "vitest";
import type { GuardDeps } from "../guard.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { faultsUnder } from "../testing/hostile-frames.ts";
import { createMacFloodingGuard } from "./mac-flooding.ts";
import { createSeenMacs } from "./seen-macs.ts";

/** A frame with an IPv4 header and nothing in it. */
function frameFrom(n: number): Uint8Array {
  const payload = Uint8Array.of(0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2);
  const source = Uint8Array.of(2, 0, (Math.imul(n, 0x9e3779b1) >>> 24) & 0xff, n >> 16, n >> 8, n);
  return encodeEthernet({ destination: Uint8Array.of(2, 0, 0, 0, 0, 9), source, etherType: ETHER_TYPE.ipv4, payload });
}

async function createQuietScene() {
  const scene = createGuardScene({ guards: [createMacFloodingGuard] });
  await scene.clock.advance(20_000);
  return scene;
}

test("thousands of new MACs within seconds are one incident, which ends", async () => {
  const scene = await createQuietScene();
  for (let n = 0; n < 10_000; n += 1) {
    scene.hear(frameFrom(n));
    if (n % 1000 === 999) await scene.clock.advance(500);
  }
  await scene.clock.advance(1000);
  expect(scene.incidents()).toMatchObject([{ kind: "mac_flooding", subject: "link", severity: "high" }]);
  await scene.clock.advance(310_000);
  expect(scene.incidents().at(-1)).toMatchObject({ state: "ended" });
});

test("a flood that goes on over a restart is one incident, and one that was there before the probe is seen", async () => {
  let scene = createGuardScene({ guards: [createMacFloodingGuard] });
  const flood = async (from: number, seconds: number) => {
    for (let tick = 0; tick < seconds * 2; tick += 1) {
      for (let n = 0; n < 400; n += 1) scene.hear(frameFrom(from + tick * 400 + n));
      await scene.clock.advance(500);
    }
  };
  await flood(0, 8);
  expect(scene.incidents()).toMatchObject([{ state: "seen", subject: "link" }]);
  scene = scene.restart();
  await flood(20_000, 8);
  expect(new Set(scene.incidents().map(({ since }) => since)).size).toBe(1);
  await scene.clock.advance(310_000);
  expect(scene.incidents().at(-1)).toMatchObject({ state: "ended" });
});

test("damaged frames make it throw nothing", async () => {
  expect(await faultsUnder(createMacFloodingGuard, [frameFrom(1), frameFrom(2)])).toEqual([]);
});

test("macof's frames count, which end before the TCP header that they claim to have", async () => {
  const scene = await createQuietScene();
  for (let n = 0; n < 3000; n += 1) {
    const bytes = frameFrom(n).slice(0, 34);
    bytes.set([40], 17);
    bytes.set([6], 23);
    scene.hear(bytes);
    if (n % 300 === 299) await scene.clock.advance(500);
  }
  expect(scene.incidents()).toMatchObject([{ kind: "mac_flooding", subject: "link" }]);
});

test.each([
  ["ARP requests", ETHER_TYPE.arp, [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2]], ["frames of no known protocol", 0x88b5, [1, 2, 3]],
] as const)("forged MACs of %s count too, where no other guard reports them", async (_, etherType, payload) => {
  const flood = async (scene: Awaited<ReturnType<typeof createQuietScene>>) => {
    for (let n = 0; n < 5000; n += 1) {
      const source = Uint8Array.of(2, 0, (Math.imul(n, 0x9e3779b1) >>> 24) & 0xff, n >> 16, n >> 8, n);
      scene.hear(encodeEthernet({ destination: Uint8Array.of(255, 255, 255, 255, 255, 255), source, etherType, payload: Uint8Array.from(payload) }));
      if (n % 500 === 499) await scene.clock.advance(500);
    }
    await scene.clock.advance(1000);
  };
  const scene = await createQuietScene();
  await flood(scene);
  expect(scene.incidents()).toMatchObject([{ kind: "mac_flooding", subject: "link" }]);

  const given: GuardDeps[] = [];
  const other = createGuardScene({
    guards: [createMacFloodingGuard, (deps) => {
      given.push(deps);
      return { name: "other" };
    }],
  });
  await other.clock.advance(20_000);
  given[0]?.incidents.report({ kind: "arp_storm", subject: "link", severity: "medium", ip: "", mac: "", detail: "a storm", packet: null });
  await flood(other);
  expect(other.incidents().map(({ kind }) => kind)).toEqual(["arp_storm"]);
});

test("a network that comes up, hosts that speak again and some with random MACs are no flood", async () => {
  const scene = await createQuietScene();
  for (let n = 0; n < 2000; n += 1) scene.hear(frameFrom(n));
  await scene.clock.advance(500);
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < 2000; n += 1) scene.hear(frameFrom(n));
    for (let n = 0; n < 20; n += 1) scene.hear(frameFrom(100_000 + round * 20 + n));
    await scene.clock.advance(500);
  }
  expect(scene.incidents()).toEqual([]);
});

test("a MAC is new once, whatever a flood does", () => {
  const seen = createSeenMacs();
  const known = Uint8Array.of(0, 1, 2, 3, 4, 5);
  expect([seen.add(known, 0), seen.add(known, 0)]).toEqual([true, false]);
  let fresh = 0;
  for (let n = 0; n < 60_000; n += 1) if (seen.add(Uint8Array.of(2, n & 255, 0, n >> 16, n >> 8, n), 0)) fresh += 1;
  expect(fresh).toBeGreaterThan(57_000);
  expect(seen.add(known, 0)).toBe(false);
});
