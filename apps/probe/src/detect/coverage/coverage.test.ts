import { ProbeCoverage } from "@lanthorn/contract/uplink";
import { encodeArp, encodeEthernet, ETHER_TYPE, parseIp, parseMac } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import type { LinkFacts } from "../../capture/link.ts";
import { createGuardScene, OWN_LINK } from "../testing/guard-scene.ts";

const bytesOf = (bytes: Uint8Array | null) => bytes ?? new Uint8Array();
const mac = (text: string) => bytesOf(parseMac(text));
const OWN = OWN_LINK.mac;
const [A, B, GATEWAY_MAC] = ["02:00:00:00:00:0a", "02:00:00:00:00:0b", "02:00:00:00:00:fe"] as const;
const ALL_NODES = "33:33:00:00:00:01";
/** For local experiments: nothing reads further. */
const ANY_TYPE = 0x88b5;

const frame = (from: string, to: string, etherType: number, payload: Uint8Array = new Uint8Array(46)) =>
  encodeEthernet({ destination: mac(to), source: mac(from), vlanTags: [], etherType, payload });
/** A header with nothing behind it. */
const ipv6 = (from: string) => frame(from, ALL_NODES, ETHER_TYPE.ipv6, Uint8Array.of(0x60, 0, 0, 0, 0, 0, 59, 255, ...bytesOf(parseIp("fe80::a")), ...bytesOf(parseIp("ff02::1"))));
const tagged = (from: string, vlanId: number) => Uint8Array.of(...mac("ff:ff:ff:ff:ff:ff"), ...mac(from), 0x81, 0, vlanId >> 8, vlanId & 255, 0x88, 0xb5, ...new Uint8Array(46));
const arpReply = (from: string, ip: string, to = OWN) => frame(from, to, ETHER_TYPE.arp, encodeArp({
  operation: 2, senderHardwareAddress: mac(from), senderProtocolAddress: bytesOf(parseIp(ip)), targetHardwareAddress: mac(to),
  targetProtocolAddress: bytesOf(parseIp("192.168.1.2")),
}));
/** 802.3 with LLC behind its length. */
const llc = (to: string, payload: readonly number[]) => Uint8Array.of(...mac(to), ...mac(A), 0, payload.length, ...payload, ...new Uint8Array(46));
const CDP = llc("01:00:0c:cc:cc:cc", [0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0, 2, 180]);
const DTP = llc("01:00:0c:cc:cc:cc", [0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0x04, 1]);
const BPDU = llc("01:80:c2:00:00:00", [0x42, 0x42, 3, 0, 0, 0, 0]);

async function start(link: LinkFacts | null = OWN_LINK) {
  const scene = createGuardScene({ guards: [], link });
  await scene.clock.advance(6000);
  const report = () => ProbeCoverage.parse(scene.guards.coverage());
  return { scene, report, values: () => Object.fromEntries(Object.entries(report()).map(([name, { value }]) => [name, value])) };
}
const NOTHING = { vlans: [], other_hosts: "none", gateway: "silent", lldp: false, cdp: false, spanning_tree: false, ipv6: false, dhcp: "none" };

describe("coverage", () => {
  test("of a silent network is nothing, and the probe's own frames do not count", async () => {
    const { scene, values } = await start();
    scene.hear(ipv6(OWN), arpReply(OWN, "192.168.1.1"), frame(OWN, A, ANY_TYPE), frame(A, OWN, ANY_TYPE));
    await scene.clock.advance(6000);
    expect(values()).toEqual(NOTHING);
  });

  test.each([
    ["ipv6", true, ipv6(A)], ["lldp", true, frame(A, "01:80:c2:00:00:0e", ETHER_TYPE.lldp)], ["cdp", true, CDP],
    ["spanning_tree", true, BPDU], ["gateway", "answers", arpReply(GATEWAY_MAC, "192.168.1.1")], ["vlans", [12], tagged(A, 12)],
    ["other_hosts", "one_way", frame(A, B, ANY_TYPE)],
  ])("has %s when it is seen, since then, and not for ever", async (name, value, seen) => {
    const { scene, values, report } = await start();
    expect(values()).toEqual(NOTHING);
    const before = scene.clock.now();
    scene.hear(seen);
    await scene.clock.advance(6000);
    expect(values()).toEqual({ ...NOTHING, [name]: value });
    const { since } = report()[name as keyof ProbeCoverage];
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before);
    await scene.clock.advance(60_000);
    expect(report()[name as keyof ProbeCoverage]).toEqual({ value, since });
    await scene.clock.advance(3_700_000);
    expect(values()).toEqual(NOTHING);
  });

  test("does not take what else goes to CDP's address for CDP", async () => {
    const { scene, values } = await start();
    scene.hear(DTP);
    await scene.clock.advance(6000);
    expect(values()).toEqual(NOTHING);
  });

  test("knows a mirror port by both directions again and again, not by what a switch floods", async () => {
    const { scene, values } = await start();
    for (let look = 0; look < 20; look += 1) {
      scene.hear(frame(A, B, ANY_TYPE));
      await scene.clock.advance(5000);
    }
    expect(values()["other_hosts"]).toBe("one_way");
    scene.hear(frame(A, B, ANY_TYPE), frame(B, A, ANY_TYPE));
    await scene.clock.advance(6000);
    expect(values()["other_hosts"]).toBe("one_way");
    for (let look = 0; look < 4; look += 1) {
      scene.hear(frame(A, B, ANY_TYPE), frame(B, A, ANY_TYPE));
      await scene.clock.advance(5000);
    }
    expect(values()["other_hosts"]).toBe("both_ways");
  });

  test("has no gateway where the interface has none, and nothing before the first look", async () => {
    expect((await start(null)).values()).toMatchObject({ gateway: "none" });
    expect(createGuardScene({ guards: [] }).guards.coverage()).toBeNull();
  });

  test("keeps to its bounds whatever comes", async () => {
    const { scene, report } = await start();
    for (let vlanId = 1; vlanId <= 4094; vlanId += 1) scene.hear(tagged(A, vlanId));
    for (let n = 0; n < 5000; n += 1) {
      const from = `02:00:00:01:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
      scene.hear(frame(from, B, ANY_TYPE), Uint8Array.from({ length: n % 80 }, (_, at) => (at * 31 + n) & 255));
    }
    await scene.clock.advance(6000);
    expect(report().vlans.value).toHaveLength(64);
  });
});
