import { decodeFrame, decodeIcmpv6, formatIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { advertisement, arpReply, arpRequest, createSettledLan, createSmallLan, type LanHost, type SmallLan, solicitation } from "./testing/small-lan.ts";

const GATEWAY = "02:00:00:00:00:fe";
const WEB = "02:00:00:00:00:05";
const NEW = "02:00:00:00:00:09";
const hosts = (): LanHost[] => [{ mac: GATEWAY, addresses: ["192.168.1.1", "fe80::fe"] }, { mac: WEB, addresses: ["192.168.1.5", "fe80::5"] }];
const forged = (n: number) => `2c:cf:66:66:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
const kinds = ({ scene }: SmallLan) => [...new Set(scene.incidents().map(({ kind, subject }) => `${kind} ${subject}`))];

/** Time passes; duplicate address detection of whatever address is answered twice, by another MAC each time, as dos-new-ip6 does. */
async function runWithDenier(lan: SmallLan, ms: number, denier: { macs: number }): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    const asked = lan.scene.sent.flatMap((bytes) => {
      const frame = decodeFrame(bytes);
      const message = frame.ok && frame.value.sourceIp?.every((byte) => byte === 0) === true ? decodeIcmpv6(frame.value.transportBytes) : null;
      return message?.ok === true && message.value.kind === "neighbor-solicitation" ? [formatIp(message.value.target)] : [];
    });
    for (const ip of asked) deny(lan, ip, denier);
    await lan.run(50);
  }
}

function deny({ scene }: SmallLan, ip: string, denier: { macs: number }): void {
  denier.macs += 1;
  scene.hear(advertisement(forged(denier.macs), ip), advertisement(forged(denier.macs), ip));
}

test("who denies every new address under another MAC each time is one incident of the link, within three seconds", async () => {
  const lan = await createSettledLan(hosts());
  const denier = { macs: 0 };
  for (let n = 1; n <= 8; n += 1) {
    lan.scene.hear(solicitation(NEW, "::", `fe80::a:${n}`));
    deny(lan, `fe80::a:${n}`, denier);
    await runWithDenier(lan, 1500, denier);
    if (n === 2) expect(kinds(lan)).toEqual(["ndp_spoofing link"]);
  }
  expect(kinds(lan)).toEqual(["ndp_spoofing link"]);
  expect(lan.scene.incidents()[0]).toMatchObject({ severity: "medium", mac: "", facts: { denied: "yes" } });
  expect(lan.scene.incidents()[0]?.packets).not.toEqual([]);
  lan.scene = lan.scene.restart();
  lan.scene.hear(solicitation(NEW, "::", "fe80::b:1"));
  deny(lan, "fe80::b:1", denier);
  await runWithDenier(lan, 3000, denier);
  expect(kinds(lan)).toEqual(["ndp_spoofing link"]);
  await lan.run(310_000);
  expect(lan.scene.incidents().at(-1)).toMatchObject({ state: "ended", subject: "link" });
});

test.each([["fe80::a:", "ndp_spoofing link"], ["192.168.1.7", "arp_spoofing link"]])(
  "the same is seen where nothing can be sent, by three addresses (%s)", async (prefix, incident) => {
    const lan = await createSettledLan(hosts(), { settings: { active: false } });
    for (let n = 1; n <= 4; n += 1) {
      const ip = `${prefix}${n}`;
      if (ip.includes(":")) lan.scene.hear(solicitation(NEW, "::", ip), advertisement(forged(n), ip));
      else lan.scene.hear(arpRequest(NEW, "0.0.0.0", ip), arpReply(forged(n), ip));
      await lan.run(700);
    }
    await lan.run(1000);
    expect(kinds(lan)).toEqual([incident]);
  });

test("hosts that defend addresses nobody knew of are normal, though a client tries one after the other", async () => {
  const owners = [1, 2, 3, 4].map((n) => ({ mac: forged(n), addresses: [`192.168.1.7${n}`, `fe80::7:${n}`] }));
  const lan = await createSettledLan(hosts());
  lan.hosts.push(...owners);
  for (const { mac, addresses: [ip = "", ip6 = ""] } of owners) {
    lan.scene.hear(arpRequest(NEW, "0.0.0.0", ip), arpReply(mac, ip));
    lan.scene.hear(solicitation(NEW, "::", ip6), advertisement(mac, ip6));
    await lan.run(11_000);
  }
  expect(lan.scene.incidents()).toEqual([]);
});

test.each([10, 100, 600, 2000, 7000])("claims of the gateway's address by another MAC each %i ms are one incident", async (pauseMs) => {
  const lan = await createSettledLan(hosts());
  const step = Math.max(50, pauseMs);
  const until = lan.scene.clock.monotonic() + 5000;
  for (let n = 0; n < 40_000 / step; n += 1) {
    for (let m = 0; m < step / pauseMs; m += 1) lan.scene.hear(arpReply(forged(n * 64 + m), (n + m) % 3 === 0 ? "192.168.1.5" : "192.168.1.1"));
    await lan.run(step);
    if (lan.scene.clock.monotonic() >= until) expect(lan.scene.incidents().length).toBeGreaterThan(0);
  }
  await lan.run(40_000);
  expect(kinds(lan)).toHaveLength(1);
  expect(lan.scene.incidents().at(-1)?.severity).toBe("critical");
});

test("announcements of the gateway's address, each from another MAC, are one incident", async () => {
  const lan = await createSettledLan(hosts());
  for (let n = 0; n < 10; n += 1) {
    lan.scene.hear(arpRequest(forged(n), "192.168.1.1", "192.168.1.1"));
    await lan.run(1000);
    if (n === 4) expect(lan.scene.incidents()).toHaveLength(1);
  }
  await lan.run(40_000);
  expect(kinds(lan)).toHaveLength(1);
  expect(lan.scene.incidents()[0]).toMatchObject({ kind: "arp_spoofing", severity: "critical" });
});

test("two attackers that have addresses of their own are two incidents", async () => {
  const attackers = [{ mac: forged(1), addresses: ["192.168.1.61"] }, { mac: forged(2), addresses: ["192.168.1.62"] }];
  const lan = await createSettledLan([...hosts(), ...attackers]);
  for (let n = 0; n < 4; n += 1) {
    for (const { mac } of attackers) lan.scene.hear(arpReply(mac, "192.168.1.1"));
    await lan.run(2000);
  }
  expect(kinds(lan).toSorted()).toEqual([`arp_spoofing ${forged(1)}`, `arp_spoofing ${forged(2)}`]);
});

test("a flood of forged claims goes on as one incident after a restart", async () => {
  const lan = createSmallLan((await createSettledLan(hosts())).scene, hosts());
  for (let n = 0; n < 20; n += 1) {
    lan.scene.hear(arpReply(forged(n), "192.168.1.1"));
    await lan.run(1500);
    if (n === 10) lan.scene = lan.scene.restart();
  }
  await lan.run(40_000);
  expect(kinds(lan)).toHaveLength(1);
});
