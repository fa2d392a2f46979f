import { encodeUtf8 } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { answer, ask, CLIENT, inVlan, macOf, RELAY, ROGUE, SERVER } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const guards = [createDhcpServersGuard];
/** The same server as the others see it: through a relay, which is the gateway of its own subnet. */
const RELAYED = { ...SERVER, mac: RELAY, giaddr: "192.168.1.9", sourceIp: "192.168.1.9" };
/** The same server's interface in VLAN 20. */
const VLAN_20 = { server: "10.20.0.1", mac: SERVER.mac, gateway: "10.20.0.1", dns: SERVER.dns, vlanId: 20 } as const;

/** What is heard in the learning period, and the ten minutes after it. */
async function learned(frames: readonly Uint8Array[], settings: object = {}): Promise<GuardScene> {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, active: false, ...settings } });
  scene.hear(...frames);
  await scene.clock.advance(11 * MINUTE);
  scene.hear(...frames);
  expect(scene.incidents()).toEqual([]);
  return scene;
}
/** @returns The incidents two seconds later. */
async function after(scene: GuardScene, ...frames: readonly Uint8Array[]) {
  scene.hear(...frames);
  await scene.clock.advance(2000);
  return scene.incidents();
}
const rows = (scene: GuardScene) => scene.guards.learned().map(({ name, vlanId, facts }) => [name, vlanId, facts["relay"], facts["gateway"]]);

describe("in VLANs", () => {
  test("a server that serves two, each with its gateway, is learned for each, and in a third one by its MAC", async () => {
    const scene = await learned([answer(SERVER), answer({ ...SERVER, gateway: "10.20.0.1", vlanId: 20 })]);
    expect(rows(scene)).toEqual([[SERVER.server, null, "", SERVER.gateway], [SERVER.server, 20, "", "10.20.0.1"]]);
    expect(await after(scene, answer({ ...SERVER, gateway: "10.30.0.1", vlanId: 30 }), answer({ ...SERVER, gateway: "10.20.0.1", vlanId: 20 }))).toEqual([]);
    expect(rows(scene)).toHaveLength(3);
  });

  test("a known server's name in another one, with another MAC and another gateway, is an impostor there", async () => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...SERVER, mac: ROGUE.mac, gateway: "10.20.0.66", vlanId: 20 }))).toMatchObject([{ severity: "critical", subject: ROGUE.mac, vlan_id: 20 }]);
  });

  test("an unknown server in one of two is reported with it, and measured by the servers there", async () => {
    const scene = await learned([answer(SERVER), answer(VLAN_20)]);
    const rogue = { server: "10.20.0.66", mac: ROGUE.mac, gateway: VLAN_20.gateway, dns: VLAN_20.dns, vlanId: 20 };
    expect(await after(scene, answer(rogue))).toMatchObject([{ severity: "medium", subject: rogue.server, vlan_id: 20, expected_macs: [SERVER.mac] }]);
    const foreign = await learned([answer(SERVER), answer(VLAN_20)]);
    expect(await after(foreign, answer({ ...rogue, gateway: "10.20.0.67" }))).toMatchObject([{ severity: "critical", vlan_id: 20 }]);
  });

  test("an unknown server in one without a known server is not measured by the gateway of our own link", async () => {
    const scene = await learned([answer(SERVER)]);
    const fresh = { server: "10.40.0.5", mac: macOf(5), gateway: "10.40.0.1", dns: "10.40.0.1", vlanId: 40 };
    expect(await after(scene, answer(fresh))).toMatchObject([{ severity: "high", subject: fresh.server, vlan_id: 40, expected_macs: [] }]);
  });

  test("what contradicts each other in one is not learned, and what differs between two is", async () => {
    const scene = createGuardScene({ guards, settings: { active: false } });
    const incidents = await after(scene, answer(VLAN_20), answer(SERVER), answer({ ...ROGUE, vlanId: 20 }));
    expect(incidents).toMatchObject([{ subject: ROGUE.server, vlan_id: 20 }]);
    expect(rows(scene).map(([name, vlanId]) => [name, vlanId])).toEqual([[VLAN_20.server, 20], [SERVER.server, null]]);
  });

  test("none answers in one of two: that one is reported, and ends by its own server's answer", async () => {
    const scene = await learned([answer(SERVER), answer(VLAN_20)]);
    for (let n = 0; n < 4; n += 1) {
      scene.hear(...[CLIENT, macOf(1)].flatMap((client) => [ask("discover", client), inVlan(ask("discover", client), 20)]), answer(SERVER));
      await scene.clock.advance(3000);
    }
    expect(scene.incidents()).toMatchObject([{ kind: "dhcp_missing", subject: "vlan 20", vlan_id: 20 }]);
    expect((await after(scene, answer(SERVER))).at(-1)).toMatchObject({ state: "seen" });
    expect((await after(scene, answer(VLAN_20))).at(-1)).toMatchObject({ kind: "dhcp_missing", state: "ended" });
  });
});

