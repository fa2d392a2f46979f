import { decodeArp, decodeFrame, equalBytes, formatIp, parseMac } from "@lanthorn/packets";
import { expect, test } from "vitest";
import type { GuardDeps } from "../guard.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createAddressGuard } from "./address-guard.ts";
import { arpReply, arpRequest, createSmallLan, type LanHost } from "./testing/small-lan.ts";

const GATEWAY = "02:00:00:00:00:fe";
const EVIL = "02:66:66:66:66:66";

/** A LAN whose gateway was there for a while. */
async function settledLan(gateway: LanHost = { mac: GATEWAY, addresses: ["192.168.1.1"] }, settings: object = {}) {
  const scene = createGuardScene({ guards: [(deps: GuardDeps) => createAddressGuard(deps)], settings });
  const lan = createSmallLan(scene, [gateway]);
  for (let n = 0; n < 2; n += 1) {
    for (const ip of gateway.addresses) scene.hear(arpRequest(gateway.mac, ip, "192.168.1.2"));
    await lan.run(12_000);
  }
  expect(scene.incidents()).toEqual([]);
  return lan;
}

const worst = (lan: Awaited<ReturnType<typeof settledLan>>) => lan.scene.incidents().map(({ kind, severity }) => `${kind} ${severity}`);

test("who takes many free addresses first is no proxy that may have the gateway's", async () => {
  const lan = await settledLan();
  const evil: LanHost = { mac: EVIL, addresses: Array.from({ length: 12 }, (_, n) => `192.168.1.${200 + n}`) };
  lan.hosts.push(evil);
  for (let n = 0; n < 2; n += 1) {
    for (const ip of evil.addresses) lan.scene.hear(arpRequest(EVIL, ip, ip));
    await lan.run(12_000);
  }
  evil.addresses = [...evil.addresses, "192.168.1.1"];
  for (let n = 0; n < 5; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    await lan.run(2000);
  }
  expect(worst(lan)).toContainEqual(expect.stringContaining("critical"));
});

test("a gateway that answers for many addresses loses its own to nobody who merely answers too", async () => {
  const lan = await settledLan({ mac: GATEWAY, addresses: ["192.168.1.1", ...Array.from({ length: 12 }, (_, n) => `192.168.1.${100 + n}`)] });
  lan.hosts.push({ mac: EVIL, addresses: ["192.168.1.1"] });
  for (let n = 0; n < 5; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    await lan.run(2000);
  }
  expect(worst(lan)).toContainEqual(expect.stringContaining("critical"));
  expect(lan.scene.guards.learned()).toMatchObject([{ name: "192.168.1.1", macs: [GATEWAY] }]);
});

test("an answer forged in the gateway's name does not make the attacker one device with it", async () => {
  const lan = await settledLan();
  for (let n = 0; n < 20; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    for (let passed = 0; passed < 2000; passed += 50) {
      await lan.scene.clock.advance(50);
      for (const bytes of lan.scene.sent.splice(0)) {
        const frame = decodeFrame(bytes);
        const arp = frame.ok && frame.value.network === "arp" ? decodeArp(frame.value.networkBytes) : null;
        if (!frame.ok || !arp?.ok || formatIp(arp.value.targetProtocolAddress) !== "192.168.1.1") continue;
        const options = { to: frame.value.sourceMac as Uint8Array, target: arp.value.senderProtocolAddress };
        const isToEvil = equalBytes(parseMac(EVIL) as Uint8Array, frame.value.destinationMac as Uint8Array);
        lan.scene.hear(arpReply(GATEWAY, "192.168.1.1", options));
        if (isToEvil) lan.scene.hear(arpReply(EVIL, "192.168.1.1", options));
      }
    }
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "gateway_changed", severity: "medium", state: "seen", ip: "192.168.1.1", mac: EVIL, expected_macs: [GATEWAY] }]);
});

test("hundreds of made-up conflicts hide no claim of the gateway's address", async () => {
  const lan = await settledLan();
  const free = Array.from({ length: 300 }, (_, n) => `10.9.${n >> 8}.${(n & 255) || 1}`);
  for (const ip of free) lan.scene.hear(arpRequest("02:66:00:00:00:01", ip, ip));
  for (const ip of free) lan.scene.hear(arpRequest("02:66:00:00:00:02", ip, ip));
  await lan.run(1000);
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    await lan.run(2000);
  }
  expect(worst(lan)).toContain("arp_spoofing critical");
});

test("who claims the gateway's address only now and then is found as well", async () => {
  const lan = await settledLan();
  for (let n = 0; n < 10; n += 1) {
    lan.scene.hear(arpRequest(EVIL, "192.168.1.1", "192.168.1.5"));
    await lan.run(25_000);
  }
  expect(worst(lan)).toContain("arp_spoofing critical");
});

test("the gateway as the seventeenth victim is as bad as the first", async () => {
  const gateway: LanHost = { mac: GATEWAY, addresses: ["192.168.1.1"] };
  const lan = await settledLan(gateway);
  const hosts: LanHost[] = Array.from({ length: 20 }, (_, n) => ({ mac: `02:00:00:00:02:${(16 + n).toString(16)}`, addresses: [`192.168.1.${50 + n}`] }));
  lan.hosts.push(...hosts);
  for (let n = 0; n < 2; n += 1) {
    for (const { mac, addresses: [ip = ""] } of hosts) lan.scene.hear(arpRequest(mac, ip, "192.168.1.2"));
    await lan.run(12_000);
  }
  for (let n = 0; n < 5; n += 1) {
    for (const { addresses: [ip = ""] } of hosts) lan.scene.hear(arpReply(EVIL, ip));
    await lan.run(4000);
  }
  expect(worst(lan)).toContain("arp_spoofing medium");
  for (let n = 0; n < 20; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    await lan.run(2000);
  }
  expect(worst(lan)).toContain("arp_spoofing critical");
});

test.each([EVIL, "02:00:00:00:00:01"])("a claim from the probe's own MAC, for %s, is heard", async (mac) => {
  const lan = await settledLan();
  for (let n = 0; n < 5; n += 1) {
    lan.scene.hear(arpReply(mac, "192.168.1.1", { source: "02:00:00:00:00:01" }));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", severity: "critical", mac, expected_macs: [GATEWAY] }]);
});

test("the probe's own frames, as a mirror port shows them, claim nothing of others", async () => {
  const lan = await settledLan();
  const own = "02:00:00:00:00:01";
  for (let n = 0; n < 60; n += 1) lan.scene.hear(arpRequest(own, "192.168.1.2", `192.168.1.${100 + n}`), arpRequest(own, "0.0.0.0", `192.168.1.${100 + n}`));
  lan.scene.hear(arpRequest(own, "192.168.20.2", "192.168.20.9"), arpReply(own, "192.168.1.2"));
  await lan.run(10_000);
  expect(lan.scene.incidents()).toEqual([]);
});

test("an exception for one victim's address excuses no claim of another's", async () => {
  const lan = await settledLan({ mac: GATEWAY, addresses: ["192.168.1.20", "192.168.1.21"] }, { exceptions: [{ ip: "192.168.1.20" }] });
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.20"));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toEqual([]);
  for (let n = 0; n < 3; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.20"), arpReply(EVIL, "192.168.1.21"));
    await lan.run(2000);
  }
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", subject: EVIL, ip: "192.168.1.21" }]);
});
