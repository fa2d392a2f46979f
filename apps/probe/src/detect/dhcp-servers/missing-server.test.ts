import { describe, expect, test } from "vitest";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { answer, ask, CLIENT, macOf, SERVER, toOurSearch } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const guards = [createDhcpServersGuard];
const about = (scene: GuardScene, kind: string) => scene.incidents().filter((incident) => incident.kind === kind);

/** Each client asks, so often. */
async function askAgain(scene: GuardScene, clients: readonly string[], times = 4): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    scene.hear(...clients.map((client) => ask("discover", client)));
    await scene.clock.advance(3000);
  }
}
/** A server that answers our own search is known, and the learning period is over. */
async function createLearned(settings: object = {}): Promise<GuardScene> {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, ...settings } });
  for (let second = 0; second < 660; second += 1) {
    await scene.clock.advance(1000);
    if (scene.sent.splice(0).length > 0) scene.hear(toOurSearch(answer(SERVER)));
  }
  expect(scene.incidents()).toEqual([]);
  return scene;
}

describe("when no server answers", () => {
  test("it is one incident, soon after a client has asked in vain, which the first answer ends at once", async () => {
    const scene = await createLearned();
    const beganAt = scene.clock.now();
    for (let n = 0; n < 10; n += 1) {
      scene.hear(ask("discover"));
      await scene.clock.advance(4000);
    }
    expect(about(scene, "dhcp_missing")).toMatchObject([{ state: "seen", severity: "high", subject: "link", vlan_id: null }]);
    expect(Date.parse(scene.events.at(-1)?.occurred_at ?? "") - beganAt).toBeLessThan(30_000);
    scene.hear(answer(SERVER));
    await scene.clock.advance(1000);
    expect(about(scene, "dhcp_missing").map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("it is seen within five seconds where clients repeat their questions and our own is not answered either", async () => {
    const scene = await createLearned();
    const beganAt = scene.clock.now();
    for (let n = 0; n < 10; n += 1) {
      if (n % 2 === 0) scene.hear(ask("discover"));
      if (n % 2 === 0 && n >= 4) scene.hear(ask("discover", macOf(1)));
      await scene.clock.advance(500);
    }
    expect(about(scene, "dhcp_missing")).toMatchObject([{ state: "seen" }]);
    expect(Date.parse(scene.events.at(-1)?.occurred_at ?? "") - beganAt).toBeLessThanOrEqual(5000);
  });

  test("it is one incident where nobody but the probe asks, for as long as it lasts", async () => {
    const scene = await createLearned();
    await scene.clock.advance(30 * MINUTE);
    expect(new Set(scene.incidents().map(({ kind, state, since }) => `${kind} ${state} ${since}`)).size).toBe(1);
    expect(scene.incidents()[0]).toMatchObject({ kind: "dhcp_missing", state: "seen", subject: "link" });
    await scene.clock.advance(60 * MINUTE);
    scene.hear(answer(SERVER));
    await scene.clock.advance(1000);
    expect(about(scene, "dhcp_missing").filter(({ state }) => state === "ended")).toHaveLength(1);
  });

  test("it goes on over a restart, is not raised twice, and ends by the first answer", async () => {
    const scene = await createLearned();
    await askAgain(scene, [CLIENT, macOf(1)], 10);
    const after = scene.restart();
    await askAgain(after, [CLIENT, macOf(1)], 10);
    expect(new Set(about(after, "dhcp_missing").map(({ state, since }) => `${state} ${since}`)).size).toBe(1);
    after.hear(answer(SERVER));
    await after.clock.advance(1000);
    expect(about(after, "dhcp_missing").at(-1)).toMatchObject({ state: "ended" });
  });

  test("it ends in time where nobody asks any more and nothing may be sent", async () => {
    const scene = createGuardScene({ guards, settings: { active: false } });
    await askAgain(scene, [CLIENT, macOf(1)]);
    expect(about(scene, "dhcp_missing")).toHaveLength(1);
    await scene.clock.advance(310_000);
    expect(about(scene, "dhcp_missing").map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("where none was known, it is nothing until several clients repeat their questions", async () => {
    const scene = createGuardScene({ guards, settings: { active: false } });
    await askAgain(scene, [CLIENT]);
    expect(scene.incidents()).toEqual([]);
    await askAgain(scene, [CLIENT, macOf(1)]);
    expect(about(scene, "dhcp_missing")).toHaveLength(1);
  });

  test("ten thousand forged clients that ask in vain are one incident, and no lack of a server", async () => {
    const scene = await createLearned();
    for (let n = 0; n < 10_000; n += 1) {
      scene.hear(ask("discover", macOf(n)));
      if (n % 1000 === 999) await scene.clock.advance(1000);
    }
    await scene.clock.advance(1000);
    expect(scene.incidents().map(({ kind }) => kind)).toEqual(["dhcp_exhaustion"]);
  });
});

describe("a server is not missing", () => {
  test("while clients choose one whose answers go to them alone", async () => {
    const scene = createGuardScene({ guards, settings: { active: false } });
    for (let n = 0; n < 12; n += 1) {
      scene.hear(ask("discover", macOf(n)), ask("discover", macOf(n)), ask("discover", macOf(n)), ask("request", macOf(n), SERVER.server));
      await scene.clock.advance(3000);
    }
    expect(scene.incidents()).toEqual([]);
  });

  test.each([500, 1000, 3000])("while it refuses some clients, whom it does not know and which ask each %i ms, and answers us", async (everyMs) => {
    const scene = await createLearned();
    for (let ms = 0; ms < 60_000; ms += 500) {
      if (ms % everyMs === 0) scene.hear(ask("discover"), ask("discover", macOf(1)));
      await scene.clock.advance(500);
      if (scene.sent.splice(0).length > 0) scene.hear(toOurSearch(answer({ ...SERVER, type: "ack" })));
    }
    expect(scene.incidents()).toEqual([]);
  });

  test("while it looks for three seconds whether an address is free before it offers it, as dnsmasq does", async () => {
    const scene = await createLearned();
    for (let n = 0; n < 12; n += 1) {
      for (let half = 0; half < 6; half += 1) {
        scene.hear(ask("discover", macOf(2 * n)), ask("discover", macOf(2 * n + 1)));
        await scene.clock.advance(500);
      }
      scene.hear(answer(SERVER));
    }
    expect(scene.incidents()).toEqual([]);
  });

  test("because a PXE server alone answers: then it is", async () => {
    const scene = createGuardScene({ guards, settings: { active: false } });
    for (let n = 0; n < 5; n += 1) {
      scene.hear(ask("discover"), ask("discover", macOf(1)), answer({ server: "192.168.1.5", mac: macOf(5), yiaddr: "0.0.0.0", options: [[60, Uint8Array.from(Buffer.from("PXEClient"))]] }));
      await scene.clock.advance(3000);
    }
    expect(about(scene, "dhcp_missing")).toHaveLength(1);
  });
});
