import { EVENTS, type ProbeCredential, type ProbeEvent } from "@lanthorn/contract/uplink";
import { silentLog, systemClock } from "@lanthorn/runtime";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exchangeDatagram } from "../identify/datagrams.ts";
import { createPublisher } from "../queue/publisher.ts";
import { createSnmpAccess } from "./access.ts";
import type { SnmpCredential } from "./session/session.ts";
import { createSwitchWatch, type SwitchWatchDeps } from "./switch-watch.ts";
import { createSwitchesStore } from "./switches-store.ts";
import { COMMUNITY, type Snmpd, startSnmpd } from "./testing/snmpd.ts";

const AGENT = "127.0.0.1";
let snmpd: Snmpd;
beforeAll(async () => {
  snmpd = await startSnmpd();
});
afterAll(() => snmpd?.close());

const community = (text: string, networks: readonly string[] = []): SnmpCredential => ({
  id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [...networks], type: "snmp",
  settings: { version: "2c", port: snmpd.port }, secret: { community: text },
});
const user = (password: string): SnmpCredential => ({
  id: "0199fffe-0000-7000-8000-000000000002", name: "core", networks: [], type: "snmpv3",
  settings: { username: "usual", context: "", auth_protocol: "sha256", privacy_protocol: "aes", port: snmpd.port },
  secret: { auth_password: password, privacy_password: "private-12" },
});

let db: Database;
const events: ProbeEvent[] = [];
const asked: { readonly ip: string; readonly bytes: Uint8Array }[] = [];
beforeEach(() => {
  db = new SqliteDatabase(":memory:");
  for (const list of [events, asked]) list.length = 0;
});

/** A probe from its start on. Time is the real one, but for what is waited for. */
function start(given: Partial<SwitchWatchDeps> & {
  readonly held: ProbeCredential[]; readonly devices?: readonly string[]; readonly alone?: readonly string[];
}) {
  const { held, devices = [], alone = [], ask = exchangeDatagram, ...rest } = given;
  let later = 0;
  const clock = {
    ...systemClock, monotonic: () => systemClock.monotonic() + later, after: (_: number, task: () => void) => systemClock.after(0, task),
  };
  const access = createSnmpAccess({ reaches: () => true, credentials: { forHost: () => held, namedHosts: () => alone }, devices, clock });
  const watch = createSwitchWatch({
    publisher: createPublisher({ db, outbox: { append: (some) => events.push(...some) }, log: silentLog, what: "reports" }),
    store: createSwitchesStore(db), access, announced: () => [],
    isExcluded: () => false, clock,
    random: Math.random, log: silentLog,
    ask(target, question, options) {
      asked.push({ ip: target.ip, bytes: question });
      return ask(target, question, options);
    },
    ...rest,
  });
  return {
    wait(ms: number) {
      later += ms;
    },
    /** @returns Whom it has asked. */
    async poll(rounds = 1) {
      asked.length = 0;
      for (let round = 0; round < rounds; round += 1) await watch.pollNow();
      return [...new Set(asked.map(({ ip }) => ip))];
    },
  };
}
const silence: SwitchWatchDeps["ask"] = () => Promise.resolve(null);
const published = () => events.map(({ data }) => ("answers" in data ? [data.answers, data.problem ?? ""] : null));

describe("who is asked", () => {
  test("is whom the configuration or a credential names, and never whom an exclusion holds", async () => {
    const { poll } = start({
      held: [community(COMMUNITY)], devices: ["10.0.0.2"], alone: ["10.0.0.3", "10.0.0.4"], ask: silence,
      isExcluded: (ip) => ip === "10.0.0.4",
    });
    expect(await poll()).toEqual(["10.0.0.2", "10.0.0.3"]);
  });

  test("is whom a neighbor's word names only where the credential is for his network", async () => {
    const announced = () => ["10.0.0.9"];
    expect(await start({ held: [community(COMMUNITY)], announced, ask: silence }).poll()).toEqual([]);
    expect(await start({ held: [community(COMMUNITY, ["10.0.0.0/24"])], announced, ask: silence }).poll()).toEqual(["10.0.0.9"]);
  });

  test("is not whoever announces himself: neither a community nor a user of version 3 goes to him", async () => {
    const { poll } = start({ held: [user("authentic-1"), community(COMMUNITY)], announced: () => ["10.0.0.9"], ask: silence });
    expect(await poll()).toEqual([]);
  });
});

