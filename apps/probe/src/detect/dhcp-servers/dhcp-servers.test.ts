import { decodeDhcp, decodeFrame, encodeUtf8 } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createGuardScene, OWN_LINK } from "../testing/guard-scene.ts";
import { captureFrames, faultsUnder, hasCaptures } from "../testing/hostile-frames.ts";
import { createDhcpServersGuard } from "./dhcp-servers.ts";
import { PROBE_HOST_NAME } from "./server-search.ts";
import { answer, ask, CLIENT, macOf, messageTypes, ROGUE, SERVER, toOurSearch } from "./testing/dhcp-frames.ts";

const MINUTE = 60_000;
const guards = [createDhcpServersGuard];

/** A link whose server is learned, after the learning period. */
async function createLearned(settings: object = {}, link: typeof OWN_LINK | null = OWN_LINK) {
  const scene = createGuardScene({ guards, settings: { learning_minutes: 10, ...settings }, link });
  scene.hear(answer(SERVER), answer({ ...SERVER, type: "ack" }));
  await scene.clock.advance(11 * MINUTE);
  scene.hear(answer(SERVER));
  expect(scene.incidents().filter(({ severity }) => severity !== "info")).toEqual([]);
  return scene;
}
const about = (scene: ReturnType<typeof createGuardScene>, kind: string) => scene.incidents().filter((incident) => incident.kind === kind);

describe("an unknown server", () => {
  test("is one critical incident, with what it hands out, and ends when it is quiet", async () => {
    const scene = await createLearned({ active: false });
    const rogue = {
      ...ROGUE, options: [
        [51, Uint8Array.of(0, 0, 2, 88)], [121, Uint8Array.of(1, 0, 192, 168, 1, 66, 1, 128, 192, 168, 1, 66)], [252, encodeUtf8("http://192.168.1.66/wpad.dat")],
        [66, encodeUtf8("192.168.1.66")], [67, encodeUtf8("boot.efi")], [15, encodeUtf8("evil.lan")],
      ],
    } as const;
    for (let second = 0; second < 20; second += 1) {
      scene.hear(answer(rogue), answer({ ...rogue, type: "ack" }), answer(SERVER));
      await scene.clock.advance(1000);
      if (second === 1) expect(about(scene, "dhcp_server")).toHaveLength(1);
    }
    expect(about(scene, "dhcp_server")).toMatchObject([{
      state: "seen", subject: ROGUE.server, severity: "critical", ip: ROGUE.server, mac: ROGUE.mac, expected_macs: [SERVER.mac],
      facts: {
        gateway: ROGUE.gateway, gateway_is_itself: "yes", dns: ROGUE.dns, lease_seconds: "600", domain: "evil.lan", boot_server: "192.168.1.66", boot_file: "boot.efi",
        proxy_script: "http://192.168.1.66/wpad.dat", routes: "0.0.0.0/1 via 192.168.1.66 128.0.0.0/1 via 192.168.1.66",
      },
    }]);
    await scene.clock.advance(301_000);
    expect(about(scene, "dhcp_server").at(-1)).toMatchObject({ state: "ended", subject: ROGUE.server });
    expect(scene.incidents().filter(({ state }) => state === "seen")).toHaveLength(1);
  });

  test.each([
    ["leads to the known gateway, and to other name servers", { gateway: SERVER.gateway }, "high"],
    ["leads to the known gateway, and by a classless route elsewhere", { gateway: SERVER.gateway, dns: SERVER.dns, options: [[121, Uint8Array.of(0, 192, 168, 1, 66)]] }, "critical"],
    ["gives what the known one gives", { gateway: SERVER.gateway, dns: SERVER.dns }, "medium"],
    ["only refuses clients", { type: "nak", gateway: undefined, dns: undefined }, "high"],
  ] as const)("that %s", async (_, change, severity) => {
    const scene = await createLearned();
    scene.hear(answer({ ...ROGUE, ...change }));
    await scene.clock.advance(1500);
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: ROGUE.server, severity }]);
  });

  test("is named by what the host calls itself", async () => {
    const scene = await createLearned();
    scene.hear(ask("request", ROGUE.mac, undefined, "meeting-room-tv"), answer(ROGUE));
    await scene.clock.advance(1500);
    expect(about(scene, "dhcp_server")[0]?.facts?.["host_name"]).toBe("meeting-room-tv");
  });

  test("is found by the choice of a client that alone gets its offer", async () => {
    const scene = await createLearned();
    scene.hear(ask("request", CLIENT, ROGUE.server));
    await scene.clock.advance(4500);
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: ROGUE.server, severity: "high", facts: { client: CLIENT } }]);
    scene.hear(ask("request", CLIENT, SERVER.server), ask("request", CLIENT, "255.255.255.255"));
    await scene.clock.advance(4500);
    expect(about(scene, "dhcp_server")).toHaveLength(1);
  });

  test("that takes another name for each answer is one incident, which ends", async () => {
    const scene = await createLearned({ active: false });
    for (let n = 0; n < 50; n += 1) {
      scene.hear(answer({ ...ROGUE, server: `10.9.${n}.1` }));
      await scene.clock.advance(500);
    }
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: "10.9.0.1", severity: "critical", mac: ROGUE.mac, facts: { server: "10.9.0.1" } }]);
    await scene.clock.advance(301_000);
    expect(about(scene, "dhcp_server").map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("is no longer one when the operator allows it", async () => {
    const scene = await createLearned({ active: false });
    scene.hear(answer(ROGUE));
    await scene.clock.advance(1500);
    const allowed = createGuardScene({ guards, settings: { active: false, dhcp_servers: [ROGUE.server] }, db: scene.db, clock: scene.clock, events: scene.events });
    allowed.hear(answer(ROGUE));
    await scene.clock.advance(1500);
    expect(about(allowed, "dhcp_server").map(({ state }) => state)).toContain("ended");
  });
});

