import { describe, expect, test } from "vitest";
import { createAddressGuard } from "../addresses/address-guard.ts";
import { solicitation } from "../addresses/testing/small-lan.ts";
import type { LinkFacts } from "../../capture/link.ts";
import { createGuardScene, type GuardScene, OWN_LINK } from "../testing/guard-scene.ts";
import { createRouterAdvertisementsGuard } from "./router-advertisements.ts";
import { advert, macOf, ROGUE, ROUTER } from "./testing/adverts.ts";

const guards = [createRouterAdvertisementsGuard];
const forged = (n: number) => advert({ router: `fe80::${(n + 1).toString(16)}:1`, from: macOf(n), prefix: `2001:db8:${(n + 256).toString(16)}::`, lifetime: 60 });
const kinds = (scene: GuardScene) => [...new Set(scene.incidents().map(({ kind, subject }) => `${kind} ${subject}`))];

describe("forged routers", () => {
  test.each([40, 200, 400, 700, 2000, 15_000])("are one incident, one each %i ms, over a restart too", async (pauseMs) => {
    for (const learningMinutes of [0, 60]) {
      let scene = createGuardScene({ guards, settings: { learning_minutes: learningMinutes } });
      if (learningMinutes > 0) scene.hear(advert(ROUTER));
      await scene.clock.advance(2000);
      for (let n = 0; n < 40; n += 1) {
        scene.hear(forged(n));
        await scene.clock.advance(pauseMs);
        if (n === 20) scene = scene.restart();
      }
      await scene.clock.advance(5000);
      expect(kinds(scene)).toHaveLength(1);
    }
  });

  test("are one incident of one kind, though the probe takes an address from their prefixes", async () => {
    let link: LinkFacts = OWN_LINK;
    const scene = createGuardScene({ guards, settings: { learning_minutes: 0 }, link: () => link });
    for (let n = 0; n < 30; n += 1) {
      scene.hear(forged(n));
      await scene.clock.advance(700);
      if (n === 3) link = { ...OWN_LINK, addresses: [...OWN_LINK.addresses, { ip: "2001:db8:100::1:1", prefixLength: 64 }] };
      if (n === 15) expect(kinds(scene.restart())).toHaveLength(1);
    }
    expect(kinds(scene)).toEqual(["unexpected_ipv6 fe80::1:1"]);
  });

  test("that take the known router's name under another MAC each time are one incident", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 1 } });
    scene.hear(advert(ROUTER));
    await scene.clock.advance(2000);
    scene.hear(advert(ROUTER));
    await scene.clock.advance(60_000);
    for (let n = 0; n < 20; n += 1) {
      scene.hear(advert({ ...ROUTER, from: macOf(n), lifetime: 0 }));
      await scene.clock.advance(1000);
    }
    expect(kinds(scene)).toHaveLength(1);
    expect(scene.incidents()[0]).toMatchObject({ severity: "critical", expected_macs: [ROUTER.from] });
  });

  test("make no scanner of a host that takes an address from each of their prefixes, and looks for them afterwards", async () => {
    const scene = createGuardScene({ guards: [createAddressGuard, ...guards], settings: { learning_minutes: 0, quiet_seconds: 6 } });
    for (let n = 0; n < 100; n += 1) {
      scene.hear(forged(n), solicitation(macOf(500), "::", `2001:db8:${(n + 256).toString(16)}::5`));
      if (n % 10 === 0) await scene.clock.advance(500);
    }
    await scene.clock.advance(15_000);
    for (let n = 0; n < 100; n += 1) scene.hear(solicitation(macOf(500), "fe80::5", `fe80::${(n + 1).toString(16)}:1`), solicitation(macOf(500), "::", `fd00::5:${n}`));
    await scene.clock.advance(5000);
    expect(kinds(scene)).toHaveLength(1);
  });

  test("end when each of them has, and do not hide a true router that is there beside them", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 0 } });
    for (let n = 0; n < 5; n += 1) {
      scene.hear(advert(ROGUE));
      await scene.clock.advance(2000);
    }
    for (let n = 0; n < 4; n += 1) {
      scene.hear(forged(n));
      await scene.clock.advance(1000);
    }
    expect(kinds(scene)).toEqual([`unexpected_ipv6 ${ROGUE.router}`, "unexpected_ipv6 fe80::1:1"]);
    await scene.clock.advance(70_000);
    expect(scene.incidents().filter(({ state }) => state === "ended").map(({ subject }) => subject)).toEqual(["fe80::1:1"]);
  });
});
