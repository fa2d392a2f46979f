import { describe, expect, test } from "vitest";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { answer, ask, CLIENT, ROGUE, SERVER } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const FLOOD = 10_000;
const SOURCE_MAC = 6;
const SOURCE_IP = 14 + 12;
/** Behind the headers of Ethernet, IPv4 and UDP, the fixed fields, the cookie and the message's type. */
const SERVER_IDENTIFIER = 14 + 20 + 8 + 240 + 3 + 2;

/** Offers of as many servers, each with an address and a MAC of its own. */
function* forged(count: number, like: Uint8Array): Generator<Uint8Array> {
  for (let n = 0; n < count; n += 1) {
    const frame = like.slice();
    const bytes = new DataView(frame.buffer);
    bytes.setUint16(SOURCE_MAC + 4, n);
    for (const at of [SOURCE_IP, SERVER_IDENTIFIER]) bytes.setUint32(at, 0x0a00_0000 + n);
    yield frame;
  }
}
async function flood(scene: GuardScene, like: Uint8Array, beside: readonly Uint8Array[] = []): Promise<void> {
  let heard = 0;
  for (const frame of forged(FLOOD, like)) {
    scene.hear(frame);
    heard += 1;
    if (heard % 1000 !== 0) continue;
    scene.hear(...beside);
    await scene.clock.advance(500);
  }
}
const kept = (scene: GuardScene) => (scene.db.prepare("SELECT count(*) AS rows FROM guard_learned WHERE scope = 'dhcp_servers'").get() as { rows: number }).rows;

describe("ten thousand forged servers", () => {
  test("are one incident that ends, and none of them is kept", async () => {
    const scene = createGuardScene({ guards: [createDhcpServersGuard], settings: { learning_minutes: 10, active: false } });
    scene.hear(answer(SERVER));
    await scene.clock.advance(11 * MINUTE);
    await flood(scene, answer(ROGUE), [answer(SERVER)]);
    await scene.clock.advance(2000);
    expect(scene.incidents()).toMatchObject([{ kind: "dhcp_server", subject: "*", state: "seen" }]);
    await scene.clock.advance(301_000);
    expect(scene.incidents().map(({ subject, state }) => `${subject} ${state}`)).toEqual(["* seen", "* ended"]);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual([SERVER.server]);
    expect(kept(scene)).toBe(1);
  });

  test.each([
    ["that lead elsewhere", answer(ROGUE)],
    ["that give what the known one gives", answer({ ...ROGUE, gateway: SERVER.gateway, dns: SERVER.dns })],
  ])("%s within the learning period are one incident, and the one that was there before stays", async (_, like) => {
    const scene = createGuardScene({ guards: [createDhcpServersGuard], settings: { active: false } });
    scene.hear(answer(SERVER));
    await scene.clock.advance(MINUTE);
    await flood(scene, like, [answer(SERVER)]);
    await scene.clock.advance(MINUTE);
    expect(scene.incidents()).toMatchObject([{ kind: "dhcp_server", subject: "*", state: "seen" }]);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual([SERVER.server]);
    expect(kept(scene)).toBe(1);
  });

  test("that say where to boot from are one piece of information, within the learning period too", async () => {
    const scene = createGuardScene({ guards: [createDhcpServersGuard], settings: { active: false } });
    await flood(scene, answer({ server: ROGUE.server, mac: ROGUE.mac, yiaddr: "0.0.0.0", options: [[60, Uint8Array.from(Buffer.from("PXEClient"))]] }));
    await scene.clock.advance(2000);
    expect(scene.incidents().filter(({ subject }) => subject === "*")).toHaveLength(1);
    expect(scene.guards.learned()).toEqual([]);
  });

  test("that speak in a known server's name are one incident", async () => {
    const scene = createGuardScene({ guards: [createDhcpServersGuard], settings: { learning_minutes: 10, active: false } });
    scene.hear(answer(SERVER));
    await scene.clock.advance(11 * MINUTE);
    scene.hear(answer(SERVER));
    for (let n = 0; n < FLOOD; n += 1) {
      const frame = answer({ ...SERVER, mac: ROGUE.mac, gateway: ROGUE.gateway });
      new DataView(frame.buffer, frame.byteOffset).setUint16(SOURCE_MAC + 4, n);
      scene.hear(frame);
      if (n % 1000 === 999) await scene.clock.advance(500);
    }
    await scene.clock.advance(2000);
    expect(scene.incidents()).toMatchObject([{ kind: "dhcp_server", subject: "*", severity: "critical" }]);
    expect(scene.guards.learned()).toMatchObject([{ name: SERVER.server, macs: [SERVER.mac] }]);
  });
});

test.each([0, 60])("ten thousand clients that each choose another server are one incident, with %i minutes of learning", async (minutes) => {
  const scene = createGuardScene({ guards: [createDhcpServersGuard], settings: { learning_minutes: minutes, active: false } });
  for (let n = 0; n < FLOOD; n += 1) {
    scene.hear(ask("request", CLIENT, `10.${n >> 8}.${n & 255}.1`));
    if (n % 1000 === 999) await scene.clock.advance(500);
  }
  await scene.clock.advance(10_000);
  expect(scene.incidents().filter(({ state }) => state === "seen")).toMatchObject([{ kind: "dhcp_server", subject: "*" }]);
  expect(scene.guards.learned()).toEqual([]);
});