describe("through relays", () => {
  test("a known server is itself: with the relay's own MAC, and with another of its own settings in the learning period", async () => {
    const scene = await learned([answer(SERVER), answer(RELAYED), answer({ ...RELAYED, giaddr: "192.168.2.9", gateway: "192.168.2.1", vlanId: 20 })]);
    expect(rows(scene).map(([name, , relay]) => [name, relay])).toEqual([[SERVER.server, ""], [SERVER.server, "192.168.1.9"], [SERVER.server, "192.168.2.9"]]);
    expect(await after(scene, answer(RELAYED), answer({ ...RELAYED, type: "ack" }))).toEqual([]);
  });

  test("a second relay of the link that begins later is normal where it gives the same, and not where it leads elsewhere", async () => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...RELAYED, mac: macOf(8), giaddr: "192.168.1.8" }))).toEqual([]);
    expect(await after(scene, answer({ ...RELAYED, mac: ROGUE.mac, giaddr: "192.168.1.7", gateway: ROGUE.gateway }))).toMatchObject([{ severity: "critical", subject: ROGUE.mac, expected_macs: [SERVER.mac] }]);
  });

  test("a made-up relay is not learned even in the learning period where it leads away from our gateway", async () => {
    const scene = createGuardScene({ guards });
    expect(await after(scene, answer(SERVER), answer({ ...RELAYED, mac: ROGUE.mac, gateway: ROGUE.gateway }))).toMatchObject([{ severity: "critical", subject: ROGUE.mac }]);
    expect(rows(scene)).toEqual([[SERVER.server, null, "", SERVER.gateway]]);
  });

  test("an unknown server's offers are reported, with the relay", async () => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...ROGUE, mac: RELAY, giaddr: "192.168.1.9" }))).toMatchObject([{ severity: "critical", subject: ROGUE.server, facts: { relay: "192.168.1.9" } }]);
  });

  test("what a server says to the relay of another network is no attack: silent from a known one, information from another", async () => {
    const scene = await learned([answer(SERVER)]);
    const remote = { giaddr: "10.9.0.1", gateway: "10.9.0.1", isToRelay: true } as const;
    expect(await after(scene, answer({ ...SERVER, ...remote }), answer({ ...SERVER, ...remote, type: "ack" }))).toEqual([]);
    expect(await after(scene, answer({ ...ROGUE, ...remote }))).toMatchObject([{ severity: "info", subject: ROGUE.server, facts: { relay: "10.9.0.1" } }]);
  });

  test("a relay's questions are those of clients elsewhere: they want no answer here, choose no server and drain no pool", async () => {
    const scene = await learned([answer(SERVER)]);
    for (let n = 0; n < 200; n += 1) {
      const at = { giaddr: "10.9.0.1", sender: RELAY };
      scene.hear(ask("discover", macOf(n), undefined, undefined, at), ask("request", macOf(n), ROGUE.server, undefined, at));
      await scene.clock.advance(100);
    }
    expect(await after(scene)).toEqual([]);
  });

  test("an answer to a relay is none to the clients of this link", async () => {
    const scene = await learned([answer(SERVER)]);
    for (let n = 0; n < 5; n += 1) {
      scene.hear(ask("discover"), ask("discover", macOf(1)), answer({ ...SERVER, giaddr: "10.9.0.1", gateway: "10.9.0.1", isToRelay: true }));
      await scene.clock.advance(3000);
    }
    expect(scene.incidents()).toMatchObject([{ kind: "dhcp_missing", subject: "link" }]);
  });
});

