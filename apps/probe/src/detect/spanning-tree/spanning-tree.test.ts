import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encodeEthernet, encodeLlc, encodeStp, PVST_DESTINATION, PVST_SNAP, readCapture, STP_DESTINATIONS } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { everyTruncation, seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { mac } from "../../observe/testing/frames.ts";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createSpanningTreeGuard } from "./spanning-tree.ts";

const SWITCH = "00:19:06:ea:b8:8c";
const ROOT = "00:1e:f7:05:a8:80";
const NEW_ROOT = "00:1e:f7:77:00:00";
const ATTACKER = "00:0c:29:00:00:66";
const scene = (settings: object = {}) => createGuardScene({ guards: [createSpanningTreeGuard], settings });

interface Fields {
  readonly from?: string;
  readonly root?: string;
  readonly priority?: number;
  /** Of a VLAN, as Cisco's switches send it. */
  readonly vlan?: number;
  readonly bridge?: string;
}
/** A BPDU as the switch sends it: it is not root itself. */
function bpdu({ from = SWITCH, root = ROOT, priority = 0x1000, vlan, bridge = from }: Fields = {}): Uint8Array {
  const pdu = encodeStp({
    version: 2, flags: 0x3c, root: { priority, systemId: vlan ?? 0, mac: mac(root) }, rootPathCost: bridge === root ? 0 : 4,
    bridge: { priority: bridge === root ? priority : 0x8000, systemId: vlan ?? 0, mac: mac(bridge) }, portId: 0x800c, messageAge: 0, maxAge: 20, helloTime: 2, forwardDelay: 15,
    ...(vlan === undefined ? {} : { vlanId: vlan }),
  });
  const sap = vlan === undefined ? 0x42 : 0xaa;
  const payload = encodeLlc({
    destinationServiceAccessPoint: sap, sourceServiceAccessPoint: sap, control: 3, snap: vlan === undefined ? null : PVST_SNAP, payload: pdu,
  });
  return encodeEthernet({ destination: mac(vlan === undefined ? STP_DESTINATIONS[0] : PVST_DESTINATION), source: mac(from), etherType: null, payload });
}
function notification(from: string): Uint8Array {
  const payload = encodeLlc({ destinationServiceAccessPoint: 0x42, sourceServiceAccessPoint: 0x42, control: 3, snap: null, payload: Uint8Array.of(0, 0, 0, 0x80) });
  return encodeEthernet({ destination: mac(STP_DESTINATIONS[0]), source: mac(from), etherType: null, payload });
}
const claim = (from = ATTACKER, priority = 0) => bpdu({ from, root: from, bridge: from, priority });

async function play(on: GuardScene, seconds: number, ...frames: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < seconds; at += 2) {
    on.hear(...frames);
    await on.clock.advance(2000);
  }
}
/** A link whose one switch port is learned. */
async function learnedScene(settings: object = {}): Promise<GuardScene> {
  const on = scene({ learning_minutes: 1, ...settings });
  await play(on, 70, bpdu());
  expect(on.incidents()).toEqual([]);
  return on;
}
const seen = (on: GuardScene) => on.incidents().filter(({ state }) => state === "seen");

