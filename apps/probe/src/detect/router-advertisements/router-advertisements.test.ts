import { decodeFrame } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { ip, mac, ndpFrame } from "../../observe/testing/frames.ts";
import { createGuardScene, OWN_LINK } from "../testing/guard-scene.ts";
import { captureFrames, faultsUnder, hasCaptures } from "../testing/hostile-frames.ts";
import { createRouterAdvertisementsGuard } from "./router-advertisements.ts";
import { advert, macOf, ROGUE, ROUTER } from "./testing/adverts.ts";

const MINUTE = 60_000;
const guards = [createRouterAdvertisementsGuard];
const neighbor = (target: string, from: string) => ndpFrame({
  kind: "neighbor-advertisement", isRouter: true, isSolicited: true, isOverride: true, target: ip(target),
  options: [{ kind: "target-link-layer-address", address: mac(from) }],
}, target, "ff02::1", { from });

async function createLearned(settings: object = {}) {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, ...settings } });
  scene.hear(advert(ROUTER));
  await scene.clock.advance(2000);
  scene.hear(advert(ROUTER));
  await scene.clock.advance(11 * MINUTE);
  scene.hear(advert(ROUTER));
  return scene;
}

describe("an unknown router", () => {
  test.each([
    ["with a lifetime", {}, "high"],
    ["that wants to be preferred", { preference: "high" }, "critical"],
    ["that gives name servers alone", { lifetime: 0, prefix: undefined }, "high"],
    ["that gives a global prefix alone", { lifetime: 0, dns: undefined }, "medium"],
    ["that shows the way to everything by a route", { lifetime: 0, dns: undefined, prefix: undefined, route: "::" }, "high"],
  ] as const)("%s is an incident", async (_, change, severity) => {
    const scene = await createLearned();
    scene.hear(advert({ ...ROGUE, ...change }));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{ kind: "router_advertisement", subject: ROGUE.router, severity, mac: ROGUE.from, expected_macs: [ROUTER.from] }]);
  });

  test("ends when its lifetime runs out, or when it says so", async () => {
    const scene = await createLearned();
    scene.hear(advert({ ...ROGUE, lifetime: 30 }));
    await scene.clock.advance(29_000);
    expect(scene.incidents().map(({ state }) => state)).toEqual(["seen"]);
    await scene.clock.advance(2000);
    expect(scene.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
    scene.hear(advert(ROGUE));
    await scene.clock.advance(2000);
    scene.hear(advert({ router: ROGUE.router, from: ROGUE.from, lifetime: 0 }));
    expect(scene.incidents().map(({ state }) => state)).toEqual(["seen", "ended", "seen", "ended"]);
  });

  test("on a network without IPv6 routers is unexpected IPv6", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 0 } });
    scene.hear(advert(ROGUE));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{
      kind: "unexpected_ipv6", subject: ROGUE.router, severity: "high",
      facts: { lifetime_seconds: "1800", prefixes: "2001:db8:66::/64", dns: "2001:db8:66::53", preference: "medium" },
    }]);
  });

  test("and thousands more are one incident, in the learning period too, and the true router is learned", async () => {
    for (const learningMinutes of [0, 10]) {
      const scene = createGuardScene({ guards, settings: { learning_minutes: learningMinutes, active: false } });
      for (let n = 0; n < 2000; n += 1) scene.hear(advert({ router: `fe80::${(n + 1).toString(16)}:1`, from: macOf(n), prefix: `2001:db8:${(n + 256).toString(16)}::` }));
      await scene.clock.advance(2000);
      expect(scene.incidents().at(-1)).toMatchObject({ subject: "*", state: "seen" });
      expect(scene.incidents().filter(({ subject }) => subject !== "*")).toEqual([]);
      if (learningMinutes === 0) continue;
      for (let minute = 0; minute < 4; minute += 1) {
        scene.hear(advert(ROUTER));
        await scene.clock.advance(MINUTE / 2);
      }
      expect(scene.guards.learned().map(({ name }) => name)).toEqual([ROUTER.router]);
    }
  });

  test("goes on over a restart, is not raised twice, and is not learned", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 10 } });
    scene.hear(advert(ROUTER));
    await scene.clock.advance(2000);
    scene.hear(advert(ROUTER), advert(ROGUE));
    await scene.clock.advance(2000);
    const after = scene.restart();
    after.hear(advert(ROGUE));
    await after.clock.advance(5000);
    expect(after.incidents()).toMatchObject([{ subject: ROGUE.router, state: "seen" }]);
    expect(after.guards.learned().map(({ name }) => name)).toEqual([ROUTER.router]);
  });

  test("that was there first makes room for the one that the machine uses", async () => {
    const scene = createGuardScene({ guards, link: { ...OWN_LINK, gateways: [ROUTER.router] } });
    scene.hear(advert(ROGUE), advert(ROUTER), advert(ROGUE));
    await scene.clock.advance(1500);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual([ROUTER.router]);
    expect(scene.incidents()).toMatchObject([{ subject: ROGUE.router }]);
  });
});

