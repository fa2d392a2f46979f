import { parseMac } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createAddressGuard } from "./address-guard.ts";
import { arpReply, arpRequest, createSmallLan, type LanHost, settle, type SmallLan } from "./testing/small-lan.ts";

const [GATEWAY, WEB, OTHER, EVIL] = ["02:00:00:00:00:fe", "02:00:00:00:00:05", "02:00:00:00:00:09", "02:66:66:66:66:66"] as const;
const STEP_MS = 50;
/** A replay's ticks fall between the frames elsewhere than those of the probe that was there. */
const SHIFTS_MS = [0, 50, 100, 150, 200, 250, 300, 350, 400, 450];

/** What a replay sends reaches nobody. The gateway is known here as a capture's DHCP would tell it. */
const NO_LINK = { mac: "02:00:00:00:00:77", up: true, gateways: ["192.168.1.1"], addresses: [{ ip: "192.168.0.0", prefixLength: 16 }] };

interface Heard {
  readonly afterMs: number;
  readonly frames: readonly Uint8Array[];
}

const HAPPENINGS: readonly { readonly name: string; readonly happen: (lan: SmallLan) => Promise<void> }[] = [
  {
    name: "who claims the gateway's address", async happen({ scene, run }) {
      for (let n = 0; n < 6; n += 1) {
        scene.hear(arpReply(EVIL, "192.168.1.1", { to: parseMac(WEB) as Uint8Array }));
        await run(1000);
      }
    },
  },
  {
    name: "a duplicate of the web server", async happen({ scene, hosts, run }) {
      hosts.push({ mac: OTHER, addresses: ["192.168.1.5"] });
      scene.hear(arpRequest(OTHER, "192.168.1.5", "192.168.1.1"));
      await run(8000);
    },
  },
  {
    name: "a bond", async happen({ scene, hosts, run }) {
      hosts.splice(1, 1, { mac: WEB, addresses: ["192.168.1.5"], alsoHears: [OTHER] });
      for (let n = 0; n < 6; n += 1) {
        scene.hear(arpReply(n % 2 === 0 ? OTHER : WEB, "192.168.1.5"));
        await run(3000);
      }
    },
  },
];

describe.each(HAPPENINGS)("$name", ({ happen }) => {
  test.each(SHIFTS_MS)("is judged alike by the probe that asks and by a replay of what it asked and heard (%d ms later)", async (shiftMs) => {
    const { incidents, heard } = await live(happen);
    expect(await replay(heard, shiftMs)).toEqual(incidents);
  });
});

async function live(happen: (lan: SmallLan) => Promise<void>) {
  const hosts: LanHost[] = [{ mac: GATEWAY, addresses: ["192.168.1.1"] }, { mac: WEB, addresses: ["192.168.1.5"] }];
  const scene = createGuardScene({ guards: [createAddressGuard] });
  const heard: Heard[] = [];
  const begun = scene.clock.now();
  const note = (frames: readonly Uint8Array[]) => heard.push({ afterMs: scene.clock.now() - begun, frames });
  const lan = createSmallLan({
    ...scene, hear(...frames) {
      note(frames);
      scene.hear(...frames);
    },
  }, hosts, { onSent: note });
  await settle(lan);
  await happen(lan);
  return { incidents: incidentsOf(lan), heard };
}

async function replay(heard: readonly Heard[], shiftMs: number) {
  const scene = createGuardScene({ guards: [createAddressGuard], link: NO_LINK });
  await scene.clock.advance(shiftMs);
  let passedMs = 0;
  for (const { afterMs, frames } of heard) {
    for (; passedMs < afterMs; passedMs += STEP_MS) await scene.clock.advance(STEP_MS);
    scene.hear(...frames);
  }
  return incidentsOf({ scene });
}

/** What begins. */
function incidentsOf({ scene }: Pick<SmallLan, "scene">) {
  const begun = new Map(scene.incidents().filter(({ state }) => state === "seen").map(({ kind, subject, severity }) => [`${kind} ${subject}`, severity]));
  return [...begun];
}
