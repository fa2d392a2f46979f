import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type LldpItem, readCapture } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { everyTruncation, seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { cdpFrame, ip, lldpFrame, SWITCH, SWITCH_PORT } from "../../listen/testing/adverts.ts";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createLinkNeighborsGuard } from "./link-neighbors.ts";

const ATTACKER = "00:0c:29:00:00:66";
const CAPABILITY = { bridge: 0x04, wlan: 0x08, router: 0x10, telephone: 0x20, station: 0x80 } as const;
const scene = (settings: object = {}) => createGuardScene({ guards: [createLinkNeighborsGuard], settings });

const capable = (enabled: number): LldpItem => ({ kind: "system-capabilities", supported: enabled, enabled });
const managed = (address: string): LldpItem =>
  ({ kind: "management-address", family: 1, address: ip(address), numbering: 2, interfaceNumber: 1, objectId: new Uint8Array(0) });
const BRIDGE = capable(CAPABILITY.bridge);
const uplink = (fields: Parameters<typeof lldpFrame>[0] = {}) => lldpFrame({ items: [BRIDGE, managed("10.0.0.2")], ...fields });
const coreByCdp = (from: string) => cdpFrame([
  { kind: "device-id", text: "core-1.lab.test" }, { kind: "port-id", text: "GigabitEthernet1/0/1" }, { kind: "capabilities", bits: 0x29 },
], { from });

async function play(on: GuardScene, seconds: number, ...frames: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < seconds; at += 30) {
    on.hear(...frames);
    await on.clock.advance(30_000);
  }
}
async function learnedScene(...more: readonly Uint8Array[]): Promise<GuardScene> {
  const on = scene({ learning_minutes: 1 });
  await play(on, 90, uplink(), ...more);
  expect(on.incidents()).toEqual([]);
  return on;
}
const kept = (on: GuardScene) => (on.db.prepare("SELECT count(*) AS rows FROM guard_learned WHERE scope = 'link_neighbors'").get() as { rows: number }).rows;
const seen = (on: GuardScene) => on.incidents().filter(({ state }) => state === "seen");