describe("an attack is", () => {
  test.each([1, 60])("a host that claims to be root, with %i minutes of learning", async (minutes) => {
    const on = await learnedScene({ learning_minutes: minutes });
    await play(on, 4, bpdu(), claim());
    expect(on.incidents()).toMatchObject([{ kind: "spanning_tree", state: "seen", severity: "high", mac: ATTACKER, facts: { learned_root: `4096.0 ${ROOT}`, claimed_root: `0.0 ${ATTACKER}` } }]);
    // The switch gives way, and repeats what the attacker claims.
    await play(on, 200, bpdu({ root: ATTACKER, priority: 0 }), claim());
    expect(on.incidents()).toHaveLength(1);
    await play(on, 320, bpdu());
    expect(on.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("one that goes on over a restart, and is neither raised twice nor learned", async () => {
    const on = await learnedScene();
    await play(on, 4, bpdu(), claim());
    const after = on.restart();
    await play(after, 200, claim());
    expect(after.incidents()).toHaveLength(1);
    await play(after, 4, bpdu());
    expect(seen(after)).toHaveLength(1);
  });

  test("one that was there before the probe: the better root of two is blamed, whoever was heard first", async () => {
    for (const frames of [[claim(), bpdu()], [bpdu(), claim()]]) {
      const on = scene();
      for (let at = 0; at < 5; at += 1) {
        for (const frame of frames) {
          on.hear(frame);
          await on.clock.advance(1000);
        }
      }
      expect(on.incidents()).toMatchObject([{ severity: "high", mac: ATTACKER }]);
    }
  });

  test("a bridge at the port of a host, whatever root it names", async () => {
    for (const frame of [bpdu({ from: ATTACKER }), claim(ATTACKER, 0x8000), notification(ATTACKER)]) {
      const on = await learnedScene();
      await play(on, 6, frame, bpdu());
      expect(on.incidents()).toMatchObject([{ severity: "medium", mac: ATTACKER }]);
    }
  });

  test.each([
    ["as roots", 1, (from: string) => claim(from)],
    ["as roots, in the learning period", 60, (from: string) => claim(from)],
    ["under our root", 1, (from: string) => bpdu({ from })],
    ["under our root, in the learning period", 60, (from: string) => bpdu({ from })],
    ["that change the topology", 1, notification],
  ] as const)("one that forges ten thousand bridges %s: one incident that ends, and none of them is kept", async (_, minutes, forge) => {
    const on = await learnedScene({ learning_minutes: minutes });
    const kept = () => on.db.prepare("SELECT key FROM guard_learned WHERE scope = 'spanning_tree' ORDER BY key").all();
    const before = kept();
    expect(before).not.toEqual([]);
    for (let n = 0; n < 10_000; n += 1) {
      on.hear(forge(`02:00:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`));
      if (n % 500 !== 0) continue;
      on.hear(bpdu());
      await on.clock.advance(500);
    }
    await play(on, 40, bpdu());
    expect(on.incidents()).toHaveLength(1);
    await play(on, 310, bpdu());
    expect(on.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    expect(kept()).toEqual(before);
  });

  test("a root that goes to and fro behind our own switch, or from its forged MAC", async () => {
    const on = await learnedScene();
    await play(on, 6, bpdu(), claim(SWITCH));
    expect(on.incidents()).toMatchObject([{ subject: "root", severity: "high" }]);
    const slow = await learnedScene();
    for (let times = 0; times < 3; times += 1) {
      await play(slow, 20, bpdu());
      await play(slow, 20, bpdu({ root: ATTACKER, priority: 0 }));
    }
    expect(seen(slow).at(-1)).toMatchObject({ subject: "root", severity: "high" });
  });

  test("a better root with priority 0, or with the root's MAC but for a byte, behind our own switch", async () => {
    for (const root of [{ root: ATTACKER, priority: 0 }, { root: "00:1e:f7:05:a8:7f" }]) {
      const on = await learnedScene();
      await play(on, 5, bpdu(root));
      expect(on.incidents()).toMatchObject([{ subject: "root", severity: "medium" }]);
    }
  });

  test("a flood of notifications, or of BPDUs", async () => {
    for (const frame of [notification(SWITCH), bpdu()]) {
      const on = await learnedScene();
      for (let n = 0; n < 40; n += 1) {
        on.hear(frame, frame, frame);
        await on.clock.advance(100);
      }
      await on.clock.advance(1000);
      expect(on.incidents()).toMatchObject([{ subject: "flood", severity: "medium", mac: SWITCH }]);
    }
  });

  test("the best priority on a link that had no spanning tree", async () => {
    const on = scene({ learning_minutes: 0 });
    on.hear(claim());
    await on.clock.advance(1000);
    expect(on.incidents()).toMatchObject([{ severity: "high", mac: ATTACKER }]);
  });
});

describe("normal are", () => {
  test("a switch with a tree for each VLAN, new VLANs, and a notification now and then", async () => {
    const on = scene({ learning_minutes: 1 });
    const vlans = Array.from({ length: 60 }, (_, at) => bpdu({ vlan: at + 1 }));
    await play(on, 70, ...vlans);
    await play(on, 20, ...vlans, bpdu({ vlan: 700 }), notification(SWITCH));
    expect(on.incidents()).toEqual([]);
  });

  test("several switch ports on a mirror port", async () => {
    const on = scene({ learning_minutes: 1 });
    await play(on, 300, ...Array.from({ length: 24 }, (_, at) => bpdu({ from: `00:19:06:ea:b8:${(at + 16).toString(16)}` })));
    expect(on.incidents()).toEqual([]);
  });

  test("another root that stays: information, and then learned", async () => {
    const on = await learnedScene();
    await play(on, 80, bpdu({ root: NEW_ROOT, priority: 0x8000 }));
    expect(on.incidents()).toMatchObject([{ severity: "info", subject: "root" }]);
    await play(on, 400, bpdu({ root: NEW_ROOT, priority: 0x8000 }));
    expect(on.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    await play(on.restart(), 100, bpdu({ root: NEW_ROOT, priority: 0x8000 }));
    expect(on.incidents()).toHaveLength(2);
  });

  test("a root that fails for a moment", async () => {
    const on = await learnedScene();
    await play(on, 2, bpdu({ root: SWITCH, priority: 0x8000 }));
    await play(on, 60, bpdu());
    expect(on.incidents()).toEqual([]);
  });

  test("a switch that is replaced, and the first one on a link: information, and then learned", async () => {
    const replaced = await learnedScene();
    await play(replaced, 10);
    await play(replaced, 100, bpdu({ from: "00:19:06:11:11:11" }));
    expect(replaced.incidents()).toMatchObject([{ severity: "info" }]);
    const first = scene({ learning_minutes: 0 });
    await play(first, 100, claim(SWITCH, 0x8000));
    expect(first.incidents()).toMatchObject([{ severity: "info" }]);
  });
});

const CAPTURES = fileURLToPath(new URL("../../../../../../shared/data/captures/tcpdump/", import.meta.url));
test.skipIf(!existsSync(CAPTURES)).each(["802.1w_rapid_STP.pcap", "MSTP_Intra-Region_BPDUs.pcap"])("%s is quiet", async (name) => {
  const on = scene();
  for (const { bytes } of readCapture(readFileSync(`${CAPTURES}${name}`)).records) {
    on.hear(bytes);
    await on.clock.advance(1000);
  }
  expect(on.incidents()).toEqual([]);
});

test("truncated and damaged BPDUs never throw", async () => {
  const on = scene();
  for (const [seed, sample] of [bpdu(), bpdu({ vlan: 7 }), notification(SWITCH)].entries()) {
    for (const bytes of [...everyTruncation(sample), ...seededMutations(sample, 3000, seed + 1)]) on.hear(bytes);
  }
  await on.clock.advance(1000);
  expect(seen(on).length).toBeLessThanOrEqual(3);
});
