import { describe, expect, test } from "vitest";
import { arpFrame } from "../../observe/testing/frames.ts";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { playCapture } from "../testing/lab-captures.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { answer, ask, macOf, SERVER } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const guards = [createDhcpServersGuard];
/** Of the frame's source and of the client in it. */
const MAC_OFFSETS = [6, 14 + 20 + 8 + 28];

async function createLearned(settings: object = {}): Promise<GuardScene> {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, dhcp_servers: ["10.77.0.1"], ...settings } });
  scene.hear(answer(SERVER));
  await scene.clock.advance(11 * MINUTE);
  return scene;
}
const starvations = (scene: GuardScene) => scene.incidents().filter(({ kind }) => kind === "dhcp_exhaustion");

interface Crowd {
  readonly first?: number;
  readonly clients: number;
  readonly perSecond: number;
  readonly type?: "discover" | "decline";
  /** Of three clients so many send ARP as well. */
  readonly livingOfThree?: number;
  /** The MAC that all frames come from; each client's own unless given. */
  readonly sender?: string;
  /** So many kinds of client software. */
  readonly kinds?: number;
}

/** Clients that nobody knows ask one after the other. */
async function crowd(scene: GuardScene, { first = 0, clients, perSecond, type = "discover", livingOfThree = 0, sender, kinds = 1 }: Crowd): Promise<void> {
  for (let n = first; n < first + clients; n += 1) {
    scene.hear(ask(type, macOf(n), undefined, undefined, { ...(sender ? { sender } : {}), vendorClass: `client ${n % kinds}` }));
    if (n % 3 < livingOfThree) scene.hear(arpFrame("0.0.0.0", `192.168.1.${n % 250}`, { from: macOf(n) }));
    await scene.clock.advance(1000 / perSecond);
  }
  await scene.clock.advance(3000);
}

describe("who drains the pool", () => {
  test("is one incident within five seconds, which ends when it is quiet", async () => {
    const scene = await createLearned();
    const beganAt = scene.clock.now();
    await crowd(scene, { clients: 400, perSecond: 40 });
    expect(starvations(scene)).toMatchObject([{ state: "seen", severity: "high", subject: "pool" }]);
    expect(Date.parse(starvations(scene)[0]?.since ?? "") - beganAt).toBeLessThan(5000);
    await scene.clock.advance(301_000);
    expect(starvations(scene).map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("from one MAC address is named by it, however slowly it goes", async () => {
    const scene = await createLearned({ quiet_seconds: 60 });
    await crowd(scene, { clients: 300, perSecond: 1, sender: "00:0c:29:00:00:66", kinds: 50 });
    expect(starvations(scene)).toMatchObject([{ state: "seen", mac: "00:0c:29:00:00:66" }]);
  });

  test("under the MACs and the software of many clients is seen by the rate", async () => {
    const scene = await createLearned();
    await crowd(scene, { clients: 200, perSecond: 40, kinds: 50 });
    expect(starvations(scene)).toMatchObject([{ state: "seen", severity: "high" }]);
  });

  test("goes on over a restart, and is not raised twice", async () => {
    const scene = await createLearned({ quiet_seconds: 30 });
    await crowd(scene, { clients: 200, perSecond: 40 });
    const after = scene.restart();
    await crowd(after, { first: 200, clients: 1200, perSecond: 40 });
    expect(starvations(after).map(({ state }) => state)).toEqual(["seen"]);
    await after.clock.advance(31_000);
    expect(starvations(after).map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("and then some telephones with random MACs: the attack ends, and is not raised again", async () => {
    const scene = await createLearned({ quiet_seconds: 6 });
    await playCapture(scene, "dhcp-starvation");
    await scene.clock.advance(4000);
    expect(starvations(scene)).toMatchObject([{ state: "seen" }]);
    await scene.clock.advance(12_000);
    expect(starvations(scene).map(({ state }) => state)).toEqual(["seen", "ended"]);
    await playCapture(scene, "random-macs");
    await scene.clock.advance(10_000);
    await crowd(scene, { clients: 15, perSecond: 2 });
    expect(scene.incidents().map(({ kind, state }) => `${kind} ${state}`)).toEqual(["dhcp_exhaustion seen", "dhcp_exhaustion ended"]);
  });

  test("is a second attack when he begins again", async () => {
    const scene = await createLearned({ quiet_seconds: 6 });
    await crowd(scene, { clients: 100, perSecond: 20 });
    await scene.clock.advance(10_000);
    await crowd(scene, { first: 100, clients: 100, perSecond: 20 });
    expect(starvations(scene).map(({ state }) => state)).toEqual(["seen", "ended", "seen"]);
  });
});

describe("clients that nobody knows are normal", () => {
  test.each([
    ["that live, as after a power cut", { clients: 300, perSecond: 40, livingOfThree: 2 }],
    ["of which a third is heard beside DHCP", { clients: 300, perSecond: 40, livingOfThree: 1 }],
    ["that find their address taken again and again", { clients: 300, perSecond: 40, type: "decline" }],
    ["that are a few telephones with random MACs", { clients: 25, perSecond: 20 }],
    ["that come to a meeting behind an access point that answers ARP for them, with many kinds of software", { clients: 100, perSecond: 1.5, kinds: 12 }],
  ] as const)("%s", async (_, who) => {
    const scene = await createLearned();
    await crowd(scene, who);
    await scene.clock.advance(MINUTE);
    expect(scene.incidents()).toEqual([]);
  });

  test("that are telephones with random MACs until the pool is empty", async () => {
    const scene = await createLearned();
    for (let n = 0; n < 300; n += 1) {
      scene.hear(ask("discover", macOf(n)), ask("request", macOf(n), SERVER.server), arpFrame("0.0.0.0", `192.168.1.${n % 250}`, { from: macOf(n) }));
      await scene.clock.advance(500);
    }
    expect(starvations(scene)).toEqual([]);
  });
});

test("forged clients by the ten thousand are one incident", async () => {
  const scene = await createLearned();
  for (let n = 0; n < 20_000; n += 1) {
    const frame = ask("discover");
    for (const at of MAC_OFFSETS) new DataView(frame.buffer, frame.byteOffset).setUint32(at + 2, n);
    scene.hear(frame);
    if (n % 2000 === 0) await scene.clock.advance(500);
  }
  await scene.clock.advance(3000);
  expect(starvations(scene)).toHaveLength(1);
});
