import { expect, test } from "vitest";
import { ip, mac, ndpFrame } from "../../observe/testing/frames.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createRouterAdvertisementsGuard } from "./router-advertisements.ts";

const MINUTE = 60_000;
const ROUTER = "00:aa:bb:cc:dd:01";
const EVIL = "00:aa:bb:cc:dd:66";

const advert = (from: string, router: string, { lifetime = 1800, prefix = "2001:db8:1::" } = {}) => ndpFrame({
  kind: "router-advertisement", hopLimit: 64, isManaged: false, hasOtherConfiguration: false, preference: "medium", routerLifetimeSeconds: lifetime, reachableTimeMs: 0,
  retransmissionTimerMs: 0,
  options: lifetime === 0 ? [] : [
    { kind: "prefix-information", prefixLength: 64, isOnLink: true, isAutonomous: true, validLifetimeSeconds: 7200, preferredLifetimeSeconds: 3600, prefix: ip(prefix) },
    { kind: "source-link-layer-address", address: mac(from) },
  ],
}, router, "ff02::1", { from });

async function createLearned(settings: object = {}) {
  const scene = createGuardScene({ guards: [createRouterAdvertisementsGuard], settings: { learning_minutes: 1, ...settings } });
  for (let n = 0; n < 3; n += 1) {
    scene.hear(advert(ROUTER, "fe80::1"));
    await scene.clock.advance(MINUTE);
  }
  scene.sent.splice(0);
  return scene;
}

test("a rogue that says at once that it ends is reported nevertheless, and makes no noise", async () => {
  const scene = await createLearned();
  for (let n = 0; n < 60; n += 1) {
    scene.hear(advert(EVIL, "fe80::66", { prefix: "2001:db8:66::" }));
    await scene.clock.advance(100);
    scene.hear(advert(EVIL, "fe80::66", { lifetime: 0 }));
    await scene.clock.advance(5000);
  }
  expect(scene.incidents()[0]).toMatchObject({ kind: "router_advertisement", state: "seen", subject: "fe80::66", severity: "high" });
  expect(scene.incidents().length).toBeLessThan(10);
});

test("a flood of a router's own words from another MAC asks the router now and then", async () => {
  const scene = await createLearned();
  for (let n = 0; n < 1000; n += 1) {
    scene.hear(advert(EVIL, "fe80::1"));
    await scene.clock.advance(10);
  }
  expect(scene.sent.length).toBeLessThan(20);
});

test("where the router was not asked, its silence makes nobody else the router", async () => {
  const scene = await createLearned({ active: false });
  scene.hear(advert(EVIL, "fe80::1"));
  await scene.clock.advance(10_000);
  expect(scene.guards.learned()).toMatchObject([{ name: "fe80::1", macs: [ROUTER] }]);
  scene.hear(advert(EVIL, "fe80::1", { prefix: "2001:db8:66::" }));
  await scene.clock.advance(1000);
  expect(scene.incidents()).toMatchObject([{ kind: "router_advertisement", severity: "critical", subject: EVIL }]);
});

test("a router that speaks from the probe's own MAC is heard", async () => {
  const scene = await createLearned();
  scene.hear(advert("02:00:00:00:00:01", "fe80::66", { prefix: "2001:db8:66::" }));
  await scene.clock.advance(1000);
  expect(scene.incidents()).toMatchObject([{ kind: "router_advertisement", subject: "fe80::66" }]);
});
