import { parseIp, parseMac } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createAddressGuard } from "./address-guard.ts";
import { arpReply, arpRequest, createSmallLan, type LanHost, type SmallLan } from "./testing/small-lan.ts";

const VIP = "192.168.1.1";
const FORWARDERS = [1, 2, 3, 4].map((n) => `00:07:b4:00:0a:0${n}`);
const CLIENTS = [1, 2, 3, 4, 5].map((n) => `02:00:00:00:00:5${n}`);
const EVIL = "02:66:66:66:66:66";

/** Three or four gateways of a group. The first answers for all, with the MAC of another one each time. */
function createGroup(forwarders = FORWARDERS): LanHost {
  let answers = 0;
  return {
    mac: forwarders[0] as string, addresses: [VIP],
    answersBy() {
      answers += 1;
      return forwarders[answers % forwarders.length] as string;
    },
  };
}

/** Clients ask for the gateway, and a mirror port shows it. @param also Another one who answers them. */
async function converse(lan: SmallLan, group: LanHost, rounds: number, also: (client: string) => readonly Uint8Array[] = () => []): Promise<void> {
  for (let n = 0; n < rounds; n += 1) {
    const client = CLIENTS[n % CLIENTS.length] as string;
    lan.scene.hear(arpRequest(client, `192.168.1.5${n % CLIENTS.length}`, VIP));
    lan.scene.hear(replyTo(client, group.answersBy?.() as string), ...also(client));
    await lan.run(1500);
  }
}

function replyTo(client: string, mac: string): Uint8Array {
  return arpReply(mac, VIP, { to: parseMac(client) as Uint8Array, target: parseIp("192.168.1.50") as Uint8Array });
}

async function createLearned(group = createGroup()): Promise<SmallLan> {
  const lan = createSmallLan(createGuardScene({ guards: [createAddressGuard] }), [group]);
  await converse(lan, group, 30);
  return lan;
}

describe("gateways that share an address by GLBP", () => {
  test("are normal, and known by all their MACs, over a restart too", async () => {
    const group = createGroup();
    const lan = await createLearned(group);
    expect(lan.scene.incidents()).toEqual([]);
    expect(lan.scene.guards.learned()[0]?.macs.toSorted()).toEqual(FORWARDERS);
    lan.scene = lan.scene.restart();
    await converse(lan, group, 10);
    expect(lan.scene.incidents()).toEqual([]);
    expect(lan.scene.guards.learned()[0]?.macs.toSorted()).toEqual(FORWARDERS);
  });

  test("are normal where only answers to the probe are heard", async () => {
    const lan = createSmallLan(createGuardScene({ guards: [createAddressGuard] }), [createGroup()]);
    await lan.run(600_000);
    expect(lan.scene.incidents()).toEqual([]);
    expect(lan.scene.guards.learned()[0]?.macs.toSorted()).toEqual(FORWARDERS);
  });

  test("may become more", async () => {
    const group = createGroup(FORWARDERS.slice(0, 2));
    const lan = await createLearned(group);
    const larger = createGroup();
    lan.hosts[0] = larger;
    await converse(lan, larger, 30);
    expect(lan.scene.incidents()).toEqual([]);
    expect(lan.scene.guards.learned()[0]?.macs.toSorted()).toEqual(FORWARDERS);
  });
});

describe("an attacker of such gateways", () => {
  test.each([["another MAC", EVIL], ["a MAC of no forwarder", "00:07:b4:00:0a:66"], ["another group's MAC", "00:07:b4:00:0b:01"], ["a forwarder's MAC that nobody has", FORWARDERS[3] as string]])(
    "is seen with %s", async (_, mac) => {
      const group = createGroup(FORWARDERS.slice(0, 3));
      const lan = await createLearned(group);
      for (let n = 0; n < 2; n += 1) {
        lan.scene.hear(arpReply(mac, VIP));
        await lan.run(2000);
      }
      expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", subject: mac, severity: "critical" }]);
      await converse(lan, group, 10);
      expect(lan.scene.incidents()).toHaveLength(1);
      expect(lan.scene.guards.learned()[0]?.macs.toSorted()).toEqual(FORWARDERS.slice(0, 3));
    });

  test("is seen when it answers each request that the group answers as well, with a forwarder's MAC", async () => {
    const group = createGroup(FORWARDERS.slice(0, 3));
    const lan = await createLearned(group);
    await converse(lan, group, 10, (client) => [replyTo(client, FORWARDERS[3] as string)]);
    expect(lan.scene.incidents()).toMatchObject([{ kind: "arp_spoofing", subject: FORWARDERS[3], severity: "critical" }]);
  });
});
