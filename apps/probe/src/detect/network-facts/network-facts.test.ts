import { MAX_NETWORK_FACTS, NETWORK_FACT_KINDS, NetworkFact, NetworkLook } from "@lanthorn/contract/uplink";
import { encodeArp, encodeEthernet, ETHER_TYPE } from "@lanthorn/packets";
import { toInstant } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { ip, mac, ndpFrame } from "../../observe/testing/frames.ts";
import { answer, RELAY, ROGUE, SERVER } from "../dhcp-servers/testing/dhcp-frames.ts";
import { createGuardScene, OWN_LINK } from "../testing/guard-scene.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const [OTHER_MAC] = ["00:aa:bb:cc:dd:99"] as const;
const arp = (from: string, address: string) => encodeEthernet({
  destination: mac(OWN_LINK.mac), source: mac(from), vlanTags: [], etherType: ETHER_TYPE.arp, payload: encodeArp({
    operation: 2, senderHardwareAddress: mac(from), senderProtocolAddress: ip(address), targetHardwareAddress: mac(OWN_LINK.mac),
    targetProtocolAddress: ip("192.168.1.2"),
  }),
});
const advert = (router: string, from: string) => ndpFrame({
  kind: "router-advertisement", hopLimit: 64, isManaged: false, hasOtherConfiguration: false, preference: "medium", routerLifetimeSeconds: 1800,
  reachableTimeMs: 0, retransmissionTimerMs: 0, options: [{ kind: "recursive-dns-servers", lifetimeSeconds: 600, servers: [ip("2001:db8::53")] }],
}, router, "ff02::1", { from });

type Scene = ReturnType<typeof createGuardScene>;
const report = (scene: Scene) => {
  const { facts, looks } = scene.guards.networkFacts() ?? { facts: [], looks: [] };
  return { facts: NetworkFact.array().max(MAX_NETWORK_FACTS).parse(facts), looks: NetworkLook.array().parse(looks) };
};
const named = (scene: Scene) => Object.fromEntries(report(scene).facts.map(({ what, name, known, macs }) => [`${what} ${name}`, [known, ...macs]]));

/** With the link's server and router learned. */
async function createLearned(settings: object = {}): Promise<Scene> {
  const scene = createGuardScene({ settings: { learning_minutes: 10, active: false, ...settings } });
  await scene.clock.advance(1000);
  for (let second = 0; second < 3; second += 1) {
    scene.hear(answer(SERVER), arp(SERVER.mac, SERVER.server), advert("fe80::1", SERVER.mac));
    await scene.clock.advance(2000);
  }
  await scene.clock.advance(11 * MINUTE);
  return scene;
}

test("servers and routers of the link are known, with what they hand out and since when they were heard", async () => {
  const scene = await createLearned();
  scene.hear(answer(SERVER));
  expect(named(scene)).toEqual({
    "dhcp_server 192.168.1.1": [true, SERVER.mac], "router fe80::1": [true, SERVER.mac], "gateway 192.168.1.1": [true, SERVER.mac],
    "dns_server 192.168.1.1": [true], "dns_server 2001:db8::53": [true],
  });
  expect(report(scene).facts[0]).toMatchObject({ vlan_id: null, seen_at: toInstant(scene.clock.now()) });
});

test("what appears later is there, and not known: it is no word for normal", async () => {
  const scene = await createLearned();
  scene.hear(answer(ROGUE), arp(ROGUE.mac, ROGUE.gateway), advert("fe80::66", ROGUE.mac));
  expect(named(scene)).toMatchObject({
    "dhcp_server 192.168.1.66": [false, ROGUE.mac], "gateway 192.168.1.66": [false], "dns_server 192.168.1.66": [false], "router fe80::66": [false, ROGUE.mac],
    "dhcp_server 192.168.1.1": [true, SERVER.mac],
  });
  await scene.clock.advance(1000);
  scene.hear(arp(ROGUE.mac, ROGUE.gateway), answer({ ...SERVER, mac: OTHER_MAC, gateway: ROGUE.gateway }));
  expect(named(scene)).toMatchObject({
    "gateway 192.168.1.66": [false, ROGUE.mac], "dhcp_server 192.168.1.1": [false, SERVER.mac, OTHER_MAC].toSorted((a, b) => (a < b ? -1 : 1)),
  });
});

test("the probe's own frames, answers to relays of other links and what was not heard for a day are no facts", async () => {
  const scene = createGuardScene({ guards: [] });
  await scene.clock.advance(1000);
  scene.hear(answer({ ...SERVER, mac: OWN_LINK.mac }), answer({ ...SERVER, giaddr: "10.9.0.1", isToRelay: true }), arp(OWN_LINK.mac, "192.168.1.1"));
  expect(report(scene).facts).toEqual([]);
  scene.hear(answer({ ...SERVER, vlanId: 20 }), answer({ ...SERVER, mac: RELAY, giaddr: "192.168.1.250" }));
  expect(report(scene).facts.filter(({ what }) => what === "dhcp_server").map(({ vlan_id, macs }) => [vlan_id, macs])).toEqual([[20, [SERVER.mac]], [null, [RELAY]]]);
  await scene.clock.advance(25 * HOUR);
  expect(report(scene).facts).toEqual([]);
});

test("a MAC that was replaced is not of the fact any more after an hour", async () => {
  const scene = createGuardScene({ guards: [] });
  await scene.clock.advance(1000);
  scene.hear(answer(SERVER));
  await scene.clock.advance(HOUR + MINUTE);
  scene.hear(answer({ ...SERVER, mac: OTHER_MAC }));
  expect(named(scene)["dhcp_server 192.168.1.1"]?.slice(1)).toEqual([OTHER_MAC]);
});

test("a flood of forged servers keeps its bound, hides none that was heard before, and makes room when it is over", async () => {
  const scene = createGuardScene({ guards: [] });
  await scene.clock.advance(1000);
  scene.hear(answer(SERVER));
  await scene.clock.advance(1000);
  scene.hear(answer(SERVER));
  for (let n = 0; n < 2000; n += 1) {
    const server = `10.1.${n >> 8}.${n & 255}`;
    scene.hear(answer({ server, mac: `02:66:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`, gateway: server, dns: server }));
  }
  expect(Object.keys(named(scene))).toContain("dhcp_server 192.168.1.1");
  expect(report(scene).facts.length).toBeLessThanOrEqual(MAX_NETWORK_FACTS);
  await scene.clock.advance(2 * MINUTE);
  scene.hear(answer(ROGUE));
  expect(Object.keys(named(scene))).toEqual(expect.arrayContaining(["dhcp_server 192.168.1.1", "dhcp_server 192.168.1.66"]));
});

test("each kind is listened for since the guards watch the interface without a break", async () => {
  const scene = createGuardScene({ guards: [] });
  expect(report(scene).looks).toEqual([]);
  await scene.clock.advance(500);
  const since = toInstant(scene.clock.now());
  await scene.clock.advance(10 * MINUTE);
  expect(report(scene).looks).toEqual(NETWORK_FACT_KINDS.map((what) => ({ what, since, looked_at: toInstant(scene.clock.now()) })));
  scene.guards.configure({ enabled: false });
  expect(scene.guards.networkFacts()).toBeNull();
  await scene.clock.advance(MINUTE);
  scene.guards.configure(undefined);
  await scene.clock.advance(500);
  expect(report(scene).looks[0]?.since).toBe(toInstant(scene.clock.now()));
  expect(createGuardScene({ link: null }).guards.networkFacts()).toEqual({ facts: [], looks: [] });
});