describe("an attack is", () => {
  test.each([
    ["its chassis", uplink({ from: ATTACKER, port: "port1", name: "", items: [BRIDGE] })],
    ["its name", uplink({ from: ATTACKER, chassis: ATTACKER, items: [] })],
    ["its address", uplink({ from: ATTACKER, chassis: ATTACKER, name: "", items: [managed("10.0.0.2")] })],
    ["its name by CDP", cdpFrame([{ kind: "device-id", text: "sw-store12" }, { kind: "port-id", text: "1" }, { kind: "system-name", text: "sw-store12" }], { from: ATTACKER })],
  ])("a host that claims the uplink by %s: high at once, once, over a restart, and never learned", async (_, frame) => {
    const on = await learnedScene();
    on.hear(frame);
    await on.clock.advance(1000);
    expect(on.incidents()).toMatchObject([{ kind: "neighbor_spoofing", severity: "high", mac: ATTACKER, expected_macs: [SWITCH_PORT] }]);
    const after = on.restart();
    await play(after, 300, frame, uplink());
    expect(after.incidents()).toHaveLength(1);
    await play(after, 330, uplink());
    expect(after.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    after.hear(frame);
    await after.clock.advance(1000);
    expect(seen(after)).toHaveLength(2);
  });

  test("one that was there before the probe: the MAC that is like the chassis is right, whoever was first", async () => {
    for (const frames of [[uplink(), uplink({ from: ATTACKER })], [uplink({ from: ATTACKER }), uplink()]]) {
      const on = scene();
      await play(on, 120, ...frames);
      expect(on.incidents()).toMatchObject([{ severity: "high", mac: ATTACKER }]);
    }
  });

  test("the same port by another MAC of the maker while the switch is alive", async () => {
    const on = await learnedScene();
    await play(on, 120, uplink({ from: "00:1c:73:66:66:66" }), uplink());
    expect(on.incidents()).toMatchObject([{ severity: "medium" }, { severity: "high", state: "seen", mac: "00:1c:73:66:66:66" }]);
  });

  test("a second switch at a port that showed one and nobody else, within five seconds", async () => {
    const on = await learnedScene();
    on.hear(coreByCdp(ATTACKER));
    await on.clock.advance(3000);
    expect(on.incidents()).toMatchObject([{ severity: "medium", mac: ATTACKER, facts: { protocol: "CDP", chassis: "core-1.lab.test" } }]);
    await play(on, 900, coreByCdp(ATTACKER), uplink());
    expect(new Set(on.incidents().map(({ severity }) => severity))).toEqual(new Set(["medium"]));
  });

  test.each([
    ["LLDP", 0, (from: string) => uplink({ from, chassis: from, name: from, items: [BRIDGE] })],
    ["LLDP", 60, (from: string) => uplink({ from, chassis: from, name: from, items: [BRIDGE] })],
    ["LLDP in the uplink's name", 1, (from: string) => uplink({ from })],
    ["CDP", 1, (from: string) => coreByCdp(from)],
  ] as const)("a flood of ten thousand neighbors forged by %s: one incident that ends, with %i minutes of learning, and none of them is kept", async (_, minutes, forge) => {
    const on = scene({ learning_minutes: minutes });
    await play(on, 90, uplink());
    const before = kept(on);
    const learned = on.incidents().length;
    for (let n = 0; n < 10_000; n += 1) {
      on.hear(forge(`02:66:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`));
      if (n % 500 === 499) await on.clock.advance(250);
    }
    await on.clock.advance(3000);
    expect(on.incidents().slice(learned)).toMatchObject([{ subject: "*", state: "seen" }]);
    await play(on, 330, uplink());
    expect(on.incidents().at(-1)).toMatchObject({ subject: "*", state: "ended" });
    expect(kept(on)).toBe(before);
  });
});

describe("normal are", () => {
  test("phones, access points and hosts, new ones too", async () => {
    const phone = lldpFrame({ from: "00:04:f2:00:00:01", chassis: "00:04:f2:00:00:01", name: "phone", items: [capable(CAPABILITY.bridge | CAPABILITY.telephone)] });
    const accessPoint = lldpFrame({ from: "24:5a:4c:00:00:01", chassis: "24:5a:4c:00:00:01", name: "ap", items: [capable(CAPABILITY.bridge | CAPABILITY.wlan)] });
    const host = lldpFrame({ from: "00:11:32:00:00:09", chassis: "00:11:32:00:00:09", name: "nas", items: [capable(CAPABILITY.station)] });
    const on = await learnedScene();
    await play(on, 300, phone, accessPoint, host, uplink());
    expect(on.incidents()).toEqual([]);
  });

  test("a hypervisor with a switch inside, where hosts are heard: information, and then learned", async () => {
    const host = lldpFrame({ from: "00:11:32:00:00:09", chassis: "00:11:32:00:00:09", name: "nas", items: [capable(CAPABILITY.station)] });
    const hypervisor = uplink({ from: "00:50:56:00:00:01", chassis: "00:50:56:00:00:01", name: "esx1", items: [BRIDGE] });
    const on = await learnedScene(host);
    await play(on, 1500, host, hypervisor, uplink());
    expect(new Set(on.incidents().map(({ severity, state, mac }) => `${severity} ${state} ${mac}`))).toEqual(new Set(["info seen 00:50:56:00:00:01", "info ended 00:50:56:00:00:01"]));
  });

  test("a switch that speaks LLDP and CDP from one port, the second one later", async () => {
    const on = await learnedScene();
    await play(on, 120, uplink(), coreByCdp(SWITCH_PORT));
    expect(on.incidents()).toEqual([]);
  });

  test("a switch that has failed over to another MAC at the same port, and a probe that was moved", async () => {
    const failover = await learnedScene();
    await play(failover, 90, uplink({ from: "00:1c:73:00:99:77" }));
    expect(failover.incidents().map(({ severity }) => severity)).not.toContain("high");
    const moved = await learnedScene();
    await moved.clock.advance(140_000);
    await play(moved, 90, uplink({ from: "00:1c:73:00:99:44", port: "Ethernet44" }));
    expect(moved.incidents()).toMatchObject([{ severity: "info" }]);
  });

  test("an uplink that goes away and comes back", async () => {
    const on = await learnedScene();
    on.hear(uplink({ ttlSeconds: 0 }));
    await on.clock.advance(600_000);
    await play(on.restart(), 90, uplink());
    expect(on.incidents()).toEqual([]);
  });
});

const CAPTURES = fileURLToPath(new URL("../../../../../../shared/data/captures/tcpdump/", import.meta.url));
test.skipIf(!existsSync(CAPTURES)).each(["3560_CDP.pcap", "LLDP_and_CDP.pcap"])("%s is quiet", async (name) => {
  const on = scene();
  for (const { bytes } of readCapture(readFileSync(`${CAPTURES}${name}`)).records) {
    on.hear(bytes);
    await on.clock.advance(1000);
  }
  expect(on.incidents()).toEqual([]);
});

test("truncated and damaged adverts never throw", async () => {
  const on = scene();
  for (const [seed, sample] of [uplink({ chassis: SWITCH }), coreByCdp(ATTACKER)].entries()) {
    for (const bytes of [...everyTruncation(sample), ...seededMutations(sample, 2000, seed + 1)]) on.hear(bytes);
  }
  await on.clock.advance(1000);
  expect(seen(on).length).toBeLessThanOrEqual(5);
});