describe("a known router's name", () => {
  test.each([
    ["ended by another MAC", { lifetime: 0 }],
    ["with other name servers", { dns: ROGUE.dns }],
    ["with another prefix", { prefix: ROGUE.prefix }],
    ["that wants to be preferred", { preference: "high" }],
    ["with addresses by DHCPv6", { isManaged: true }],
  ] as const)("%s under another MAC is critical", async (_, change) => {
    const scene = await createLearned();
    scene.hear(advert({ ...ROUTER, ...change, from: ROGUE.from }));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{ kind: "router_advertisement", subject: ROGUE.from, severity: "critical", expected_macs: [ROUTER.from] }]);
  });

  test("with its own settings under another MAC is critical once the router shows that it is alive", async () => {
    const scene = await createLearned();
    const before = scene.sent.length;
    scene.hear(advert({ ...ROUTER, from: ROGUE.from }));
    await scene.clock.advance(500);
    expect(scene.incidents()).toEqual([]);
    const asked = scene.sent.slice(before).flatMap((bytes) => {
      const frame = decodeFrame(bytes);
      return frame.ok ? [frame.value.icmpType] : [];
    });
    expect(asked).toContain(135);
    scene.hear(neighbor(ROUTER.router, ROUTER.from));
    await scene.clock.advance(1000);
    expect(scene.incidents()).toMatchObject([{ subject: ROGUE.from, severity: "critical" }]);
  });

  test("that is ended again and again under its own MAC is critical", async () => {
    const scene = await createLearned();
    for (let n = 0; n < 2; n += 1) {
      scene.hear(advert({ ...ROUTER, lifetime: 0 }));
      await scene.clock.advance(1000);
      scene.hear(advert(ROUTER));
      await scene.clock.advance(1000);
    }
    expect(scene.incidents()).toMatchObject([{ subject: ROUTER.router, severity: "critical" }]);
  });

  test("that gives the known settings and others by turns under its own MAC is critical", async () => {
    const scene = await createLearned();
    scene.hear(advert({ ...ROUTER, prefix: ROGUE.prefix }));
    await scene.clock.advance(1000);
    scene.hear(advert(ROUTER));
    await scene.clock.advance(1000);
    expect(scene.incidents()).toMatchObject([{ subject: ROUTER.router, severity: "critical", facts: { prefixes: "2001:db8:66::/64" } }]);
  });
});

describe("normal", () => {
  test("is a Thread border router: no lifetime, a unique local prefix, a route", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 0 } });
    for (let n = 0; n < 5; n += 1) {
      scene.hear(advert({ router: "fe80::9", from: macOf(9), lifetime: 0, prefix: "fd66:1:1::", route: "fd66:1:2::" }));
      await scene.clock.advance(4000);
    }
    expect(scene.incidents()).toEqual([]);
  });

  test("is a second router with the same prefix that is learned, and one that is allowed", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 10, routers: ["fe80::3"] } });
    const second = { ...ROUTER, router: "fe80::2", from: macOf(2), dns: undefined };
    scene.hear(advert(ROUTER), advert(second));
    await scene.clock.advance(11 * MINUTE);
    scene.hear(advert(ROUTER), advert(second), advert({ ...ROGUE, router: "fe80::3" }));
    await scene.clock.advance(2000);
    expect(scene.incidents()).toEqual([]);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual([ROUTER.router, second.router, "fe80::3"]);
  });

  test("is a failover: another MAC, and the first is silent", async () => {
    const scene = await createLearned();
    for (let n = 0; n < 5; n += 1) {
      scene.hear(advert({ ...ROUTER, from: macOf(2) }));
      await scene.clock.advance(5000);
    }
    expect(scene.incidents()).toEqual([]);
    expect(scene.guards.learned()).toMatchObject([{ macs: [ROUTER.from, macOf(2)] }]);
  });

  test("is a router that restarts once", async () => {
    const scene = await createLearned();
    scene.hear(advert({ ...ROUTER, lifetime: 0, dns: undefined }));
    await scene.clock.advance(1000);
    for (let n = 0; n < 3; n += 1) {
      scene.hear(advert(ROUTER));
      await scene.clock.advance(16_000);
    }
    expect(scene.incidents()).toEqual([]);
  });

  test("is a provider's new prefix; new name servers are information, and both are learned", async () => {
    const scene = await createLearned();
    for (let n = 0; n < 3; n += 1) {
      scene.hear(advert({ ...ROUTER, prefix: "2001:db8:2::" }));
      await scene.clock.advance(6 * MINUTE);
    }
    expect(scene.incidents()).toEqual([]);
    scene.hear(advert({ ...ROUTER, prefix: "2001:db8:2::", dns: "2001:db8:2::53" }));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{ severity: "info", subject: ROUTER.router }]);
    await scene.clock.advance(11 * MINUTE);
    expect(scene.guards.learned()).toMatchObject([{ facts: { prefixes: "2001:db8:2::/64", dns: "2001:db8:2::53" } }]);
  });
});

test("damaged advertisements make it throw nothing", async () => {
  const full = advert({ ...ROUTER, route: "::" });
  expect(await faultsUnder(createRouterAdvertisementsGuard, [full, advert(ROGUE), neighbor(ROUTER.router, ROUTER.from)])).toEqual([]);
});

test.skipIf(!hasCaptures)("a capture of a router is quiet while it is learned", async () => {
  const scene = createGuardScene({ guards });
  scene.hear(...captureFrames("icmpv6-ra-pref64.pcap"));
  await scene.clock.advance(MINUTE);
  expect(scene.incidents()).toEqual([]);
});
