import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DTP_DESTINATION, DTP_SNAP, encodeDtp, encodeEthernet, encodeIpv4, encodeLlc, ETHER_TYPE, readCapture, VTP_SNAP } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { everyTruncation, seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { EVERYONE, ip, mac } from "../../observe/testing/frames.ts";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createVlanHoppingGuard } from "./vlan-hopping.ts";

const SWITCH = "00:19:06:ea:b8:8c";
const HOST = "00:0c:29:00:00:66";
const PACKET = encodeIpv4({ source: ip("192.168.1.66"), destination: ip("192.168.20.5"), protocol: 1, payload: new Uint8Array(32) });
const scene = (settings: object = {}) => createGuardScene({ guards: [createVlanHoppingGuard], settings });

interface Tags {
  readonly from?: string;
  readonly to?: string;
  readonly outer?: number;
  readonly protocol?: number;
}
function doubleTagged({ from = HOST, to = EVERYONE, outer = 1, protocol = ETHER_TYPE.vlan }: Tags = {}): Uint8Array {
  const tag = (vlanId: number, type: number) => ({ protocol: type, priority: 0, isDropEligible: false, vlanId });
  return encodeEthernet({
    destination: mac(to), source: mac(from), etherType: ETHER_TYPE.ipv4, vlanTags: [tag(outer, protocol), tag(20, ETHER_TYPE.vlan)], payload: PACKET,
  });
}
function snap(protocol: typeof DTP_SNAP | typeof VTP_SNAP, payload: Uint8Array, from: string): Uint8Array {
  const llc = encodeLlc({ destinationServiceAccessPoint: 0xaa, sourceServiceAccessPoint: 0xaa, control: 3, snap: protocol, payload });
  return encodeEthernet({ destination: mac(DTP_DESTINATION), source: mac(from), etherType: null, payload: llc });
}
const dtp = (from: string) => snap(DTP_SNAP, encodeDtp({ version: 1, domain: "", mode: "desirable", isTrunk: false, neighbor: mac(from) }), from);
const vtp = (from: string) => snap(VTP_SNAP, Uint8Array.from([2, 1, 0, 3, 0x4c, 0x41, 0x42, ...new Uint8Array(29), 0, 0, 0, 99, ...new Uint8Array(32)]), from);

async function play(on: GuardScene, seconds: number, step: () => void, everyMs = 1000): Promise<void> {
  for (let at = 0; at < seconds * 1000; at += everyMs) {
    step();
    await on.clock.advance(everyMs);
  }
}
async function learnedScene(): Promise<GuardScene> {
  const on = scene({ learning_minutes: 1 });
  await play(on, 90, () => on.hear(dtp(SWITCH), vtp(SWITCH)), 30_000);
  expect(on.incidents()).toEqual([]);
  return on;
}

