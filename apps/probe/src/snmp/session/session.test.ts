import { systemClock } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExchangeDatagram, exchangeDatagram } from "../../identify/datagrams.ts";
import { createSnmpSession, type SnmpCredential, type SnmpProblem } from "./session.ts";
import { COMMUNITY, type Snmpd, startSnmpd } from "../testing/snmpd.ts";

const NAME = "1.3.6.1.2.1.1.5.0";
const head = { id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [] };
type V3 = Extract<SnmpCredential, { readonly type: "snmpv3" }>;
const v3 = (
  username: string, auth_protocol: V3["settings"]["auth_protocol"],
  privacy_protocol: V3["settings"]["privacy_protocol"], passwords: Partial<V3["secret"]> = {},
): V3 => ({
  ...head, type: "snmpv3", settings: { username, context: "", auth_protocol, privacy_protocol, port: snmpd.port },
  secret: { auth_password: "authentic-1", privacy_password: "private-12", ...passwords },
});
const community = (version: "1" | "2c", text = COMMUNITY): SnmpCredential =>
  ({ ...head, type: "snmp", settings: { version, port: snmpd.port }, secret: { community: text } });

let snmpd: Snmpd;
beforeAll(async () => {
  snmpd = await startSnmpd();
});
afterAll(() => snmpd?.close());

function openSession(credential: SnmpCredential, ask: ExchangeDatagram = exchangeDatagram, signal = new AbortController().signal) {
  return createSnmpSession({
    ip: "127.0.0.1", credential, ask, pace: async () => undefined, mayAsk: () => true, clock: systemClock, random: Math.random, signal,
  });
}
const text = (value: Uint8Array | undefined) => (value ? Buffer.from(value).toString() : null);

describe("an agent", () => {
  test.each<readonly [string, () => SnmpCredential]>([
    ["version 1", () => community("1")], ["version 2c", () => community("2c")],
    ["version 3 with SHA-512 and AES-256", () => v3("modern", "sha512", "aes256")],
    ["version 3 with SHA-256 and AES", () => v3("usual", "sha256", "aes")],
    ["version 3 with SHA and AES", () => v3("old", "sha", "aes")], ["version 3 with MD5 and DES", () => v3("oldest", "md5", "des")],
    ["version 3 without privacy", () => v3("signed", "sha224", null)],
  ])("is asked by %s, for a value and for a tree", async (_, credential) => {
    const session = openSession(credential());
    const values = await session.get([NAME]);
    expect([text(values?.get(NAME)?.value), session.problem()]).toEqual(["sw-closet", null]);
    const system = await session.walk("1.3.6.1.2.1.1");
    expect([
      system.length > 10, system.every(({ name }) => name.startsWith("1.3.6.1.2.1.1.")),
      text(system.find(({ name }) => name === NAME)?.value),
    ]).toEqual([true, true, "sw-closet"]);
    expect(session.engineId() !== "").toBe(credential().type === "snmpv3");
  });

  test.each<readonly [string, () => SnmpCredential, SnmpProblem]>([
    ["a wrong password", () => v3("usual", "sha256", "aes", { auth_password: "not-authentic" }), {
      kind: "refused", text: "the password is wrong",
    }],
    ["a wrong privacy password", () => v3("usual", "sha256", "aes", { privacy_password: "not-private" }), {
      kind: "unanswered", text: "it does not answer: perhaps the privacy password or protocol is wrong",
    }],
    ["an unknown user", () => v3("nobody", "sha256", "aes"), { kind: "refused", text: "it does not know the user" }],
    ["a wrong community", () => community("2c", "not-theirs"), {
      kind: "unanswered", text: "it supports SNMP but does not answer to this community",
    }],
  ])("says that it was given %s", async (_, credential, problem) => {
    const session = openSession(credential());
    expect([await session.get([NAME]), session.problem()]).toEqual([null, problem]);
  });

  test("that is not there is silent", async () => {
    const session = openSession(community("2c"), () => Promise.resolve(null));
    expect([await session.get([NAME]), session.problem()]).toEqual([null, { kind: "silent", text: "it does not answer" }]);
  });

  test("that has no such object is one without it, in each version", async () => {
    for (const credential of [community("1"), community("2c"), v3("usual", "sha256", "aes")]) {
      const session = openSession(credential);
      expect([(await session.get(["1.3.6.1.4.1.99999.1.0"]))?.size, await session.walk("1.3.6.1.4.1.99999")]).toEqual([0, []]);
    }
  });
});

describe("a hostile agent", () => {
  /** Answers truthfully, but for one byte. */
  const mutating = (random: () => number): ExchangeDatagram => async (target, question, options) => {
    const answer = await exchangeDatagram(target, question, options);
    if (!answer) return null;
    const bytes = Uint8Array.from(answer);
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    return random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
  };

  test.each<readonly [string, () => SnmpCredential]>([["2c", () => community("2c")], ["3", () => v3("usual", "sha256", "aes")]])(
    "whose words of version %s are damaged never throws, and a damaged word of version 3 is not believed", async (version, credential) => {
      let seed = 7;
      const random = () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return seed / 2 ** 31;
      };
      const session = openSession(credential(), mutating(random));
      for (let times = 0; times < 300; times += 1) {
        const name = text((await session.get([NAME]))?.get(NAME)?.value);
        if (version === "3") expect([null, "sw-closet"]).toContain(name);
      }
    }, 60_000,
  );

  test("that goes in circles, or on for ever, is not followed", async () => {
    const { encodeCommunityMessage, encodePdu } = await import("./pdu.ts");
    const answering = (names: (asked: number) => readonly string[]): ExchangeDatagram => {
      let asked = 0;
      return (_, question) => {
        asked += 1;
        const id = Buffer.from(question).subarray(question.indexOf(0xa5));
        const requestId = id.subarray(id.indexOf(0x02) + 2, id.indexOf(0x02) + 2 + (id[id.indexOf(0x02) + 1] ?? 0))
          .reduce((sum, byte) => sum * 256 + byte, 0);
        return Promise.resolve(encodeCommunityMessage(1, "x", encodePdu(0xa2, requestId, names(asked))));
      };
    };
    const circle = openSession(community("2c"), answering(() => ["1.3.6.1.2.1.1.1.0", "1.3.6.1.2.1.1.1.0"]));
    expect(await circle.walk("1.3.6.1.2.1.1")).toHaveLength(1);
    const endless = openSession(
      community("2c"), answering((asked) => Array.from({ length: 40 }, (_, at) => `1.3.6.1.2.1.1.${asked * 40 + at}`)),
    );
    expect(await endless.walk("1.3.6.1.2.1.1")).toHaveLength(4096);
    const stopped = new AbortController();
    stopped.abort();
    expect(await openSession(community("2c"), answering(() => []), stopped.signal).get([NAME])).toBeNull();
  });
});
