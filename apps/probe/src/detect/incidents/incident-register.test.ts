import { expect, test } from "vitest";
import { createGuardScene } from "../testing/guard-scene.ts";
import type { Guard, GuardDeps } from "../guard.ts";
import type { Sign } from "./sign.ts";

const SIGN: Sign = {
  kind: "arp_spoofing", subject: "02:00:00:00:00:66", severity: "high", ip: "192.168.1.5", mac: "02:00:00:00:00:66", expectedMacs: ["02:00:00:00:00:05"],
  detail: "seen", facts: { victim: "192.168.1.5" }, packet: Uint8Array.of(1, 2, 3),
};

function createScene(settings: object = {}) {
  let deps: GuardDeps | undefined;
  const scene = createGuardScene({
    settings, guards: [(given): Guard => {
      deps = given;
      return { name: "test" };
    }],
  });
  const report = (change: Partial<Sign> = {}) => deps?.incidents.report({ ...SIGN, ...change });
  return { scene, report, end: () => deps?.incidents.end(SIGN.kind, SIGN.subject) };
}

test("an incident is published once, when it gets worse, and when it was quiet for long enough", async () => {
  const { scene, report } = createScene();
  report();
  await scene.clock.advance(1000);
  for (let n = 0; n < 20; n += 1) {
    report();
    await scene.clock.advance(1000);
  }
  expect(scene.incidents()).toMatchObject([{ state: "seen", subject: SIGN.subject, count: 1, facts: { victim: "192.168.1.5" } }]);
  report({ severity: "critical", detail: "the gateway" });
  await scene.clock.advance(31_000);
  expect(scene.incidents().slice(1)).toMatchObject([{ state: "seen", severity: "critical", detail: "the gateway", count: 22 }]);
  await scene.clock.advance(300_000);
  expect(scene.incidents().slice(2)).toMatchObject([{ state: "ended", subject: SIGN.subject }]);
  await scene.clock.advance(300_000);
  expect(scene.incidents()).toHaveLength(3);
});

test("one whose cause is known to be gone ends at once", async () => {
  const { scene, report, end } = createScene();
  report();
  await scene.clock.advance(1000);
  end();
  expect(scene.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
});

test("a thousand forged senders are one incident", async () => {
  const { scene, report } = createScene();
  for (let n = 0; n < 1000; n += 1) report({ subject: `02:00:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}` });
  await scene.clock.advance(1000);
  expect(scene.incidents()).toMatchObject([{ state: "seen", subject: "*", count: 1000, mac: "" }]);
});

test("a restart neither forgets an incident nor publishes it twice", async () => {
  const { scene, report } = createScene();
  report();
  await scene.clock.advance(1000);
  const after = scene.restart();
  await after.clock.advance(200_000);
  expect(after.incidents()).toHaveLength(1);
  await after.clock.advance(101_000);
  expect(after.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
});

test("what an exception says is right is not reported until the exception ends", async () => {
  const until = "2025-12-31T00:00:00.000Z";
  const cases: readonly object[] = [{ mac: SIGN.mac }, { kind: "arp_spoofing", ip: "192.168.1.0/24" }, { ip: "192.168.1.5" }];
  for (const exception of cases) {
    const { scene, report } = createScene({ exceptions: [exception] });
    report();
    await scene.clock.advance(1000);
    expect(scene.incidents()).toEqual([]);
  }
  const { scene, report } = createScene({ exceptions: [{ mac: SIGN.mac, until }, { mac: "02:00:00:00:00:67" }, { kind: "duplicate_ip" }] });
  report();
  await scene.clock.advance(1000);
  expect(scene.incidents()).toHaveLength(1);
});