describe("a switch", () => {
  test("is reported when it answers, once while nothing changes, and when it is silent three times", async () => {
    let isSilent = false;
    const { poll } = start({
      held: [community(COMMUNITY)], devices: [AGENT],
      ask: (target, question, options) => (isSilent ? Promise.resolve(null) : exchangeDatagram(target, question, options)),
    });
    await poll(2);
    expect(published()).toEqual([[true, ""]]);
    isSilent = true;
    await poll(4);
    expect(published()).toEqual([[true, ""], [false, "switches: it does not answer"]]);
    isSilent = false;
    await poll();
    expect(events).toHaveLength(3);
    for (const { type, data } of events) expect([type, EVENTS.switch_report.data.safeParse(data).success]).toEqual(["switch_report", true]);
  });

  test.each<readonly [string, () => SnmpCredential, () => SnmpCredential, string]>([
    ["password", () => user("not-authentic"), () => user("authentic-1"), "core: the password is wrong"],
    [
      "community", () => community("not-theirs"), () => community(COMMUNITY),
      "switches: it supports SNMP but does not answer to this community",
    ],
  ])("that refuses a %s is reported once, and polled again in an hour or with another one", async (_, wrong, right, problem) => {
    const held: ProbeCredential[] = [wrong()];
    const { poll, wait } = start({ held, devices: [AGENT] });
    await poll();
    expect(published()).toEqual([[false, problem]]);
    expect(await poll(3)).toEqual([]);
    wait(3_600_000);
    expect(await poll()).toEqual([AGENT]);
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events)).not.toMatch(/not-authentic|not-theirs|private-12/);
    held.splice(0, 1, right());
    await poll();
    expect(published().slice(1)).toEqual([[true, ""]]);
  });

  test("that has answered, and refuses its credential since, is reported at once, and polled with another one that it accepts", async () => {
    const held: ProbeCredential[] = [user("authentic-1")];
    const { poll } = start({ held, devices: [AGENT] });
    await poll();
    held.splice(0, 1, user("not-authentic"));
    await poll();
    expect(published()).toEqual([[true, ""], [false, "core: the password is wrong"]]);
    held.push(community(COMMUNITY));
    await poll();
    expect(published().slice(2)).toEqual([[true, ""]]);
  });

  test("that has announced itself and speaks no SNMP is nothing to tell; that is named and silent is", async () => {
    await start({ held: [user("authentic-1")], announced: () => ["10.0.0.9"], ask: silence }).poll(4);
    expect(events).toEqual([]);
    await start({ held: [user("authentic-1")], devices: ["10.0.0.9"], ask: silence }).poll(4);
    expect(published()).toEqual([[false, "core: it does not answer"]]);
  });

  test("whose credential is removed is no longer polled, and reported as not polled, also over a restart", async () => {
    const held: ProbeCredential[] = [community(COMMUNITY)];
    const given = { held, devices: [AGENT] };
    await start(given).poll();
    held.length = 0;
    expect(await start(given).poll(2)).toEqual([]);
    expect(published()).toEqual([[true, ""], [false, ""]]);
  });

  test("whose credential is removed during a poll is no longer polled, and not reported in part", async () => {
    const held: ProbeCredential[] = [community(COMMUNITY)];
    const { poll } = start({
      held, devices: [AGENT],
      ask(target, question, options) {
        if (asked.length === 5) held.length = 0;
        return exchangeDatagram(target, question, options);
      },
    });
    await poll();
    expect([asked.length, events]).toEqual([5, []]);
  });

  test("that refuses is not reported again by a probe that restarts", async () => {
    const given = { held: [user("not-authentic")], devices: [AGENT] };
    await start(given).poll();
    expect(await start(given).poll()).toEqual([AGENT]);
    expect(published()).toEqual([[false, "core: the password is wrong"]]);
  });
});