describe("a known server's name", () => {
  test("with another MAC and another gateway is an impostor", async () => {
    const scene = await createLearned();
    scene.hear(answer({ ...SERVER, mac: ROGUE.mac, gateway: ROGUE.gateway }));
    await scene.clock.advance(1500);
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: ROGUE.mac, severity: "critical", expected_macs: [SERVER.mac] }]);
  });

  test("under which another host refuses clients is reported when the server itself is heard", async () => {
    const scene = await createLearned();
    const naks = answer({ ...SERVER, mac: ROGUE.mac, type: "nak", gateway: undefined, dns: undefined });
    scene.hear(naks);
    await scene.clock.advance(2000);
    expect(about(scene, "dhcp_server")).toEqual([]);
    scene.hear(answer(SERVER));
    await scene.clock.advance(1000);
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: ROGUE.mac, severity: "high" }]);
  });
});

describe("normal", () => {
  test.each([
    ["a failover with the same settings", [answer({ ...SERVER, mac: macOf(9) })]],
    ["a server that is allowed", [answer({ ...ROGUE, server: "192.168.1.3" })]],
    ["a client that only asks", [ask("discover"), ask("request")]],
  ])("is %s", async (_, frames) => {
    const scene = await createLearned({ dhcp_servers: ["192.168.1.3"], active: false });
    for (const frame of frames) scene.hear(frame, frame);
    await scene.clock.advance(10_000);
    expect(scene.incidents()).toEqual([]);
  });

  test("is a pair that is learned: either may answer later", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 10, active: false } });
    const second = { ...SERVER, server: "192.168.1.3", mac: macOf(3) };
    scene.hear(answer(SERVER), answer(second));
    await scene.clock.advance(11 * MINUTE);
    scene.hear(answer(second));
    const after = scene.restart();
    after.hear(answer(SERVER), answer(second));
    await after.clock.advance(10_000);
    expect(after.incidents()).toEqual([]);
    expect(after.guards.learned().map(({ name }) => name)).toEqual([SERVER.server, second.server]);
  });

  test("is a PXE server: information after the learning period, nothing within it", async () => {
    const pxe = { server: "192.168.1.5", mac: macOf(5), yiaddr: "0.0.0.0", options: [[60, encodeUtf8("PXEClient")]] } as const;
    const scene = await createLearned({ active: false });
    scene.hear(answer(pxe));
    await scene.clock.advance(1500);
    expect(scene.incidents()).toMatchObject([{ kind: "dhcp_server", severity: "info", subject: pxe.server }]);
    const learning = createGuardScene({ guards, settings: { active: false } });
    learning.hear(answer(pxe), answer({ ...pxe, type: "ack" }), answer(SERVER));
    await learning.clock.advance(1500);
    expect(learning.incidents()).toEqual([]);
    expect(learning.guards.learned().map(({ what }) => what)).toEqual(["pxe_server", "dhcp_server"]);
    scene.hear(answer({ ...pxe, gateway: ROGUE.gateway }));
    await scene.clock.advance(31_000);
    expect(scene.incidents().at(-1)).toMatchObject({ subject: pxe.server, severity: "critical" });
  });
});

