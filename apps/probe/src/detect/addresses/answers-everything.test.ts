import { expect, test } from "vitest";
import { advertisement, createSettledLan, type LanHost, solicitation } from "./testing/small-lan.ts";

const GATEWAY = "02:00:00:00:00:fe";
const WEB = "02:00:00:00:00:05";
const EVIL = "02:66:66:66:66:66";
const OTHER = "02:00:00:00:00:09";

async function settledLan(more: readonly LanHost[] = []) {
  const hosts: LanHost[] = [{ mac: GATEWAY, addresses: ["192.168.1.1", "fe80::fe"] }, { mac: WEB, addresses: ["192.168.1.5", "fe80::5"] }, ...more];
  return { lan: await createSettledLan(hosts), hosts };
}

test.each([1, 3])("who answers every solicitation is a spoofer, not a duplicate, for %i victims at once", async (victims) => {
  const more = [{ mac: "02:00:00:00:00:06", addresses: ["fe80::6"] }, { mac: "02:00:00:00:00:07", addresses: ["fe80::7"] }];
  const { lan, hosts } = await settledLan(more);
  hosts.push({ mac: EVIL, addresses: [], answersAll: true });
  for (let n = 0; n < victims; n += 1) lan.scene.hear(solicitation(OTHER, "fe80::9", `fe80::${5 + n}`), advertisement(EVIL, `fe80::${5 + n}`));
  await lan.run(5000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "ndp_spoofing", subject: EVIL }]);
});

test("who answers every solicitation is a spoofer, though the first question for an address that nobody has is lost", async () => {
  const { lan, hosts } = await settledLan();
  hosts.push({ mac: EVIL, addresses: ["fe80::5"] });
  lan.scene.hear(solicitation(OTHER, "fe80::9", "fe80::5"), advertisement(EVIL, "fe80::5"));
  await lan.run(1200);
  hosts.push({ mac: EVIL, addresses: [], answersAll: true });
  await lan.run(3800);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "ndp_spoofing", subject: EVIL }]);
});

test.each([0, 300, 1000, 1500])("who answers every solicitation is one incident, its victims none, though it was the first with the address of one (%i ms before)", async (beforeMs) => {
  const { lan, hosts } = await settledLan();
  const evil = { mac: EVIL, addresses: ["fe80::5", "fe80::9"] };
  hosts.push(evil, { mac: OTHER, addresses: ["fe80::9"] });
  for (let n = 0; n < 10; n += 1) {
    for (const [speaker, ip, target] of [[OTHER, "fe80::9", "fe80::5"], [WEB, "fe80::5", "fe80::9"]] as const) {
      lan.scene.hear(solicitation(speaker, n < 3 && speaker === OTHER ? "fe80::77" : ip, target), advertisement(EVIL, target), advertisement(speaker === WEB ? OTHER : WEB, target));
    }
    // It is slow: what nobody has is answered for only now.
    if (hosts.includes(evil) && lan.scene.clock.monotonic() - 24_000 >= beforeMs) hosts.splice(hosts.indexOf(evil), 1, { mac: EVIL, addresses: [], answersAll: true });
    await lan.run(500);
  }
  expect(new Set(lan.scene.incidents().map(({ kind, subject }) => `${kind} ${subject}`))).toEqual(new Set([`ndp_spoofing ${EVIL}`]));
});
