import { decodeDhcpv6, decodeFrame, dhcpv6Option, encodeDhcpv6 } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { ip, ndpFrame, udpFrame } from "../../observe/testing/frames.ts";
import { inVlan } from "../dhcp-servers/testing/dhcp-frames.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { captureFrames, faultsUnder, hasCaptures } from "../testing/hostile-frames.ts";
import { createDhcpv6ServersGuard } from "./dhcpv6-servers.ts";

const MINUTE = 60_000;
const guards = [createDhcpv6ServersGuard];
const CLIENT = "fe80::5";
const SOURCE_MAC = 6;
const SERVER = { id: 1, address: "fe80::1", mac: "00:aa:bb:cc:dd:01", dns: "2001:db8:1::53", lease: "2001:db8:1::42" } as const;
const ROGUE = { id: 6, address: "fe80::66", mac: "00:aa:bb:cc:dd:66", dns: "fe80::66", lease: undefined } as const;

interface Said {
  /** Last byte of the DUID. */
  readonly id: number;
  readonly address: string;
  readonly mac: string;
  readonly dns?: string | undefined;
  readonly lease?: string | undefined;
  readonly type?: number;
}

function message({ id, dns, lease, type = 2 }: Said): Uint8Array {
  const address = lease ? Uint8Array.of(0, 5, 0, 24, ...ip(lease), 0, 0, 7, 8, 0, 0, 14, 16) : new Uint8Array(0);
  return encodeDhcpv6({
    kind: "exchange", type, transactionId: 7, options: [
      { code: 1, data: Uint8Array.of(0, 3, 0, 1, 1, 2, 3) }, { code: 2, data: Uint8Array.of(0, 3, 0, 1, 0, 0, 0, 0, 0, id) },
      ...(lease ? [{ code: 3, data: Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, ...address) }] : []), ...(dns ? [{ code: 23, data: ip(dns) }] : []),
    ],
  });
}
const answer = (said: Said) => udpFrame(said.address, CLIENT, [547, 546], message(said), { from: said.mac });
const relayed = (said: Said, relay: string) => udpFrame("2001:db8:9::1", "2001:db8:9::2", [547, 547], encodeDhcpv6({
  kind: "relay", type: 13, hopCount: 0, linkAddress: ip(relay), peerAddress: ip(CLIENT), options: [{ code: 9, data: message(said) }],
}), { from: said.mac });
const managed = ndpFrame({
  kind: "router-advertisement", hopLimit: 64, isManaged: true, hasOtherConfiguration: true, preference: "medium", routerLifetimeSeconds: 1800, reachableTimeMs: 0,
  retransmissionTimerMs: 0, options: [],
}, "fe80::1", "ff02::1", { from: SERVER.mac });

async function createLearned(settings: object = {}) {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, ...settings } });
  scene.hear(managed, answer(SERVER), answer({ ...SERVER, type: 7 }));
  await scene.clock.advance(11 * MINUTE);
  scene.hear(answer(SERVER));
  return scene;
}

