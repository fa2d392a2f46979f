import { parseIp, parseMac } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createAddressGuard } from "./address-guard.ts";
import { advertisement, arpReply, arpRequest, createSettledLan, createSmallLan, type LanHost, solicitation } from "./testing/small-lan.ts";

const GATEWAY = "02:00:00:00:00:fe";
const WEB = "02:00:00:00:00:05";
const EVIL = "02:66:66:66:66:66";
const OTHER = "02:00:00:00:00:09";

/** A LAN whose gateway and web server were there for a while. */
async function settledLan(options: { readonly arrives?: boolean; readonly settings?: object; readonly more?: LanHost[] } = {}) {
  const hosts: LanHost[] = [
    { mac: GATEWAY, addresses: ["192.168.1.1", "fe80::fe"] }, { mac: WEB, addresses: ["192.168.1.5", "fe80::5"] }, ...options.more ?? [],
  ];
  const lan = await createSettledLan(hosts, options);
  expect(lan.scene.incidents()).toEqual([]);
  return { lan, hosts };
}

test("who claims the gateway's address is critical, within five seconds", async () => {
  const { lan } = await settledLan();
  lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
  await lan.run(4000);
  expect(lan.scene.incidents()).toMatchObject([{
    kind: "arp_spoofing", state: "seen", severity: "critical", subject: EVIL, ip: "192.168.1.1", mac: EVIL, expected_macs: [GATEWAY],
    facts: { victims: "192.168.1.1 (gateway)" },
  }]);
  expect(lan.scene.incidents()[0]?.packets).toHaveLength(1);
});

test("the gateway's MAC is shown as learned, and stays while another claims the address", async () => {
  const { lan } = await settledLan();
  lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
  await lan.run(4000);
  expect(lan.scene.guards.learned()).toMatchObject([{ guard: "ARP and NDP", what: "gateway", name: "192.168.1.1", macs: [GATEWAY], vlanId: null }]);
});

test("a man in the middle is one incident with both victims, and ends when it was quiet for long enough", async () => {
  const { lan } = await settledLan();
  for (let n = 0; n < 10; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"), arpReply(EVIL, "192.168.1.5"));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()[0]).toMatchObject({ kind: "arp_spoofing", severity: "critical" });
  await lan.run(20_000);
  expect(new Set(lan.scene.incidents().map(({ subject }) => subject))).toEqual(new Set([EVIL]));
  expect(lan.scene.incidents().at(-1)?.facts?.["victims"]).toBe("192.168.1.1 (gateway), 192.168.1.5");
  await lan.run(310_000);
  expect(lan.scene.incidents().at(-1)).toMatchObject({ state: "ended", subject: EVIL });
});

test("the incident is about the Ethernet source where the claimed MAC is another's", async () => {
  const { lan } = await settledLan();
  lan.scene.hear(arpReply("02:77:77:77:77:77", "192.168.1.5", { source: EVIL }));
  await lan.run(4000);
  expect(lan.scene.incidents()).toMatchObject([{
    kind: "arp_spoofing", severity: "medium", subject: EVIL, facts: { claimed_mac: "02:77:77:77:77:77", ethernet_source: EVIL },
  }]);
});

test("announcements are believed to be false only when they are repeated", async () => {
  const { lan } = await settledLan();
  lan.scene.hear(arpRequest(EVIL, "192.168.1.5", "192.168.1.5"));
  await lan.run(3000);
  expect(lan.scene.incidents()).toEqual([]);
  lan.scene.hear(arpRequest(EVIL, "192.168.1.5", "192.168.1.5"));
  await lan.run(2000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", subject: EVIL }]);
});

test("two devices that both answer have a duplicate address, which ends when one of them stops", async () => {
  const { lan, hosts } = await settledLan();
  hosts.push({ mac: OTHER, addresses: ["192.168.1.5"] });
  lan.scene.hear(arpRequest(OTHER, "192.168.1.5", "192.168.1.1"));
  await lan.run(4000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "duplicate_ip", severity: "medium", subject: "192.168.1.5", mac: OTHER, expected_macs: [WEB] }]);
  await lan.run(400_000);
  expect(lan.scene.incidents().filter(({ state }) => state === "ended")).toEqual([]);
  hosts.pop();
  await lan.run(90_000);
  expect(lan.scene.incidents().at(-1)).toMatchObject({ kind: "duplicate_ip", state: "ended" });
});

