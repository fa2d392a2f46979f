import { expect, test } from "vitest";
import { arpReply, arpRequest, createSettledLan, type LanHost, type SmallLan } from "./testing/small-lan.ts";

const EVIL = "02:66:66:66:66:66";
const SECOND = "02:66:66:66:66:67";
const SCANNER = "02:00:00:00:00:33";
const hosts = (): LanHost[] => [{ mac: "02:00:00:00:00:fe", addresses: ["192.168.1.1"] }, { mac: "02:00:00:00:00:05", addresses: ["192.168.1.5"] }];
const kinds = ({ scene }: SmallLan) => [...new Set(scene.incidents().map(({ kind, subject }) => `${kind} ${subject}`))];

/** Claims addresses by replies that nobody asked for, each thrice a second, for two seconds. */
async function storm(lan: SmallLan, senderOf: (last: number) => string): Promise<void> {
  for (let n = 0; n < 2; n += 1) {
    for (let last = 10; last < 250; last += 1) lan.scene.hear(...[1, 2, 3].map(() => arpReply(senderOf(last), `192.168.1.${last}`)));
    await lan.run(1000);
  }
}

const forged = (last: number) => `02:77:77:77:77:${last.toString(16).padStart(2, "0")}`;

test.each([["an attacker", () => EVIL, 1000], ["an attacker, long ago,", () => EVIL, 320_000], ["forged senders", forged, 1000]])(
  "addresses that only %s claimed are nobody's: who asks for them scans", async (_, senderOf, pauseMs) => {
    const lan = await createSettledLan(hosts());
    await storm(lan, senderOf);
    await lan.run(pauseMs);
    const before = kinds(lan);
    expect(before).toHaveLength(1);
    for (let last = 1; last < 250; last += 1) lan.scene.hear(arpRequest(SCANNER, "192.168.1.33", `192.168.1.${last}`));
    await lan.run(2000);
    expect(kinds(lan)).toEqual([...before, `address_scan ${SCANNER}`]);
  });

test("hosts that spoke at any other time, or answered, are somebody, though an attacker claimed their addresses", async () => {
  const lan = await createSettledLan(hosts());
  for (let last = 10; last < 60; last += 1) lan.scene.hear(arpReply(forged(last), `192.168.1.${last}`));
  await lan.run(60_000);
  for (let n = 0; n < 4; n += 1) {
    lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
    for (let last = 100; last < 150; last += 1) lan.scene.hear(arpReply(EVIL, `192.168.1.${last}`));
    await lan.run(1000);
  }
  const before = kinds(lan);
  for (let last = 100; last < 150; last += 1) lan.scene.hear(arpRequest(forged(last), `192.168.1.${last}`, "192.168.1.1"));
  await lan.run(3000);
  for (const first of [10, 100]) {
    for (let last = first; last < first + 50; last += 1) lan.scene.hear(arpRequest(SCANNER, "192.168.1.33", `192.168.1.${last}`));
  }
  await lan.run(3000);
  expect(kinds(lan)).toEqual(before);
});

test("made-up addresses that a second attacker claims as well keep no real duplicate waiting", async () => {
  const lan = await createSettledLan(hosts());
  await storm(lan, () => EVIL);
  await storm(lan, () => SECOND);
  lan.hosts.push({ mac: SCANNER, addresses: ["192.168.1.5"] });
  lan.scene.hear(arpReply(SCANNER, "192.168.1.5"));
  await lan.run(5000);
  expect(kinds(lan)).toContain("duplicate_ip 192.168.1.5");
});

test("conflicts about addresses that were never trusted keep no trusted one waiting", async () => {
  const lan = await createSettledLan(hosts());
  for (let last = 10; last < 40; last += 1) lan.scene.hear(arpRequest(forged(last), `192.168.1.${last}`, "192.168.1.1"));
  for (let last = 10; last < 40; last += 1) lan.scene.hear(arpRequest(forged(last + 100), `192.168.1.${last}`, "192.168.1.1"));
  await lan.run(1000);
  lan.hosts.push({ mac: SCANNER, addresses: ["192.168.1.5"] });
  lan.scene.hear(arpReply(SCANNER, "192.168.1.5"));
  await lan.run(5000);
  expect(kinds(lan)).toContain("duplicate_ip 192.168.1.5");
});