describe("an unknown DHCPv6 server", () => {
  test.each([
    ["that names itself as name server", ROGUE, "high"],
    ["that gives addresses of another network", { ...ROGUE, dns: undefined, lease: "2001:db8:66::1" }, "high"],
    ["that gives nothing", { ...ROGUE, dns: undefined }, "medium"],
    ["that speaks from the probe's own MAC", { ...ROGUE, mac: "02:00:00:00:00:01" }, "high"],
  ] as const)("%s is one incident, which ends when it is quiet", async (_, rogue, severity) => {
    const scene = await createLearned({ active: false });
    for (let n = 0; n < 5; n += 1) {
      scene.hear(answer(rogue), answer({ ...rogue, type: 7 }), answer(SERVER));
      await scene.clock.advance(1000);
    }
    expect(scene.incidents()).toMatchObject([{ kind: "dhcpv6_server", severity, subject: rogue.mac, mac: rogue.mac, facts: { duid: "00030001000000000006" }, expected_macs: [SERVER.mac] }]);
    await scene.clock.advance(301_000);
    expect(scene.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("is found in a relay's answer too, and says what it gives", async () => {
    const scene = await createLearned();
    scene.hear(relayed({ ...ROGUE, lease: "2001:db8:66::1" }, "2001:db8:9::1"));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{ facts: { dns: "fe80::66", networks: "2001:db8:66::/64", lease_seconds: "3600", relay: "2001:db8:9::1" } }]);
  });

  test.each([
    ["after the learning period", 10, answer(ROGUE)],
    ["within it, that contradict the known one", 60, answer(ROGUE)],
    ["within it, that give what the known one gives", 60, answer({ ...ROGUE, dns: SERVER.dns })],
  ])("and ten thousand forged ones are one incident that ends, and none is kept: %s", async (_, minutes, like) => {
    const scene = await createLearned({ learning_minutes: minutes, active: false });
    const duidAt = 14 + 40 + 8 + 4 + 11 + 4 + 8;
    for (let n = 0; n < 10_000; n += 1) {
      const frame = like.slice();
      for (const at of [SOURCE_MAC + 4, duidAt]) new DataView(frame.buffer).setUint16(at, n + 256);
      scene.hear(frame);
      if (n % 1000 !== 999) continue;
      scene.hear(answer(SERVER));
      await scene.clock.advance(500);
    }
    await scene.clock.advance(2000);
    expect(scene.incidents()).toMatchObject([{ kind: "dhcpv6_server", subject: "*" }]);
    await scene.clock.advance(310_000);
    expect(scene.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual(["00030001000000000001"]);
    expect(scene.db.prepare("SELECT count(*) AS rows FROM guard_learned WHERE scope = 'dhcpv6_servers'").get()).toEqual({ rows: 1 });
  });

  test.each([["other name servers", SERVER], ["name servers where the server gives none", { ...SERVER, dns: undefined }]])("under a known DUID with %s is an impostor", async (_, server) => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 10 } });
    scene.hear(managed, answer(server));
    await scene.clock.advance(11 * MINUTE);
    scene.hear(answer(server));
    scene.hear(answer({ ...SERVER, mac: ROGUE.mac, address: ROGUE.address, dns: ROGUE.dns }));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{ subject: ROGUE.mac, severity: "high", expected_macs: [SERVER.mac] }]);
  });
});

describe("in the learning period", () => {
  test("who contradicts the first is reported and not learned, over a restart too", async () => {
    const scene = createGuardScene({ guards });
    scene.hear(managed, answer(SERVER), answer(ROGUE));
    await scene.clock.advance(1500);
    const after = scene.restart();
    after.hear(answer(ROGUE));
    await after.clock.advance(5000);
    expect(after.incidents()).toMatchObject([{ subject: ROGUE.mac, state: "seen" }]);
    expect(after.guards.learned().map(({ name }) => name)).toEqual(["00030001000000000001"]);
  });

  test("who names itself as name server where no router asks for DHCPv6 is reported; where one does, it is learned", async () => {
    const poisoned = createGuardScene({ guards });
    poisoned.hear(answer(ROGUE));
    await poisoned.clock.advance(5000);
    expect(poisoned.incidents()).toMatchObject([{ kind: "dhcpv6_server", severity: "high" }]);
    expect(poisoned.guards.learned()).toEqual([]);
    const home = createGuardScene({ guards });
    home.hear(answer({ ...SERVER, dns: SERVER.address }));
    await home.clock.advance(1000);
    home.hear(managed);
    await home.clock.advance(10_000);
    expect(home.incidents()).toEqual([]);
    expect(home.guards.learned()).toHaveLength(1);
  });
});