test("answers to a third host's question to all do not make one device of two", async () => {
  const { lan, hosts } = await settledLan();
  hosts.push({ mac: OTHER, addresses: ["192.168.1.5"] });
  const third = { to: parseMac("02:00:00:00:00:44") as Uint8Array, target: new Uint8Array(4) };
  for (let n = 0; n < 10; n += 1) {
    lan.scene.hear(
      arpRequest("02:00:00:00:00:44", "0.0.0.0", "192.168.1.5"), arpReply(OTHER, "192.168.1.5", third), arpReply(WEB, "192.168.1.5", third),
    );
    await lan.run(450);
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "duplicate_ip", subject: "192.168.1.5", mac: OTHER }]);
});

test("a second device with the gateway's address is critical, and one with our own is found as well", async () => {
  const { lan, hosts } = await settledLan();
  hosts.push({ mac: OTHER, addresses: ["192.168.1.1", "192.168.1.2"] });
  lan.scene.hear(arpRequest(OTHER, "192.168.1.1", "192.168.1.7"), arpRequest(OTHER, "192.168.1.2", "192.168.1.7"));
  await lan.run(5000);
  expect(lan.scene.incidents().map(({ kind, severity, ip }) => [kind, severity, ip])).toEqual([
    ["duplicate_ip", "critical", "192.168.1.1"], ["duplicate_ip", "medium", "192.168.1.2"],
  ]);
});

test("where nothing can be sent, claims that go to and fro decide", async () => {
  const { lan } = await settledLan({ arrives: false });
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    await lan.run(1000);
    lan.scene.hear(arpRequest(GATEWAY, "192.168.1.1", "192.168.1.5"));
    await lan.run(1000);
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", severity: "critical", subject: EVIL }]);
});

test("an attack that ran before the probe is found, and the attacker is not learned", async () => {
  const scene = createGuardScene({ guards: [createAddressGuard] });
  const lan = createSmallLan(scene, [{ mac: GATEWAY, addresses: ["192.168.1.1"] }]);
  for (let n = 0; n < 4; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", severity: "critical", subject: EVIL, expected_macs: [GATEWAY] }]);
  await lan.run(20_000);
  const after = createSmallLan(lan.scene.restart(), lan.hosts);
  after.scene.hear(arpRequest(GATEWAY, "192.168.1.1", "192.168.1.5"));
  await after.run(10_000);
  expect(after.scene.incidents()).toHaveLength(1);
});

test("a restart in the middle of an attack raises it no second time", async () => {
  const { lan } = await settledLan();
  const attack = async () => {
    for (let n = 0; n < 5; n += 1) {
      lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
      await lan.run(2000);
    }
  };
  await attack();
  lan.scene = lan.scene.restart();
  await attack();
  expect(lan.scene.incidents()).toHaveLength(1);
  await lan.run(320_000);
  expect(lan.scene.incidents().at(-1)).toMatchObject({ state: "ended", subject: EVIL });
});

test("an address that two hosts take from each other again and again flaps", async () => {
  const { lan, hosts } = await settledLan({ more: [{ mac: OTHER, addresses: [] }] });
  for (let n = 0; n < 5; n += 1) {
    for (const [mac, other] of [[OTHER, WEB], [WEB, OTHER]]) {
      for (const host of hosts) {
        if (host.mac === mac) host.addresses = ["192.168.1.5"];
        if (host.mac === other) host.addresses = [];
      }
      lan.scene.hear(arpReply(mac as string, "192.168.1.5"));
      await lan.run(2500);
    }
  }
  expect(lan.scene.incidents()[0]).toMatchObject({ kind: "address_flapping", subject: "192.168.1.5", severity: "medium" });
  expect(new Set(lan.scene.incidents().map(({ kind }) => kind))).toEqual(new Set(["address_flapping"]));
});

test("a learned virtual address that a real MAC takes is reported though the virtual one is silent", async () => {
  const virtual = { mac: "00:00:5e:00:01:0a", addresses: ["192.168.1.250"] };
  const { lan, hosts } = await settledLan({ more: [virtual] });
  virtual.addresses = [];
  hosts.push({ mac: EVIL, addresses: ["192.168.1.250"] });
  lan.scene.hear(arpReply(EVIL, "192.168.1.250"));
  await lan.run(5000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", subject: EVIL, ip: "192.168.1.250" }]);
});

test("a virtual router's MAC is no proof", async () => {
  const { lan } = await settledLan();
  lan.scene.hear(arpReply("00:00:5e:00:01:0a", "192.168.1.1"));
  await lan.run(4000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", severity: "critical", subject: "00:00:5e:00:01:0a" }]);
});

test("thousands of forged senders that claim the gateway's address are one incident, which is critical", async () => {
  const { lan } = await settledLan();
  for (let half = 0; half < 16; half += 1) {
    for (let n = half * 500; n < half * 500 + 500; n += 1) {
      lan.scene.hear(arpReply(`02:66:66:66:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`, "192.168.1.1"));
    }
    await lan.run(500);
  }
  await lan.run(40_000);
  const incidents = lan.scene.incidents();
  expect(new Set(incidents.map(({ kind, subject }) => `${kind} ${subject}`))).toEqual(new Set(["arp_storm link"]));
  expect(incidents.at(-1)?.severity).toBe("critical");
});

test("a storm of replies that nobody asked for is one incident", async () => {
  const { lan } = await settledLan();
  for (let second = 0; second < 5; second += 1) {
    for (let n = 0; n < 400; n += 1) lan.scene.hear(arpReply(EVIL, `192.168.1.${20 + (n % 200)}`));
    await lan.run(1000);
  }
  await lan.run(10_000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_storm", subject: EVIL, severity: "medium" }]);
  await lan.run(310_000);
  expect(lan.scene.incidents()).toMatchObject([{ state: "seen" }, { kind: "arp_storm", subject: EVIL, state: "ended" }]);
});

test("a flood of advertisements from forged senders is one incident", async () => {
  const { lan } = await settledLan();
  for (let n = 0; n < 2000; n += 1) {
    const [high, low] = [(n >> 8).toString(16).padStart(2, "0"), (n & 255).toString(16).padStart(2, "0")];
    lan.scene.hear(advertisement(`02:66:66:66:${high}:${low}`, `fe80::66:${high}${low}`));
    if (n % 500 === 499) await lan.run(500);
  }
  await lan.run(20_000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_storm", subject: "link" }]);
});

test.each([
  ["ARP", (n: number) => arpRequest(EVIL, "192.168.1.66", `192.168.1.${n}`)],
  ["NDP", (n: number) => solicitation(EVIL, "fe80::66", `fe80::1:${n}`)],
])("another host that asks for all addresses by %s scans", async (_, request) => {
  const { lan } = await settledLan();
  for (let n = 1; n < 250; n += 1) lan.scene.hear(request(n));
  await lan.run(2000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "address_scan", subject: EVIL, severity: "medium" }]);
});

test("a false advertisement is spoofing too, with a gateway that router advertisements named", async () => {
  const { lan } = await settledLan();
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(advertisement(EVIL, "fe80::5"));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "ndp_spoofing", subject: EVIL, ip: "fe80::5", expected_macs: [WEB] }]);
});

