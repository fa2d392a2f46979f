import type { ProbeCredential } from "@lanthorn/contract/uplink";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExchangeDatagram, exchangeDatagram } from "../identify/datagrams.ts";
import { identifyService } from "../identify/identify.ts";
import { createSnmpAccess } from "./access.ts";
import { COMMUNITY, type Snmpd, startSnmpd } from "./testing/snmpd.ts";
import { createVaultReader } from "./vault-reader.ts";

const TARGET = { ip: "127.0.0.1", port: 161, protocol: "udp" } as const;
const head = { id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [TARGET.ip] };
const community = (text: string, networks = head.networks): ProbeCredential => ({
  ...head, networks, type: "snmp", settings: { version: "2c", port: 161 }, secret: { community: text },
});
const version1: ProbeCredential = { ...head, type: "snmp", settings: { version: "1", port: 161 }, secret: { community: COMMUNITY } };
const user = (password: string): ProbeCredential => ({
  ...head, type: "snmpv3", settings: { username: "usual", context: "", auth_protocol: "sha256", privacy_protocol: "aes", port: 161 },
  secret: { auth_password: password, privacy_password: "private-12" },
});

let snmpd: Snmpd;
beforeAll(async () => {
  snmpd = await startSnmpd();
});
afterAll(() => snmpd?.close());

/** The agent as if it were at its own port. @param isHeard Whether a question reaches it. */
function open(held: readonly ProbeCredential[], isHeard: (question: Uint8Array) => boolean = () => true) {
  const asked: Uint8Array[] = [];
  const ask: ExchangeDatagram = (target, question, options) => {
    asked.push(question);
    return isHeard(question) ? exchangeDatagram({ ...target, port: snmpd.port }, question, options) : Promise.resolve(null);
  };
  const access = createSnmpAccess({ reaches: () => true, credentials: { forHost: () => held, namedHosts: () => [] }, devices: [], clock: systemClock });
  const openSnmp = createVaultReader({ access, ask, clock: systemClock, random: Math.random, log: silentLog });
  const count = (text: string) => asked.filter((bytes) => Buffer.from(bytes).includes(text)).length;
  const identify = () => identifyService(TARGET, { ask, openSnmp, random: Math.random }, new AbortController().signal);
  return { count, has: (text: string) => count(text) > 0, identify };
}

describe("an agent that does not know the community `public`", () => {
  test.each<readonly [string, ProbeCredential, boolean]>([
    ["2c", community(COMMUNITY), false], ["1", version1, false], ["3", user("authentic-1"), true],
  ])("is named by what it says to the vault's credential of version %s, and not asked by `public`", async (_, credential, tellsEngine) => {
    const { identify, has } = open([credential]);
    const finding = await identify();
    expect(finding).toMatchObject({ service: "snmp", texts: [{ kind: "snmp-description", text: "Test switch" }, { kind: "snmp-object" }] });
    expect(finding?.version).toMatch(/^net-snmp \d/);
    expect(finding?.verdicts.hostname?.value).toBe("sw-closet");
    expect([has("public"), finding?.keys.some(({ field }) => field === "snmp_engine_id")]).toEqual([false, tellsEngine]);
    expect(JSON.stringify(finding)).not.toMatch(new RegExp(`${COMMUNITY}|authentic-1|private-12`));
  });

  test.each<readonly [string, readonly ProbeCredential[]]>([
    ["without a credential", []], ["with one that it does not take", [user("not-authentic")]],
    ["with a community that is not for its network", [community(COMMUNITY, [])]],
  ])("is named by its engine alone %s", async (_, held) => {
    const { identify, has } = open(held);
    const finding = await identify();
    expect([finding?.service, finding?.texts, has(COMMUNITY)]).toEqual(["snmp", [], false]);
    expect(finding?.keys.map(({ field }) => field)).toEqual(["snmp_engine_id"]);
    expect(JSON.stringify(finding)).not.toMatch(/not-authentic|private-12/);
  });

  test("and is silent to every question without its own, is named all the same", async () => {
    const { identify } = open([community(COMMUNITY)], (question) => Buffer.from(question).includes(COMMUNITY));
    expect(await identify()).toMatchObject({ service: "snmp", texts: [{ text: "Test switch" }, {}] });
  });

  test("is asked once with a credential that it refuses, however often it is scanned", async () => {
    const { identify, count } = open([community("not-theirs")]);
    await identify();
    const first = count("not-theirs");
    await identify();
    expect([first > 0, count("not-theirs")]).toEqual([true, first]);
  });
});
