import { describe, expect, test } from "vitest";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { answer, ROGUE, SERVER } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const guards = [createDhcpServersGuard];
const NEW = "192.168.1.254";
const changed = (gateway: string) => answer({ ...SERVER, gateway });
const states = (scene: GuardScene) => scene.incidents().map(({ kind, state, severity }) => `${kind} ${state} ${severity}`);
const gateways = (scene: GuardScene) => scene.guards.learned().map(({ vlanId, facts }) => [vlanId, facts["gateway"]]);

async function createLearned(settings: object = {}, frames = [answer(SERVER)]): Promise<GuardScene> {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, active: false, ...settings } });
  scene.hear(...frames);
  await scene.clock.advance(11 * MINUTE);
  scene.hear(...frames);
  return scene;
}
/** The server answers once a minute. */
async function answers(scene: GuardScene, minutes: number, ...frames: readonly Uint8Array[]): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    scene.hear(...frames);
    await scene.clock.advance(MINUTE);
  }
}

describe("another gateway from a known server", () => {
  test("is one incident at once, and is learned and over when it has stayed for ten minutes", async () => {
    const scene = await createLearned();
    scene.hear(changed(NEW));
    await scene.clock.advance(2000);
    expect(scene.incidents()).toMatchObject([{
      kind: "gateway_changed", state: "seen", severity: "medium", ip: NEW, mac: SERVER.mac, expected_macs: [SERVER.mac],
      facts: { server: SERVER.server, gateway: NEW, known_gateway: SERVER.gateway },
    }]);
    await answers(scene, 5, changed(NEW));
    expect(gateways(scene)).toEqual([[null, SERVER.gateway]]);
    await answers(scene, 7, changed(NEW));
    expect(states(scene).at(-1)).toBe("gateway_changed ended medium");
    expect(new Set(scene.incidents().map(({ since }) => since)).size).toBe(1);
    expect(gateways(scene)).toEqual([[null, NEW]]);
    const ended = scene.incidents().length;
    await answers(scene, 5, changed(NEW));
    expect(scene.incidents()).toHaveLength(ended);
  });

  test("goes on over a restart, is not raised twice, and ends as well", async () => {
    const scene = await createLearned();
    await answers(scene, 3, changed(NEW));
    const after = scene.restart();
    await answers(after, 12, changed(NEW));
    expect(new Set(after.incidents().map(({ since }) => since)).size).toBe(1);
    expect(states(after).at(-1)).toBe("gateway_changed ended medium");
    expect(gateways(after)).toEqual([[null, NEW]]);
  });

  test("that is taken back ends when it is quiet, and is forgotten: the next change is no double tongue", async () => {
    const scene = await createLearned();
    await answers(scene, 2, changed(NEW));
    await answers(scene, 20, answer(SERVER));
    expect(states(scene).at(-1)).toBe("gateway_changed ended medium");
    expect(gateways(scene)).toEqual([[null, SERVER.gateway]]);
    scene.hear(changed(ROGUE.gateway));
    await scene.clock.advance(2000);
    expect(states(scene).at(-1)).toBe("gateway_changed seen medium");
  });

  test("in turn with the known one is high, is never learned, and ends when one of them is silent", async () => {
    const scene = await createLearned();
    await answers(scene, 20, changed(ROGUE.gateway), answer(SERVER));
    expect(states(scene).at(-1)).toBe("gateway_changed seen high");
    expect(gateways(scene)).toEqual([[null, SERVER.gateway]]);
    await answers(scene, 7, answer(SERVER));
    expect(states(scene).at(-1)).toBe("gateway_changed ended high");
    expect(new Set(scene.incidents().map(({ since }) => since)).size).toBe(1);
  });

  test("by a classless route is one too", async () => {
    const scene = await createLearned();
    await answers(scene, 1, answer({ ...SERVER, options: [[121, Uint8Array.of(1, 0, 192, 168, 1, 66, 1, 128, 192, 168, 1, 66)]] }));
    expect(scene.incidents()).toMatchObject([{ kind: "gateway_changed", ip: ROGUE.gateway }]);
  });

  test("in two VLANs is an incident for each, beside that of a gateway's MAC", async () => {
    const vlan = { ...SERVER, vlanId: 20, gateway: "10.20.0.1" };
    const scene = await createLearned({}, [answer(SERVER), answer(vlan)]);
    await answers(scene, 1, changed(NEW), answer({ ...vlan, gateway: "10.20.0.254" }));
    expect(scene.incidents().map(({ subject, vlan_id: vlanId }) => [subject, vlanId])).toEqual([["dhcp 192.168.1.1", null], ["dhcp 192.168.1.1 vlan 20", 20]]);
    await answers(scene, 11, answer(SERVER), answer({ ...vlan, gateway: "10.20.0.254" }));
    expect(gateways(scene)).toEqual([[null, SERVER.gateway], [20, "10.20.0.254"]]);
  });

  test("that the operator allows, and one more beside the known one within the learning period, are normal", async () => {
    const allowed = await createLearned({ routers: [NEW] });
    await answers(allowed, 3, changed(NEW));
    expect(allowed.incidents()).toEqual([]);
    const learning = createGuardScene({ guards, settings: { active: false } });
    await answers(learning, 2, answer(SERVER), changed(NEW));
    expect(learning.incidents()).toEqual([]);
  });
});