describe("in the learning period", () => {
  test.each([[[SERVER, ROGUE]], [[ROGUE, SERVER]]])("the server that leads to the link's gateway is learned, whoever comes first", async (servers) => {
    const scene = createGuardScene({ guards });
    for (let second = 0; second < 5; second += 1) {
      for (const server of servers) scene.hear(answer(server));
      await scene.clock.advance(1000);
    }
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: ROGUE.server, severity: "critical", mac: ROGUE.mac }]);
    expect(scene.guards.learned().map(({ name }) => name)).toEqual([SERVER.server]);
    const after = scene.restart();
    after.hear(answer(ROGUE));
    await after.clock.advance(5000);
    expect(about(after, "dhcp_server")).toHaveLength(1);
    expect(after.guards.learned().map(({ name }) => name)).toEqual([SERVER.server]);
  });

  test("without a gateway of our own the later one is the suspect", async () => {
    const scene = createGuardScene({ guards, link: null });
    scene.hear(answer(SERVER), answer(ROGUE), answer(SERVER));
    await scene.clock.advance(1500);
    expect(about(scene, "dhcp_server")).toMatchObject([{ subject: ROGUE.server }]);
  });

  test("a server is known by the choice of its clients where its offers are not seen", async () => {
    const scene = createGuardScene({ guards, settings: { learning_minutes: 10, active: false } });
    scene.hear(ask("request", CLIENT, SERVER.server));
    await scene.clock.advance(11 * MINUTE);
    scene.hear(ask("request", macOf(2), SERVER.server), answer({ ...SERVER, type: "ack" }));
    await scene.clock.advance(5000);
    expect(scene.incidents()).toEqual([]);
  });
});

test("all servers that answer our question are heard, not the first alone, and the frame is kept", async () => {
  const scene = await createLearned();
  await scene.clock.advance(2000);
  const others = [ROGUE, { ...ROGUE, server: "192.168.1.67", mac: macOf(7) }];
  scene.hear(toOurSearch(answer(SERVER)), ...others.map((other) => toOurSearch(answer(other))));
  await scene.clock.advance(1500);
  expect(about(scene, "dhcp_server").map(({ subject }) => subject)).toEqual(others.map(({ server }) => server));
  expect(about(scene, "dhcp_server").map(({ packets }) => packets)).toEqual(others.map((other) => [Buffer.from(toOurSearch(answer(other))).toString("base64")]));
});

test("who is a server is known by what it says, never by whom a message goes to or a name that is no host's", async () => {
  const scene = await createLearned({ active: false });
  scene.hear(ask("discover"), ask("request", CLIENT, "255.255.255.255"), ask("request", CLIENT, "0.0.0.0"));
  for (const named of ["255.255.255.255", "0.0.0.0"]) scene.hear(answer({ ...SERVER, server: named, sourceIp: SERVER.server }));
  await scene.clock.advance(5000);
  expect(scene.incidents()).toEqual([]);
  expect(scene.guards.learned().map(({ name }) => name)).toEqual([SERVER.server]);
});

test("our own questions have one host name and client identifier, and are no client's", async () => {
  const scene = createGuardScene({ guards });
  await scene.clock.advance(2000);
  for (const bytes of scene.sent) {
    const frame = decodeFrame(bytes);
    const message = frame.ok ? decodeDhcp(frame.value.payload) : null;
    const options = message?.ok ? message.value.options : null;
    expect([options?.get(12), options?.get(61)?.subarray(1)].map((value) => Buffer.from(value ?? []).toString())).toEqual([PROBE_HOST_NAME, PROBE_HOST_NAME]);
    expect(options?.has(50)).toBe(false);
  }
  expect(scene.sent).toHaveLength(3);
  for (let n = 0; n < 10; n += 1) {
    scene.hear(...scene.sent);
    await scene.clock.advance(4000);
  }
  expect(scene.incidents()).toEqual([]);
});

test("servers are asked by DISCOVER and INFORM alone, soon, regularly and after a hint", async () => {
  const scene = createGuardScene({ guards });
  await scene.clock.advance(2000);
  expect(messageTypes(scene.sent)).toEqual([1, 1, 8]);
  await scene.clock.advance(305_000);
  expect(messageTypes(scene.sent)).toHaveLength(6);
  scene.hear(ask("request", CLIENT, ROGUE.server));
  await scene.clock.advance(1000);
  expect(messageTypes(scene.sent)).toHaveLength(9);
  const silent = createGuardScene({ guards, settings: { active: false } });
  await silent.clock.advance(MINUTE);
  expect(silent.sent).toEqual([]);
});

test("damaged messages make it throw nothing", async () => {
  const full = { ...ROGUE, options: [[121, Uint8Array.of(0, 192, 168, 1, 66, 24, 10, 9, 8, 192, 168, 1, 1)], [82, Uint8Array.of(1, 2, 3, 4)], [60, encodeUtf8("PXEClient")]] } as const;
  expect(await faultsUnder(createDhcpServersGuard, [answer(full), answer({ ...SERVER, giaddr: "10.0.0.1" }), ask("request", CLIENT, ROGUE.server, "host")])).toEqual([]);
});

test.skipIf(!hasCaptures).each(["dhcp-mud.pcap", "dhcp-option-108.pcapng", "dhcp-option-33.pcap", "dhcp-rfc3004.pcap", "dhcp-rfc4388.pcap", "dhcp-rfc5859.pcap"])(
  "%s is quiet",
  async (name) => {
    const scene = createGuardScene({ guards, link: null });
    scene.hear(...captureFrames(name));
    await scene.clock.advance(MINUTE);
    expect(scene.incidents()).toEqual([]);
  },
);