test.each([["fe80::a", "fe80::b", "ndp_spoofing"], ["192.168.1.71", "192.168.1.72", "arp_spoofing"]])(
  "who says of each new address that it is taken keeps hosts from the network (%s)", async (first, second, kind) => {
    const { lan } = await settledLan();
    for (const ip of [first, second]) {
      const isIpv6 = ip.includes(":");
      lan.scene.hear(isIpv6 ? solicitation(OTHER, "::", ip) : arpRequest(OTHER, "0.0.0.0", ip), isIpv6 ? advertisement(EVIL, ip) : arpReply(EVIL, ip));
      await lan.run(700);
    }
    await lan.run(1000);
    expect(lan.scene.incidents()).toMatchObject([{ kind, subject: EVIL }]);
  });

test("answers to a large search of the probe's own are needed only where they contradict what is known, or are checked", async () => {
  const { lan } = await settledLan();
  const answer = (mac: string, ip: string) => arpReply(mac, ip, { to: parseMac("02:00:00:00:00:01") as Uint8Array, target: parseIp("192.168.1.2") as Uint8Array });
  const needs = () => [answer(WEB, "192.168.1.5"), answer(EVIL, "192.168.1.5"), answer(EVIL, "192.168.1.66")].map((frame) => lan.scene.guards.needsAnswer(frame));
  expect(needs()).toEqual([false, true, false]);
  lan.scene.hear(arpReply(EVIL, "192.168.1.5"));
  expect(needs()).toEqual([true, true, false]);
});

test("an attacker whose later claims look asked for is no second incident, where nothing can be sent", async () => {
  const { lan } = await settledLan({ arrives: false });
  for (let n = 0; n < 12; n += 1) {
    if (n > 3) lan.scene.hear(arpRequest(OTHER, "0.0.0.0", "192.168.1.5"));
    lan.scene.hear(arpReply("02:77:77:77:77:77", "192.168.1.5", { source: EVIL }));
    await lan.run(500);
    lan.scene.hear(arpRequest(WEB, "192.168.1.5", "192.168.1.1"));
    await lan.run(1000);
  }
  expect(new Set(lan.scene.incidents().map(({ kind, subject }) => `${kind} ${subject}`))).toEqual(new Set([`arp_spoofing ${EVIL}`]));
});
