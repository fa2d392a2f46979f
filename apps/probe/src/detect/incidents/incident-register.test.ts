import { RogueDetected } from "@lanthorn/contract/uplink";
import { describe, expect, test } from "vitest";
import { createGuardScene } from "../testing/guard-scene.ts";
import type { Guard, GuardDeps } from "../guard.ts";
import { createIncident, IncidentData } from "./incident.ts";
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
  return { scene, report, end: (subject = SIGN.subject) => deps?.incidents.end(SIGN.kind, subject) };
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

test("what a tick has reported is published by the next one, though that comes a little early", async () => {
  let deps: GuardDeps | undefined;
  let ticks = 0;
  const scene = createGuardScene({
    guards: [(given): Guard => {
      deps = given;
      return {
        name: "test", tick() {
          ticks += 1;
          if (ticks === 1) deps?.incidents.report(SIGN);
        },
      };
    }],
  });
  scene.guards.tick?.(0);
  await scene.clock.advance(495);
  scene.guards.tick?.(495);
  expect(scene.incidents()).toHaveLength(1);
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

test("an incident keeps its id from its beginning to its end, and no later one has the same", async () => {
  const { scene, report } = createScene();
  report();
  await scene.clock.advance(1000);
  const after = scene.restart();
  await after.clock.advance(301_000);
  expect(after.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
  const again = createScene();
  await again.scene.clock.advance(302_000);
  again.report();
  again.report({ kind: "duplicate_ip" });
  await again.scene.clock.advance(1000);
  const ids = [...after.incidents(), ...again.scene.incidents()].map(({ incident_id: id }) => id);
  expect(ids[0]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(3);
});

test("an incident that an older version published goes on, without an id", () => {
  const data = { ...createIncident(SIGN, { wall: 0, monotonic: 0 }).data };
  delete data.incident_id;
  expect(IncidentData.parse(data)).toEqual(data);
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

describe("senders that may be forged", () => {
  const forged = (n: number) => `02:66:66:66:66:${n.toString(16).padStart(2, "0")}`;

  test.each([0, 400, 700, 20_000])("are one incident, one each %i ms", async (pauseMs) => {
    const { scene, report } = createScene();
    for (let n = 0; n < 12; n += 1) {
      report({ subject: forged(n), mac: forged(n), mayBeForged: true, severity: n === 5 ? "critical" : "high" });
      await scene.clock.advance(pauseMs);
    }
    await scene.clock.advance(40_000);
    expect(new Set(scene.incidents().map(({ subject }) => subject)).size).toBe(1);
    expect(scene.incidents().at(-1)).toMatchObject({ state: "seen", severity: "critical", count: 12 });
  });

  test("are named in the incident, which ends when all of them are over", async () => {
    const { scene, report, end } = createScene();
    report({ subject: forged(1), mayBeForged: true });
    await scene.clock.advance(1000);
    report({ subject: forged(2), mayBeForged: true });
    await scene.clock.advance(31_000);
    expect(scene.incidents().at(-1)).toMatchObject({ subject: forged(1), facts: { victim: "192.168.1.5", senders: `${forged(1)}, ${forged(2)}` } });
    end(forged(1));
    expect(scene.incidents().filter(({ state }) => state === "ended")).toEqual([]);
    end(forged(2));
    expect(scene.incidents().at(-1)).toMatchObject({ subject: forged(1), state: "ended" });
  });

  test("go on as one incident after a restart", async () => {
    const { scene, report } = createScene();
    report({ subject: forged(1), mayBeForged: true });
    await scene.clock.advance(1000);
    const after = scene.restart();
    for (const n of [2, 3]) {
      report({ subject: forged(n), mayBeForged: true });
      await after.clock.advance(1000);
    }
    await after.clock.advance(40_000);
    expect(new Set(after.incidents().map(({ subject }) => subject))).toEqual(new Set([forged(1)]));
  });

  test("are no part of an incident about one that is known to be there", async () => {
    const { scene, report } = createScene();
    report();
    report({ subject: forged(1), mayBeForged: true });
    report({ subject: forged(2) });
    await scene.clock.advance(1000);
    expect(scene.incidents().map(({ subject }) => subject)).toEqual([SIGN.subject, forged(1), forged(2)]);
  });
});

test("a flood is as bad as the worst of its senders", async () => {
  const { scene, report } = createScene();
  for (let n = 0; n < 6; n += 1) report({ subject: `02:00:00:00:01:0${n}`, severity: n === 1 ? "critical" : "medium" });
  await scene.clock.advance(1000);
  expect(scene.incidents()).toMatchObject([{ subject: "*", severity: "critical", count: 6 }]);
});

test("one that is said to be over at once is published nevertheless", async () => {
  const { scene, report, end } = createScene();
  report();
  await scene.clock.advance(100);
  end();
  await scene.clock.advance(1000);
  expect(scene.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
});

test("who begins and ends an incident by turns makes four, the last of which ends when it is quiet", async () => {
  const { scene, report, end } = createScene();
  for (let n = 0; n < 100; n += 1) {
    report();
    await scene.clock.advance(1000);
    end();
    await scene.clock.advance(1000);
  }
  expect(scene.incidents().map(({ state }) => state).slice(0, 7)).toEqual(["seen", "ended", "seen", "ended", "seen", "ended", "seen"]);
  expect(scene.incidents().filter(({ state }) => state === "ended")).toHaveLength(3);
  await scene.clock.advance(301_000);
  expect(scene.incidents().map(({ state }) => state).slice(-1)).toEqual(["ended"]);
  await scene.clock.advance(301_000);
  report();
  await scene.clock.advance(1000);
  end();
  expect(scene.incidents().map(({ state }) => state).slice(-2)).toEqual(["seen", "ended"]);
});

test("hostile texts leave as events that the contract takes, without control characters and halves of letters", async () => {
  const { scene, report } = createScene();
  const hostile = `\u0000\u001b[2J\u202e${"\u{1F600}".repeat(600)}`;
  const facts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}`.repeat(70), `x${hostile}`]));
  report({ detail: `y${hostile.repeat(3)}`, facts, packet: new Uint8Array(9000) });
  report({ severity: "critical", detail: hostile.repeat(3), facts: { name: hostile }, packet: new Uint8Array(9000) });
  await scene.clock.advance(1000);
  const [incident] = scene.incidents();
  expect(RogueDetected.safeParse(incident)).toMatchObject({ success: true });
  expect([incident?.detail ?? "", ...Object.values(incident?.facts ?? {})].filter((text) => /[\p{Cc}\p{Cf}\p{Cs}]/u.test(text))).toEqual([]);
});
