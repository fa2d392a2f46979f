import { expect, test } from "vitest";
import { ip } from "../../observe/testing/frames.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { answer, ask, macOf, ROGUE, SERVER } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const createScene = () => createGuardScene({ guards: [createDhcpServersGuard], settings: { learning_minutes: 10 } });
const names = (scene: ReturnType<typeof createScene>) => scene.guards.learned().map(({ name }) => name);
/** The rogue names the real gateway behind its own. */
const HALF = { ...ROGUE, dns: SERVER.dns, gateway: undefined, options: [[3, Uint8Array.of(...ip(ROGUE.gateway), ...ip(SERVER.gateway))]] } as const;
const ROUTED = { ...ROGUE, dns: SERVER.dns, gateway: SERVER.gateway, options: [[121, Uint8Array.of(1, 0, ...ip(ROGUE.gateway), 1, 128, ...ip(ROGUE.gateway))]] } as const;

test.each([["first, with the real gateway behind it", HALF], ["by routes, with the real gateway beside it", ROUTED]])(
  "in the learning period a server that leads to itself %s is not learned, whoever comes first", async (_, rogue) => {
    for (const order of [[SERVER, rogue], [rogue, SERVER]]) {
      const scene = createScene();
      for (const server of order) {
        scene.hear(answer(server), answer({ ...server, type: "ack" }));
        await scene.clock.advance(2000);
      }
      expect(names(scene)).toEqual([SERVER.server]);
      expect(scene.incidents()).toMatchObject([{ kind: "dhcp_server", subject: ROGUE.server, severity: "critical" }]);
    }
  });

test("a relay's address in its answers makes a rogue no server of another link", async () => {
  const scene = createScene();
  scene.hear(answer({ ...SERVER, options: [[1, ip("255.255.255.0")]] }), answer({ ...ROGUE, giaddr: "10.99.0.1" }));
  await scene.clock.advance(2000);
  expect(names(scene)).toEqual([SERVER.server]);
  expect(scene.incidents()).toMatchObject([{ kind: "dhcp_server", subject: ROGUE.server, severity: "critical" }]);
});

test.each(["choices of clients", "answers"])("a flood of forged %s in the learning period leaves room for the link's server", async (what) => {
  const scene = createScene();
  for (let n = 0; n < 300; n += 1) {
    const server = `10.8.${n >> 8}.${(n & 255) || 9}`;
    scene.hear(what === "answers" ? answer({ server, mac: macOf(n), gateway: undefined, dns: undefined }) : ask("request", macOf(n), server));
  }
  await scene.clock.advance(MINUTE);
  scene.hear(answer(SERVER), answer({ ...SERVER, type: "ack" }));
  await scene.clock.advance(MINUTE);
  expect(names(scene)).toContain(SERVER.server);
  await scene.clock.advance(20 * MINUTE);
  const before = scene.incidents().length;
  scene.hear(answer(SERVER));
  await scene.clock.advance(2000);
  expect(scene.incidents().slice(before)).toEqual([]);
});

test("new name servers in a known server's own name are reported", async () => {
  const scene = createScene();
  scene.hear(answer(SERVER), answer({ ...SERVER, type: "ack" }));
  await scene.clock.advance(11 * MINUTE);
  for (let n = 0; n < 5; n += 1) {
    scene.hear(answer({ ...SERVER, dns: ROGUE.dns }), answer({ ...SERVER, dns: ROGUE.dns, type: "ack" }));
    await scene.clock.advance(2000);
  }
  expect(scene.incidents().filter(({ kind }) => kind === "dhcp_server")).toMatchObject([{ subject: SERVER.server, severity: "medium", facts: { dns: ROGUE.dns, known_dns: SERVER.dns } }]);
});

test("a server that speaks from the probe's own MAC is heard", async () => {
  const scene = createScene();
  scene.hear(answer(SERVER));
  await scene.clock.advance(11 * MINUTE);
  scene.hear(answer({ ...ROGUE, mac: "02:00:00:00:00:01" }));
  await scene.clock.advance(2000);
  expect(scene.incidents().filter(({ kind }) => kind === "dhcp_server")).toMatchObject([{ subject: ROGUE.server, severity: "critical" }]);
});
