import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GuardsPart, ProbeConfiguration } from "@lanthorn/contract/uplink";
import { silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandHandlers } from "../daemon/command-handlers.ts";
import { siteModules } from "../daemon/parts/site-modules.ts";
import { createSiteConfiguration } from "../uplink/site-configuration.ts";
import type { GuardDeps } from "./guard.ts";
import type { Sign } from "./incidents/sign.ts";
import { createGuardScene, type GuardScene } from "./testing/guard-scene.ts";

const SIGN: Sign = {
  kind: "arp_spoofing", subject: "192.168.1.5", severity: "high", ip: "192.168.1.5", mac: "02:00:00:00:00:66", detail: "seen", packet: null,
};
const EXCEPTION = { kind: "arp_spoofing", ip: "192.168.1.0/28", until: "2100-01-01T00:00:00.000Z", reason: "a cluster" };

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-guards-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Guards with the part of the daemon that takes the collector's configuration. */
function start(settings: object = {}) {
  const given: GuardDeps[] = [];
  const scene: GuardScene = createGuardScene({
    settings, guards: [(deps) => {
      given.push(deps);
      return { name: "test" };
    }],
  });
  const watch = {
    guards: scene.guards, discovery: { configure: () => null }, credentials: { take: () => Promise.resolve(null) }, onCredentials: () => undefined,
  } as unknown as Parameters<typeof siteModules>[0]["watch"];
  const configuration = createSiteConfiguration({
    path: join(directory, "site-configuration.json"), modules: siteModules({ watch, transfers: null, traffic: null, decoys: null }), onState: () => undefined, log: silentLog,
  });
  const push = async (guards: GuardsPart | undefined, revision = 1) => {
    const message: ProbeConfiguration = {
      v: 1, revision, site_name: "Office", sweep: { enabled: true, interval_seconds: 600, packets_per_second: 50 }, excluded: [],
      ...(guards && { guards }),
    };
    configuration.onMessage(new TextEncoder().encode(JSON.stringify(message)));
    await scene.clock.advance(0);
  };
  const [deps] = given;
  if (!deps) throw new Error("the guard was not made");
  return { scene, deps, push, configuration };
}

test("what the collector pushes counts at once, is kept over a restart, and goes when it is pushed no more", async () => {
  const first = start();
  await first.push({ quiet_seconds: 600, exceptions: [EXCEPTION], routers: ["192.168.1.9"] });
  expect(first.deps.settings()).toMatchObject({ quiet_seconds: 600, routers: ["192.168.1.9"] });
  first.deps.incidents.report(SIGN);
  first.deps.incidents.report({ ...SIGN, subject: "192.168.1.77", ip: "192.168.1.77" });
  await first.scene.clock.advance(1000);
  expect(first.scene.incidents().map(({ subject }) => subject)).toEqual(["192.168.1.77"]);

  const second = start();
  expect([second.configuration.state(), second.deps.settings().routers]).toEqual([{ revision: 1, error: null }, ["192.168.1.9"]]);
  await second.push(undefined, 2);
  second.deps.incidents.report(SIGN);
  await second.scene.clock.advance(1000);
  expect([second.deps.settings().routers, second.scene.incidents()]).toMatchObject([[], [{ subject: SIGN.subject }]]);
});

test("the collector turns sending off, and does not turn it on where the file says no", async () => {
  const listening = start({ active: false });
  await listening.push({ active: true });
  expect(listening.scene.guards.state().active).toBe(false);
  const sending = start();
  await sending.push({ active: false, enabled: false });
  expect(sending.scene.guards.state()).toMatchObject({ active: false, enabled: false });
  await sending.push({}, 2);
  expect(sending.scene.guards.state()).toMatchObject({ active: true, enabled: true });
});

test("the command to learn anew begins the learning period and answers when it ends", async () => {
  const { scene, deps, push } = start({ learning_minutes: 10 });
  const handlers = commandHandlers({
    discovery: {} as Parameters<typeof commandHandlers>[0]["discovery"], guards: scene.guards, interfaceRead: Promise.resolve(),
  });
  expect([scene.guards.state().learning_until, deps.learning.isOn()]).toEqual([null, true]);
  await scene.clock.advance(20 * 60_000);
  expect(deps.learning.isOn()).toBe(false);
  const until = new Date(scene.clock.now() + 600_000).toISOString();
  expect(await handlers.guards_learn({})).toEqual({ data: { learning_until: until } });
  expect([deps.learning.isOn(), scene.guards.state().learning_until]).toEqual([true, until]);
  await push({ enabled: false });
  expect(await handlers.guards_learn({})).toHaveProperty("refused");
});

test("a guard that fails at each tick keeps no other's incidents from being published", async () => {
  const given: GuardDeps[] = [];
  const scene = createGuardScene({
    guards: [
      () => ({
        name: "broken", tick() {
          throw new Error("broken");
        },
      }),
      (deps) => {
        given.push(deps);
        return { name: "sound", learned: () => [] };
      },
    ],
  });
  given[0]?.incidents.report(SIGN);
  given[0]?.learned.put("test", "key", 1);
  await scene.clock.advance(3000);
  expect(scene.incidents()).toMatchObject([{ subject: SIGN.subject }]);
  expect(scene.db.prepare("SELECT value FROM guard_learned WHERE scope = 'test'").all()).toEqual([{ value: "1" }]);
});

test("what goes on is over when the guards are turned off, also while the probe is not running", async () => {
  const { scene, deps, push } = start();
  deps.incidents.report(SIGN);
  await scene.clock.advance(1000);
  deps.incidents.report({ ...SIGN, subject: "192.168.1.77" });
  await push({ enabled: false });
  expect(scene.incidents().map(({ subject, state }) => [subject, state])).toEqual([[SIGN.subject, "seen"], [SIGN.subject, "ended"]]);
  await push({}, 2);
  await scene.clock.advance(10_000);
  expect(scene.incidents()).toHaveLength(2);

  deps.incidents.report(SIGN);
  await scene.clock.advance(1000);
  const later = createGuardScene({ guards: [], settings: { enabled: false }, db: scene.db });
  expect(later.incidents()).toMatchObject([{ subject: SIGN.subject, state: "ended" }]);
});
