import { expect, test } from "vitest";
import { answer, ROGUE, SERVER } from "../../dhcp-servers/testing/dhcp-frames.ts";
import { createDhcpServersGuard } from "../../dhcp-servers/dhcp-servers.ts";
import { createRouterAdvertisementsGuard } from "../../router-advertisements/router-advertisements.ts";
import { advert, macOf } from "../../router-advertisements/testing/adverts.ts";
import { createGuardScene, OWN_LINK } from "../../testing/guard-scene.ts";
import { createAddressGuard } from "../address-guard.ts";
import { advertisement, arpReply, createSmallLan, type LanHost, settle, type SmallLan } from "../testing/small-lan.ts";

const EVIL = "02:66:66:66:66:66";
const GATEWAY = "192.168.1.250";
const HOSTS: readonly LanHost[] = [
  { mac: SERVER.mac, addresses: [SERVER.server] }, { mac: "02:00:00:00:00:fa", addresses: [GATEWAY, "fe80::fa"] },
  { mac: "02:00:00:00:00:53", addresses: ["192.168.1.53", "fe80::53"] }, { mac: ROGUE.mac, addresses: [ROGUE.server] },
];

/** A LAN whose gateway, name servers and DHCP server the interface does not know. */
async function createLan(): Promise<SmallLan> {
  const guards = [createAddressGuard, createDhcpServersGuard, createRouterAdvertisementsGuard];
  const lan = createSmallLan(createGuardScene({ guards, link: { ...OWN_LINK, gateways: [] } }), [...HOSTS]);
  lan.scene.hear(answer({ ...SERVER, gateway: GATEWAY, dns: "192.168.1.53", type: "ack" }));
  lan.scene.hear(advert({ router: "fe80::fa", from: "02:00:00:00:00:fa", dns: "fe80::53" }));
  await settle(lan);
  return lan;
}

test.each([[GATEWAY, "critical"], ["192.168.1.53", "high"], [SERVER.server, "high"], ["fe80::fa", "critical"], ["fe80::53", "high"]])(
  "whom %s impersonates is known after a restart as before: %s", async (ip, severity) => {
    const lan = await createLan();
    lan.scene = lan.scene.restart();
    const claim = ip.includes(":") ? advertisement(EVIL, ip) : arpReply(EVIL, ip);
    for (let n = 0; n < 3; n += 1) {
      lan.scene.hear(claim);
      await lan.run(1500);
    }
    expect(lan.scene.incidents().filter(({ kind }) => kind.endsWith("_spoofing"))).toMatchObject([{ subject: EVIL, severity }]);
  });

test("who is gateway, name server and DHCP server at once is a gateway after a restart", async () => {
  const lan = createSmallLan(createGuardScene({ guards: [createAddressGuard], link: { ...OWN_LINK, gateways: [] } }), [...HOSTS]);
  lan.scene.hear(answer({ ...SERVER, type: "ack" }));
  await settle(lan);
  lan.scene = lan.scene.restart();
  lan.scene.hear(arpReply(EVIL, SERVER.server));
  await lan.run(4000);
  expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", severity: "critical" }]);
});

test("what a false DHCP server or router calls a gateway is none", async () => {
  const lan = await createLan();
  lan.scene.hear(answer({ ...ROGUE, gateway: "192.168.1.77", type: "ack" }), advert({ router: "fe80::66", from: ROGUE.mac, prefix: "2001:db8:66::", dns: "fe80::53" }));
  await lan.run(20_000);
  expect(lan.scene.guards.learned().filter(({ guard }) => guard === "ARP and NDP").map(({ name, what }) => `${what} ${name}`).toSorted())
    .toEqual([`gateway ${GATEWAY}`, "gateway fe80::fa", "server 192.168.1.1", "server 192.168.1.53", "server fe80::53"]);
  lan.scene.hear(arpReply(EVIL, "192.168.1.77"));
  await lan.run(3000);
  expect(lan.scene.incidents().map(({ severity, kind }) => (kind.endsWith("_spoofing") ? severity : "")).filter((severity) => severity === "critical")).toEqual([]);
});

test("thousands of forged roles make room for those that are still named", async () => {
  const lan = createSmallLan(createGuardScene({ guards: [createAddressGuard], settings: { active: false } }), [...HOSTS]);
  for (let n = 0; n < 500; n += 1) {
    if (n % 50 === 0) lan.scene.hear(answer({ ...SERVER, gateway: GATEWAY, type: "ack" }));
    lan.scene.hear(answer({ ...SERVER, gateway: `10.1.${n >> 8}.${n & 255}`, dns: undefined, type: "ack" }));
    await lan.run(500);
  }
  await settle(lan);
  await lan.run(5000);
  const rows = lan.scene.db.prepare<[], { readonly key: string }>("SELECT key FROM guard_learned WHERE scope = 'address-roles'").all().map(({ key }) => key);
  expect(rows.length).toBeLessThanOrEqual(128);
  expect(rows).toContain(`gateway ${GATEWAY}`);
  expect(rows).toContain("server 192.168.1.1");
});

test("the interface's gateway stays one though the system takes a way out from a hundred forged routers", async () => {
  let gateways = ["192.168.1.1"];
  const guards = [createAddressGuard, createRouterAdvertisementsGuard];
  const lan = createSmallLan(createGuardScene({ guards, link: () => ({ ...OWN_LINK, gateways }), settings: { learning_minutes: 0 } }), [...HOSTS]);
  await settle(lan);
  for (let n = 1; n <= 100; n += 1) lan.scene.hear(advert({ router: `fe80::${n.toString(16)}:1`, from: macOf(n), prefix: "2001:db8:66::" }));
  gateways = [...Array.from({ length: 100 }, (_, n) => `fe80::${(n + 1).toString(16)}:1`), "192.168.1.1"];
  await lan.run(8000);
  lan.scene.hear(arpReply(EVIL, "192.168.1.1"));
  await lan.run(4000);
  expect(lan.scene.incidents().filter(({ kind }) => kind === "arp_spoofing")).toMatchObject([{ severity: "critical", ip: "192.168.1.1" }]);
  expect(lan.scene.db.prepare("SELECT key FROM guard_learned WHERE scope = 'address-roles'").all()).toEqual([{ key: "gateway 192.168.1.1" }]);
});
