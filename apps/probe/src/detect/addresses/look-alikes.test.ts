import { DNS_TYPE, encodeDns, parseIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { udpFrame } from "../../observe/testing/frames.ts";
import { advertisement, arpReply, arpRequest, createSettledLan, type LanHost, type SmallLan, solicitation } from "./testing/small-lan.ts";

const GATEWAY = "02:00:00:00:00:fe";
const A = "02:00:00:00:00:0a";
const B = "02:00:00:00:00:0b";
const VIP = "192.168.1.50";

const settledLan = (hosts: LanHost[], settings: object = {}) => createSettledLan(hosts, { settings });

function host(mac: string, ...addresses: string[]): LanHost {
  return { mac, addresses };
}

function give(to: LanHost, from: LanHost, ip: string): void {
  from.addresses = from.addresses.filter((own) => own !== ip);
  to.addresses = [...to.addresses, ip];
}

test("probes and announcements of a host that comes up are normal", async () => {
  const lan = await settledLan([host(A, "192.168.1.10")]);
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(arpRequest(B, "0.0.0.0", "192.168.1.11"));
    await lan.run(1000);
  }
  lan.hosts.push(host(B, "192.168.1.11"));
  for (let n = 0; n < 2; n += 1) {
    lan.scene.hear(arpRequest(B, "192.168.1.11", "192.168.1.11"));
    await lan.run(2000);
  }
  await lan.run(20_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("a host that finds its address taken, and the owner that defends it, are normal", async () => {
  const lan = await settledLan([host(A, "192.168.1.10", "fe80::10")]);
  lan.scene.hear(arpRequest(B, "0.0.0.0", "192.168.1.10"), arpReply(A, "192.168.1.10", { target: parseIp("0.0.0.0") as Uint8Array }));
  lan.scene.hear(solicitation(B, "::", "fe80::10"), advertisement(A, "fe80::10"));
  await lan.run(20_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("keepalived without virtual MACs moves its address to and fro", async () => {
  const [first, second] = [host(A, "192.168.1.10", VIP), host(B, "192.168.1.11")];
  const lan = await settledLan([first, second]);
  for (const [to, from] of [[second, first], [first, second], [second, first]] as const) {
    give(to, from, VIP);
    for (let n = 0; n < 5; n += 1) lan.scene.hear(arpReply(to.mac, VIP));
    await lan.run(5000);
    for (let n = 0; n < 5; n += 1) lan.scene.hear(arpReply(to.mac, VIP));
    await lan.run(20_000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

test.each([[{}, ["info"]], [{ roaming_gateways: true }, []]])("a gateway that moves to another MAC is information (%j)", async (settings, severities) => {
  const [first, second] = [host(A, "192.168.1.1"), host(B, "192.168.1.11")];
  const lan = await settledLan([first, second], settings);
  give(second, first, "192.168.1.1");
  lan.scene.hear(arpReply(B, "192.168.1.1"));
  await lan.run(20_000);
  expect(lan.scene.incidents().map(({ kind, severity }) => [kind, severity])).toEqual(severities.map((severity) => ["gateway_changed", severity]));
});

test.each([200, 700, 1000, 1250, 1450])("MetalLB's address moves, with two MACs for a moment (%i ms)", async (bothMs) => {
  const [first, second] = [host(A, "192.168.1.10", VIP), host(B, "192.168.1.11")];
  const lan = await settledLan([first, second]);
  second.addresses = [...second.addresses, VIP];
  lan.scene.hear(arpReply(B, VIP));
  await lan.run(bothMs);
  first.addresses = ["192.168.1.10"];
  for (let n = 0; n < 5; n += 1) {
    lan.scene.hear(arpReply(B, VIP));
    await lan.run(1100);
  }
  await lan.run(30_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test.each(["00:00:5e:00:01:0a", "00:00:0c:07:ac:01", "00:00:0c:9f:f0:01", "00:07:b4:00:01:01", "00:09:0f:09:00:01", "02:bf:c0:a8:01:32", "03:bf:c0:a8:01:32", "00:00:22:22:33:33"])(
  "the MAC %s of a cluster or an anycast gateway comes from changing members", async (virtual) => {
    const lan = await settledLan([host(virtual, VIP), host(A, "192.168.1.10"), host(B, "192.168.1.11")]);
    for (const source of [A, B, A]) {
      lan.scene.hear(arpReply(virtual, VIP, { source }), arpRequest(virtual, VIP, VIP));
      await lan.run(5000);
    }
    expect(lan.scene.incidents()).toEqual([]);
  });

test("a router that answers for many addresses, hosts of the link among them, is a proxy", async () => {
  const far = Array.from({ length: 12 }, (_, n) => `192.168.1.${100 + n}`);
  const router = host(GATEWAY, "192.168.1.1", ...far);
  const lan = await settledLan([router, host(A, "192.168.1.10")]);
  router.addresses = [...router.addresses, "192.168.1.10"];
  lan.scene.hear(arpRequest(B, "192.168.1.11", "192.168.1.10"), arpReply(GATEWAY, "192.168.1.10"));
  await lan.run(20_000);
  // One of the far hosts comes to this link.
  lan.hosts.push(host(B, "192.168.1.100"));
  lan.scene.hear(arpRequest(B, "192.168.1.100", "192.168.1.100"));
  await lan.run(20_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("two interfaces of one host that answer for each other's address (ARP flux) are one device", async () => {
  const [first, second] = [host(A, "192.168.1.10"), host(B, "192.168.1.11")];
  const lan = await settledLan([first, second]);
  first.addresses = ["192.168.1.10", "192.168.1.11"];
  second.addresses = ["192.168.1.10", "192.168.1.11"];
  lan.scene.hear(arpRequest("02:00:00:00:00:33", "192.168.1.33", "192.168.1.10"), arpReply(A, "192.168.1.10"), arpReply(B, "192.168.1.10"));
  await lan.run(30_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("a bond in balance-alb answers each client with another MAC", async () => {
  const bond: LanHost = { mac: A, addresses: ["192.168.1.10"], alsoHears: [B] };
  const lan = await settledLan([bond]);
  for (let n = 0; n < 10; n += 1) {
    lan.scene.hear(arpReply(n % 2 === 0 ? B : A, "192.168.1.10"));
    await lan.run(3000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

/** Says by Multicast DNS that it answers for who sleeps. */
function announceSleepProxy(lan: SmallLan, mac: string, ip: string): void {
  const payload = encodeDns({
    id: 0, isResponse: true, questions: [], answers: [{
      name: "_sleep-proxy._udp.local", type: DNS_TYPE.ptr, ttlSeconds: 120, data: { kind: "name", name: "70-35-60-63 tv._sleep-proxy._udp.local" },
    }],
  });
  lan.scene.hear(udpFrame(ip, "224.0.0.251", [5353, 5353], payload, { from: mac }));
}

test("a sleep proxy answers for who sleeps, again and again, by ARP and NDP", async () => {
  const [sleeper, proxy] = [host(A, "192.168.1.10", "fe80::10"), host(B, "192.168.1.11")];
  const lan = await settledLan([sleeper, proxy]);
  announceSleepProxy(lan, B, "192.168.1.11");
  for (let n = 0; n < 8; n += 1) {
    const [to, from] = n % 2 === 0 ? [proxy, sleeper] : [sleeper, proxy];
    for (const ip of ["192.168.1.10", "fe80::10"]) give(to, from, ip);
    lan.scene.hear(arpReply(to.mac, "192.168.1.10"), advertisement(to.mac, "fe80::10"));
    await lan.run(3000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

test("a sleep proxy defends the addresses of those who sleep, which nobody knew of", async () => {
  const lan = await settledLan([host(A, "192.168.1.10"), host(B, "192.168.1.11")]);
  announceSleepProxy(lan, B, "192.168.1.11");
  for (let n = 20; n < 24; n += 1) {
    lan.scene.hear(arpRequest("02:00:00:00:00:33", "0.0.0.0", `192.168.1.${n}`), arpReply(B, `192.168.1.${n}`, { target: parseIp("0.0.0.0") as Uint8Array }));
    lan.scene.hear(solicitation("02:00:00:00:00:33", "::", `fe80::${n}`), advertisement(B, `fe80::${n}`));
    await lan.run(1000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

test("a CARP peer sends the virtual address's traffic from its own MAC", async () => {
  const lan = await settledLan([host("00:00:5e:00:01:0a", VIP), host(A, "192.168.1.10"), host(B, "192.168.1.11")]);
  for (let n = 0; n < 10; n += 1) {
    for (const from of [A, B]) lan.scene.hear(udpFrame(VIP, "192.168.1.200", [5000, 5000], Uint8Array.of(1), { from, to: "02:00:00:00:00:c8" }));
    lan.scene.hear(arpReply("00:00:5e:00:01:0a", VIP, { source: n % 2 === 0 ? A : B }));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

test.each(["a dock or another NIC", "an address that DHCP gave to another client", "a Wi-Fi extender", "a random MAC"])(
  "%s: an address whose MAC before is silent is another's now", async () => {
    const [before, after] = [host(A, "192.168.1.10", "fe80::10"), host(B)];
    const lan = await settledLan([before, after]);
    give(after, before, "192.168.1.10");
    give(after, before, "fe80::10");
    lan.scene.hear(arpRequest(B, "192.168.1.10", "192.168.1.10"), advertisement(B, "fe80::10"));
    await lan.run(40_000);
    lan.scene.hear(arpRequest(B, "192.168.1.10", "192.168.1.1"), advertisement(B, "fe80::10"));
    await lan.run(5000);
    expect(lan.scene.incidents()).toEqual([]);
  });

test("a virtual machine that moves announces its address from the same MAC", async () => {
  const lan = await settledLan([host(A, "192.168.1.10")]);
  for (let n = 0; n < 5; n += 1) lan.scene.hear(arpReply(A, "192.168.1.10"), advertisement(A, "fe80::10"));
  await lan.run(10_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("advertisements without the override flag, as of anycast addresses and proxies, take nothing over", async () => {
  const lan = await settledLan([host(A, "fe80::10")]);
  for (let n = 0; n < 5; n += 1) {
    lan.scene.hear(advertisement(B, "fe80::10", false));
    await lan.run(1000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

test("a router that takes over hundreds of virtual addresses is no storm", async () => {
  const addresses = Array.from({ length: 200 }, (_, n) => `192.168.1.${20 + n}`);
  const lan = await settledLan([host("00:00:5e:00:01:0a", ...addresses)]);
  for (const ip of addresses) lan.scene.hear(arpReply("00:00:5e:00:01:0a", ip, { source: B }));
  await lan.run(10_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("a gateway and a monitor that ask for many after they start are no scanners, nor is a declared one", async () => {
  const addresses = Array.from({ length: 100 }, (_, n) => host(`02:00:00:00:01:${n.toString(16).padStart(2, "0")}`, `192.168.1.${100 + n}`));
  const lan = await settledLan([host(GATEWAY, "192.168.1.1"), ...addresses], { exceptions: [{ kind: "address_scan", mac: B }] });
  for (let n = 100; n < 200; n += 1) lan.scene.hear(arpRequest(A, "192.168.1.10", `192.168.1.${n}`));
  for (let n = 3; n < 250; n += 1) lan.scene.hear(arpRequest(GATEWAY, "192.168.1.1", `192.168.1.${n}`), arpRequest(B, "192.168.1.11", `192.168.1.${n}`));
  await lan.run(10_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("an address of another VLAN is another's", async () => {
  const lan = await settledLan([host(A, "192.168.1.10")]);
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(arpReply(B, "192.168.1.10", { vlanId: 20 }));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});