describe("in VLANs and through relays", () => {
  const at = (said: Said, vlanId: number) => inVlan(answer(said), vlanId);
  const second = { ...SERVER, id: 2, address: "fe80::2", mac: "00:aa:bb:cc:dd:02", dns: "2001:db8:2::53", lease: "2001:db8:2::42" };

  test("servers are measured by those of their VLAN: what differs between two is learned, and an unknown one in one of them is reported with it", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 10, active: false } });
    scene.hear(managed, answer(SERVER), at(second, 20));
    await scene.clock.advance(11 * MINUTE);
    scene.hear(answer(SERVER), at(second, 20));
    expect(scene.guards.learned().map(({ name, vlanId }) => [name, vlanId])).toEqual([["00030001000000000001", null], ["00030001000000000002", 20]]);
    scene.hear(at({ ...ROGUE, dns: SERVER.dns }, 20));
    await scene.clock.advance(2000);
    expect(scene.incidents()).toMatchObject([{ severity: "high", subject: ROGUE.mac, vlan_id: 20, expected_macs: [second.mac] }]);
  });

  test("a known server in another one is itself with its own MAC, and an impostor with another and other name servers", async () => {
    const scene = await createLearned({ active: false });
    scene.hear(at({ ...SERVER, lease: "2001:db8:30::42" }, 30));
    await scene.clock.advance(2000);
    expect(scene.incidents()).toEqual([]);
    scene.hear(at({ ...SERVER, mac: ROGUE.mac, dns: ROGUE.dns }, 40));
    await scene.clock.advance(2000);
    expect(scene.incidents()).toMatchObject([{ severity: "high", subject: ROGUE.mac, vlan_id: 40 }]);
  });

  test("what a known server says to relays, each with settings of its own, is no attack, and a relay's questions are no answers", async () => {
    const scene = await createLearned({ active: false });
    const question = udpFrame("2001:db8:9::2", "2001:db8:9::1", [547, 547], encodeDhcpv6({
      kind: "relay", type: 12, hopCount: 0, linkAddress: ip("2001:db8:9::1"), peerAddress: ip(CLIENT), options: [{ code: 9, data: message({ ...ROGUE, type: 1 }) }],
    }), { from: ROGUE.mac });
    scene.hear(relayed({ ...SERVER, dns: "2001:db8:9::53", lease: "2001:db8:9::42" }, "2001:db8:9::1"), relayed({ ...SERVER, dns: "2001:db8:8::53" }, "2001:db8:8::1"), question);
    await scene.clock.advance(5000);
    expect(scene.incidents()).toEqual([]);
    expect(scene.guards.learned().map(({ facts }) => facts["relay"])).toEqual(["", "2001:db8:9::1", "2001:db8:8::1"]);
  });
});

test("one that takes another DUID for each answer is one incident, over a restart too, and says what it said first", async () => {
  let scene = await createLearned({ active: false });
  for (let n = 0; n < 60; n += 1) {
    scene.hear(answer({ ...ROGUE, id: 10 + n }), answer(SERVER));
    await scene.clock.advance(1000);
    if (n === 30) scene = scene.restart();
  }
  expect(scene.incidents().map(({ subject, facts }) => [subject, facts?.["duid"]])).toEqual([[ROGUE.mac, "0003000100000000000a"]]);
  await scene.clock.advance(310_000);
  expect(scene.incidents().at(-1)).toMatchObject({ state: "ended" });
});

test("a known server that has been installed anew has another DUID, and is no other server", async () => {
  const scene = await createLearned({ active: false });
  scene.hear(answer({ ...SERVER, id: 9 }), answer({ ...SERVER, id: 9, type: 7 }));
  await scene.clock.advance(5000);
  expect(scene.incidents()).toEqual([]);
});

test("a second server with the same settings, an allowed one, a relay and a failover are normal", async () => {
  const second = { ...SERVER, id: 2, address: "fe80::2", mac: "00:aa:bb:cc:dd:02" };
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, dhcp_servers: ["fe80::3"], active: false } });
  scene.hear(managed, answer(SERVER), answer(second));
  await scene.clock.advance(11 * MINUTE);
  scene.hear(answer(second), answer({ ...ROGUE, id: 3, address: "fe80::3" }), relayed(SERVER, "2001:db8:8::1"), answer({ ...SERVER, mac: "00:aa:bb:cc:dd:09" }));
  await scene.clock.advance(5000);
  expect(scene.incidents()).toEqual([]);
});

test("servers are asked by Solicit without Rapid Commit and Information-request alone", async () => {
  const scene = createGuardScene({ guards });
  await scene.clock.advance(2000);
  const messages = scene.sent.map((bytes) => {
    const frame = decodeFrame(bytes);
    const read = frame.ok ? decodeDhcpv6(frame.value.payload) : null;
    return read?.ok ? [read.value.type, dhcpv6Option(read.value.options, 14)] : [];
  });
  expect(messages).toEqual([[1, null], [11, null]]);
});

test("damaged messages make it throw nothing", async () => {
  expect(await faultsUnder(createDhcpv6ServersGuard, [answer(SERVER), relayed(ROGUE, "2001:db8::1"), managed])).toEqual([]);
});

test.skipIf(!hasCaptures).each(["dhcpv6-ia-na.pcap", "dhcpv6-ia-pd.pcap", "dhcpv6-domain-list.pcap"])("%s is quiet", async (name) => {
  const scene = createGuardScene({ guards });
  scene.hear(...captureFrames(name));
  await scene.clock.advance(MINUTE);
  expect(scene.incidents()).toEqual([]);
});