describe("an attack is", () => {
  test.each([0, 60])("a host that sends frames with two tags, with %i minutes of learning", async (minutes) => {
    const on = scene({ learning_minutes: minutes });
    await play(on, 4, () => on.hear(doubleTagged()), 300);
    expect(on.incidents()).toMatchObject([{ kind: "vlan_hopping", severity: "medium", mac: HOST, vlan_id: 1, facts: { outer_vlan: "1", inner_vlan: "20" } }]);
    const after = on.restart();
    await play(after, 60, () => after.hear(doubleTagged()), 300);
    expect(after.incidents()).toHaveLength(1);
    await after.clock.advance(310_000);
    expect(after.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    await play(after, 4, () => after.hear(doubleTagged()), 300);
    expect(after.incidents()).toHaveLength(3);
  });

  test("one frame with two tags that nothing follows", async () => {
    const on = scene();
    on.hear(doubleTagged());
    await on.clock.advance(3000);
    expect(on.incidents()).toHaveLength(1);
  });

  test.each([0, 60])("one that forges an answer first, with %i minutes of learning", async (minutes) => {
    const on = scene({ learning_minutes: minutes });
    on.hear(doubleTagged({ to: SWITCH }), doubleTagged({ from: SWITCH, to: HOST }));
    await play(on, 6, () => on.hear(doubleTagged({ to: SWITCH })), 300);
    expect(on.incidents()).toMatchObject([{ severity: "medium", mac: HOST, vlan_id: 1 }]);
    const after = on.restart();
    await after.clock.advance(310_000);
    await play(after, 4, () => after.hear(doubleTagged({ to: SWITCH })), 300);
    expect(after.incidents().map(({ state }) => state)).toEqual(["seen", "ended", "seen"]);
  });

  test("one that forges answers for half a minute: it is reported when it stops, and its VLAN is not learned", async () => {
    const on = scene({ learning_minutes: 0 });
    await play(on, 30, () => on.hear(doubleTagged({ to: SWITCH }), doubleTagged({ from: SWITCH, to: HOST })));
    await play(on, 65, () => on.hear(doubleTagged({ to: SWITCH })));
    expect(on.incidents()).toMatchObject([{ severity: "medium", mac: HOST, vlan_id: 1 }]);
  });

  test.each([
    ["two tags", "medium", 60, (from: string) => doubleTagged({ from })],
    ["DTP", "medium", 1, dtp],
    ["DTP in the learning period", "medium", 60, dtp],
    ["VTP", "high", 1, vtp],
  ] as const)("ten thousand forged senders of %s: one incident that ends, and none of them is kept", async (_, severity, minutes, forge) => {
    const on = scene({ learning_minutes: minutes });
    await play(on, 90, () => on.hear(dtp(SWITCH), vtp(SWITCH)), 30_000);
    const kept = () => on.db.prepare("SELECT key FROM guard_learned WHERE scope = 'vlan_hopping' ORDER BY key").all();
    const before = kept();
    expect(before).not.toEqual([]);
    for (let n = 0; n < 10_000; n += 1) {
      on.hear(forge(`02:66:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`));
      if (n % 1000 === 999) await on.clock.advance(500);
    }
    await on.clock.advance(5000);
    expect(on.incidents()).toMatchObject([{ subject: "*", severity }]);
    await play(on, 330, () => on.hear(dtp(SWITCH), vtp(SWITCH)), 30_000);
    expect(on.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    expect(kept()).toEqual(before);
  });

  test("a host that negotiates a trunk, beside the switch or on a link without DTP", async () => {
    for (const on of [await learnedScene(), scene({ learning_minutes: 0 })]) {
      on.hear(dtp(HOST));
      await on.clock.advance(1000);
      expect(on.incidents()).toMatchObject([{ severity: "medium", mac: HOST, facts: { protocol: "DTP", mode: "desirable" } }]);
    }
  });

  test("a host that sends VTP, in the learning period too", async () => {
    const learning = scene();
    learning.hear(dtp(SWITCH));
    for (const on of [await learnedScene(), learning]) {
      on.hear(vtp(HOST));
      await on.clock.advance(1000);
      expect(on.incidents()).toMatchObject([{ severity: "high", mac: HOST, facts: { protocol: "VTP", revision: "99", domain: "LAB" } }]);
    }
  });
});

describe("normal are", () => {
  test("VLANs inside of a VLAN, which go both ways, over a restart too", async () => {
    const on = scene({ learning_minutes: 1 });
    const both = [doubleTagged({ from: HOST, to: SWITCH, outer: 200 }), doubleTagged({ from: SWITCH, to: HOST, outer: 200 })];
    await play(on, 20, () => on.hear(...both));
    const after = on.restart();
    await play(after, 120, () => after.hear(both[0] as Uint8Array));
    expect(after.incidents()).toEqual([]);
  });

  test.each([
    ["two hosts at each end, for minutes", 180, ["02:00:00:00:00:01", "02:00:00:00:00:02"]], ["two routers, for longer", 660, [HOST]],
  ])("VLANs inside of a new VLAN, after the learning period, by %s: one information, and then nothing, over a restart too", async (_, seconds, senders) => {
    const on = scene({ learning_minutes: 0 });
    await play(on, 30, () => on.hear(doubleTagged({ from: HOST, to: SWITCH, outer: 200 }), doubleTagged({ from: SWITCH, to: HOST, outer: 200 })));
    expect(on.incidents()).toEqual([]);
    const peers = senders.map((from, end) => [from, end === 0 ? SWITCH : "02:00:00:00:00:03"] as const);
    const talk = peers.flatMap(([from, to]) => [doubleTagged({ from, to, outer: 200 }), doubleTagged({ from: to, to: from, outer: 200 })]);
    await play(on, seconds, () => on.hear(...talk));
    expect(on.incidents()[0]).toMatchObject({ severity: "info", subject: "vlan 200", vlan_id: 200, state: "seen" });
    const after = on.restart();
    await play(after, 120, () => after.hear(doubleTagged({ from: HOST, to: SWITCH, outer: 200 })));
    expect(after.incidents().filter(({ state }) => state === "seen")).toHaveLength(1);
  });

  test("a provider's tags, and a tag for the priority alone", async () => {
    const on = scene();
    on.hear(doubleTagged({ protocol: ETHER_TYPE.providerVlan }), doubleTagged({ protocol: ETHER_TYPE.oldProviderVlan }), doubleTagged({ outer: 0 }));
    await on.clock.advance(5000);
    expect(on.incidents()).toEqual([]);
  });

  test("a switch port that speaks DTP and VTP, several of one switch, and after a restart", async () => {
    const on = scene({ learning_minutes: 1 });
    await play(on, 90, () => on.hear(dtp(SWITCH), dtp("00:19:06:ea:b8:8d"), vtp(SWITCH)), 30_000);
    const after = on.restart();
    await play(after, 90, () => after.hear(dtp(SWITCH), vtp(SWITCH)), 30_000);
    expect(after.incidents()).toEqual([]);
  });

  test("another port of the same maker when the known one is gone: information, and then learned", async () => {
    const on = await learnedScene();
    await on.clock.advance(120_000);
    await play(on, 60, () => on.hear(dtp("00:19:06:11:11:11")), 30_000);
    expect(on.incidents()).toMatchObject([{ severity: "info", count: 1 }]);
  });
});

const CAPTURE = fileURLToPath(new URL("../../../../../../shared/data/captures/tcpdump/802.1ad_QinQ.pcap", import.meta.url));
test.skipIf(!existsSync(CAPTURE))("a provider's capture is quiet", async () => {
  const on = scene();
  on.hear(...readCapture(readFileSync(CAPTURE)).records.map(({ bytes }) => bytes));
  await on.clock.advance(5000);
  expect(on.incidents()).toEqual([]);
});

test("truncated and damaged frames never throw", async () => {
  const on = scene();
  for (const [seed, sample] of [dtp(SWITCH), vtp(SWITCH), doubleTagged()].entries()) {
    for (const bytes of [...everyTruncation(sample), ...seededMutations(sample, 2000, seed + 1)]) on.hear(bytes);
  }
  await on.clock.advance(5000);
  expect(on.incidents().length).toBeLessThanOrEqual(5);
});