describe("a known server's name from another MAC", () => {
  test.each([
    ["with another gateway", { gateway: ROGUE.gateway }, "critical"],
    ["with other name servers", { dns: ROGUE.dns }, "high"],
    ["with a proxy script", { options: [[252, encodeUtf8("http://192.168.1.66/wpad.dat")]] }, "high"],
  ] as const)("%s is an impostor", async (_, change, severity) => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...SERVER, ...change, mac: ROGUE.mac }))).toMatchObject([{ severity, subject: ROGUE.mac, expected_macs: [SERVER.mac] }]);
    expect(scene.guards.learned()).toMatchObject([{ macs: [SERVER.mac] }]);
  });

  test("with a gateway and name servers where the server gives none is an impostor", async () => {
    const scene = await learned([answer({ ...SERVER, gateway: undefined })]);
    expect(await after(scene, answer({ ...SERVER, mac: ROGUE.mac, gateway: ROGUE.gateway }))).toMatchObject([{ severity: "critical", subject: ROGUE.mac }]);
  });

  test("that gives the same while the server is alive is information, and never the server's own", async () => {
    const scene = await learned([answer(SERVER)]);
    const twin = answer({ ...SERVER, mac: macOf(9) });
    expect(await after(scene, twin, answer(SERVER))).toMatchObject([{ severity: "info", subject: macOf(9), expected_macs: [SERVER.mac] }]);
    expect(scene.guards.learned()).toMatchObject([{ macs: [SERVER.mac] }]);
    const again = scene.restart();
    await after(again, twin, answer(SERVER));
    expect(again.guards.learned()).toMatchObject([{ macs: [SERVER.mac] }]);
    expect(again.incidents()).toHaveLength(1);
  });

  test("that takes over from a silent one is its own: a virtual address that moves, a new network card", async () => {
    const scene = await learned([answer(SERVER)]);
    await scene.clock.advance(2 * MINUTE);
    const moved = { ...SERVER, mac: macOf(9) };
    expect(await after(scene, answer(moved), answer({ ...moved, type: "ack" }))).toEqual([]);
    expect(scene.guards.learned()).toMatchObject([{ macs: [SERVER.mac, macOf(9)] }]);
    expect(await after(scene, answer(SERVER), answer(moved))).toEqual([]);
  });
});

describe("several servers are normal", () => {
  const second = { ...SERVER, server: "192.168.1.3", mac: macOf(3) };

  test("as a failover pair that was learned, one of them silent for two hours and then alone", async () => {
    const scene = await learned([answer(SERVER), answer(second)]);
    await scene.clock.advance(120 * MINUTE);
    expect(await after(scene, answer(second), answer(second))).toEqual([]);
    expect(await after(scene.restart(), answer(second), answer(SERVER))).toEqual([]);
  });

  test("as a group that is declared, whatever they hand out and whenever they come", async () => {
    const group = ["192.168.1.3", "192.168.1.4", "192.168.1.5"];
    const scene = await learned([answer(SERVER)], { dhcp_servers: group });
    const incidents = await after(scene, ...group.map((server, at) => answer({ ...second, server, mac: macOf(at), gateway: `192.168.1.${at + 100}` })));
    expect(incidents).toEqual([]);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual([SERVER.server, ...group]);
  });

  test("as a virtual address of one that is known", async () => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...SERVER, server: "192.168.1.254" }))).toEqual([]);
  });

  test("and one whose frames are heard twice, as by two network cards on one link, is one row, and one incident where it is a rogue", async () => {
    const scene = await learned([answer(SERVER), answer(SERVER)]);
    expect(scene.guards.learned()).toHaveLength(1);
    const incidents = await after(scene, answer(ROGUE), answer(ROGUE));
    expect(incidents).toMatchObject([{ subject: ROGUE.server, count: 1 }]);
  });
});

describe("a PXE server", () => {
  const pxe = { server: "192.168.1.5", mac: macOf(5), yiaddr: "0.0.0.0", options: [[60, encodeUtf8("PXEClient")], [66, encodeUtf8("192.168.1.5")], [67, encodeUtf8("boot.efi")]] } as const;

  test("that says where to boot from and no more is information, in any VLAN and as an acknowledgement too, and ends", async () => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...pxe, vlanId: 20 }), answer({ ...pxe, type: "ack", vlanId: 20 }))).toMatchObject([{ severity: "info", subject: pxe.server, vlan_id: 20, facts: { boot_file: "boot.efi" } }]);
    await scene.clock.advance(301_000);
    expect(scene.incidents().map(({ state, severity }) => `${state} ${severity}`)).toEqual(["seen info", "ended info"]);
  });

  test.each([
    ["a gateway", { gateway: ROGUE.gateway }, "critical"],
    ["name servers", { dns: ROGUE.dns }, "high"],
    ["an address", { yiaddr: "192.168.1.77" }, "high"],
    ["a proxy script", { options: [...pxe.options, [252, encodeUtf8("http://192.168.1.5/wpad.dat")]] }, "high"],
    ["a route to everything", { options: [...pxe.options, [121, Uint8Array.of(0, 192, 168, 1, 66)]] }, "critical"],
  ] as const)("that hands out %s is a rogue, known for its boot files or not", async (_, change, severity) => {
    for (const known of [[answer(SERVER)], [answer(SERVER), answer(pxe)]]) {
      const scene = await learned(known);
      expect(await after(scene, answer({ ...pxe, ...change }))).toMatchObject([{ severity, subject: pxe.server }]);
    }
  });

  test("that is a known address server as well is silent", async () => {
    const scene = await learned([answer(SERVER)]);
    expect(await after(scene, answer({ ...pxe, server: SERVER.server, mac: SERVER.mac }))).toEqual([]);
  });
});
