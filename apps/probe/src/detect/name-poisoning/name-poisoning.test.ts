import { DNS_TYPE, type DnsRecordFields, encodeDns, encodeEthernet, encodeIpv4, encodeNetbiosAnswer, encodeNetbiosQuery, ETHER_TYPE } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { toBusFrame } from "../../bus/frame-bus.ts";
import { everyTruncation, seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { arpFrame, ip, mac, udpFrame } from "../../observe/testing/frames.ts";
import { createGuardScene, type GuardScene } from "../testing/guard-scene.ts";
import { createNamePoisoningGuard } from "./name-poisoning.ts";
import { readNames } from "./read-names.ts";

const POISONER = "00:0c:29:00:00:66";
const POISONER_IP = "192.168.1.66";
const VICTIM = { from: "00:1b:21:00:00:05" };
const scene = (settings: object = {}) => createGuardScene({ guards: [createNamePoisoningGuard], settings });

const question = (name: string) => ({ name, type: DNS_TYPE.a });
const record = (name: string, address: string): DnsRecordFields =>
  ({ name, type: DNS_TYPE.a, ttlSeconds: 30, data: { kind: "address", address: ip(address) } });
const llmnrQuestion = (name: string) =>
  udpFrame("192.168.1.5", "224.0.0.252", [50_001, 5355], encodeDns({ id: 5, questions: [question(name)] }), VICTIM);
const llmnrAnswer = (name: string, address: string, from: string) => udpFrame(
  address, "192.168.1.5", [5355, 50_001],
  encodeDns({ id: 5, isResponse: true, questions: [question(name)], answers: [record(name, address)] }), { from, to: VICTIM.from },
);
const mdnsQuestion = (name: string) =>
  udpFrame("192.168.1.5", "224.0.0.251", [5353, 5353], encodeDns({ questions: [question(`${name}.local`)] }), VICTIM);
const mdnsAnswer = (names: readonly string[], address: string, from: string) => udpFrame(
  address, "224.0.0.251", [5353, 5353], encodeDns({ isResponse: true, answers: names.map((name) => record(`${name}.local`, address)) }), { from },
);
const netbiosQuestion = (name: string) =>
  udpFrame("192.168.1.5", "192.168.1.255", [137, 137], encodeNetbiosQuery({ id: 9, name: { name, suffix: 0x20 } }), VICTIM);
const netbiosAnswer = (name: string, address: string, { from = POISONER, isGroup = false } = {}) => udpFrame(
  "192.168.1.66", "192.168.1.5", [137, 137],
  encodeNetbiosAnswer({ id: 9, name: { name, suffix: 0x20 }, addresses: [{ isGroup, address: ip(address) }] }), { from, to: VICTIM.from },
);

/** Joins the group of LLMNR. @see RFC 3376 section 4.2 */
function listens(from: string, address: string): Uint8Array {
  const report = Uint8Array.of(0x22, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 224, 0, 0, 252);
  const payload = encodeIpv4({ source: ip(address), destination: ip("224.0.0.22"), protocol: 2, timeToLive: 1, payload: report });
  return encodeEthernet({ destination: mac("01:00:5e:00:00:16"), source: mac(from), etherType: ETHER_TYPE.ipv4, payload });
}

function namesIn(bytes: Uint8Array): ReturnType<typeof readNames> {
  const captured = toBusFrame({ bytes, wireLength: bytes.length, atMicroseconds: 0 });
  const frame = captured.decoded();
  return frame.ok ? readNames({ captured, frame: frame.value }) : null;
}

/** What Responder does: it answers each question that the scene has sent, with its own address. */
function answerAll(on: GuardScene, { from = POISONER, protocols = ["LLMNR", "NBT-NS", "mDNS"] }: { readonly from?: string; readonly protocols?: readonly string[] } = {}): void {
  for (const sent of on.sent.splice(0)) {
    const heard = namesIn(sent);
    const label = heard?.names[0]?.label ?? "";
    if (!heard || !protocols.includes(heard.protocol)) continue;
    if (heard.protocol === "LLMNR") on.hear(llmnrAnswer(label, POISONER_IP, from));
    else if (heard.protocol === "mDNS") on.hear(mdnsAnswer([label], POISONER_IP, from));
    else on.hear(netbiosAnswer(label.toUpperCase(), POISONER_IP, { from }));
  }
}
async function play(on: GuardScene, seconds: number, step: () => void): Promise<void> {
  for (let at = 0; at < seconds * 4; at += 1) {
    await on.clock.advance(250);
    step();
  }
}

describe("a poisoner", () => {
  test.each([
    ["LLMNR", llmnrQuestion("fielsrv")], ["NBT-NS", netbiosQuestion("FIELSRV")], ["mDNS", mdnsQuestion("fielsrv")],
  ])("of %s is seen within five seconds of a question that it could answer, once", async (protocol, question) => {
    const on = scene();
    await on.clock.advance(60_000);
    on.sent.splice(0);
    on.hear(question);
    await play(on, 5, () => answerAll(on, { protocols: [protocol] }));
    expect(on.incidents()).toMatchObject([{ kind: "name_poisoning", state: "seen", severity: "high", mac: POISONER, facts: { [protocol]: POISONER_IP } }]);
    await play(on, 300, () => answerAll(on, { protocols: [protocol] }));
    expect(on.incidents()).toHaveLength(1);
    await on.clock.advance(310_000);
    expect(on.incidents().map(({ state }) => state)).toEqual(["seen", "ended"]);
  });

  test("that begins to listen is asked at once", async () => {
    const on = scene();
    await on.clock.advance(60_000);
    on.sent.splice(0);
    on.hear(listens(POISONER, POISONER_IP));
    await play(on, 4, () => answerAll(on));
    expect(on.incidents()).toMatchObject([{ severity: "high", mac: POISONER }]);
  });

  test("that was there before the probe is seen in the learning period, and once over a restart", async () => {
    const on = scene();
    await play(on, 10, () => answerAll(on));
    expect(on.incidents()).toHaveLength(1);
    const after = on.restart();
    await play(after, 100, () => answerAll(after));
    expect(after.incidents()).toHaveLength(1);
  });

  test("is seen by its answers to others where nothing may be sent", async () => {
    const on = scene({ active: false });
    for (const name of ["printsrv", "fielsrv", "intranet2", "sqlold"]) on.hear(llmnrQuestion(name), llmnrAnswer(name, POISONER_IP, POISONER));
    await on.clock.advance(1000);
    expect(on.sent).toEqual([]);
    expect(on.incidents()).toMatchObject([{ severity: "high", mac: POISONER, facts: { LLMNR: POISONER_IP, names: "printsrv, fielsrv, intranet2, sqlold" } }]);
  });

  test("of Multicast DNS is seen by eight names where nothing may be sent", async () => {
    const on = scene({ active: false });
    for (let at = 1; at <= 8; at += 1) on.hear(mdnsQuestion(`gone${at}`), mdnsAnswer([`gone${at}`], POISONER_IP, POISONER));
    await on.clock.advance(1000);
    expect(on.incidents()).toMatchObject([{ severity: "medium", mac: POISONER }]);
  });

  test("that answers for wpad is reported at once, and gets worse when it answers for a random name", async () => {
    const on = scene();
    on.hear(netbiosQuestion("WPAD"), netbiosAnswer("WPAD", POISONER_IP));
    await on.clock.advance(1000);
    expect(on.incidents()).toMatchObject([{ severity: "medium", mac: POISONER, facts: { names: "wpad" } }]);
    await play(on, 40, () => answerAll(on));
    expect(on.incidents().slice(1)).toMatchObject([{ state: "seen", severity: "high", subject: POISONER }]);
  });

  test("that forges a sender for each answer is one incident", async () => {
    const on = scene();
    let forged = 0;
    await play(on, 120, () => {
      const before = on.sent.length;
      if (before > 0) forged += 1;
      answerAll(on, { from: `02:66:00:00:00:${forged.toString(16).padStart(2, "0")}` });
      on.hear(llmnrQuestion(`other${forged}`));
    });
    expect(new Set(on.incidents().map(({ subject }) => subject))).toEqual(new Set(["02:66:00:00:00:02"]));
    expect(on.incidents().at(-1)?.facts).toMatchObject({ also: "02:66:00:00:00:03" });
  });
});

describe("normal are", () => {
  test("hosts that answer for themselves, by each protocol and again and again", async () => {
    const on = scene();
    for (let round = 0; round < 30; round += 1) {
      on.hear(llmnrQuestion("nas"), llmnrAnswer("nas", "192.168.1.9", "00:11:32:00:00:09"));
      on.hear(netbiosQuestion("NAS"), netbiosAnswer("NAS", "192.168.1.9", { from: "00:11:32:00:00:09" }));
      on.hear(mdnsQuestion("nas"), mdnsAnswer(["nas"], "192.168.1.9", "00:11:32:00:00:09"));
      for (const group of ["WORKGROUP", "HOME", "MSHOME", "LAB", "A", "B"]) on.hear(netbiosQuestion(group), netbiosAnswer(group, "192.168.1.9", { isGroup: true }));
      await on.clock.advance(10_000);
    }
    expect(on.incidents()).toEqual([]);
  });

  test("a WINS server and a reflector, which give others' addresses", async () => {
    const on = scene({ active: false });
    for (let host = 10; host < 60; host += 1) {
      on.hear(netbiosQuestion(`PC${host}`), netbiosAnswer(`PC${host}`, `192.168.1.${host}`, { from: "00:50:56:00:00:03" }));
      on.hear(mdnsQuestion(`mac${host}`), udpFrame(
        "192.168.1.1", "224.0.0.251", [5353, 5353], encodeDns({ isResponse: true, answers: [record(`mac${host}.local`, `192.168.7.${host}`)] }), { from: "24:5a:4c:00:00:01" },
      ));
      await on.clock.advance(100);
    }
    expect(on.incidents()).toEqual([]);
  });

  test("a host with twenty names that it has announced, or that others ask for while questions can be sent", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `app${at}`);
    const announced = scene({ active: false });
    announced.hear(mdnsAnswer(names.slice(0, 10), "192.168.1.9", "00:11:32:00:00:09"), mdnsAnswer(names.slice(10), "192.168.1.9", "00:11:32:00:00:09"));
    const unknown = scene();
    for (const on of [announced, unknown]) {
      for (const name of names) on.hear(mdnsQuestion(name), mdnsAnswer([name], "192.168.1.9", "00:11:32:00:00:09"));
      await on.clock.advance(5000);
      expect(on.incidents()).toEqual([]);
    }
  });

  test("answers that say that nobody has a name", async () => {
    const on = scene();
    await play(on, 200, () => {
      for (const sent of on.sent.splice(0)) {
        const heard = namesIn(sent);
        if (heard?.protocol !== "NBT-NS") continue;
        const name = { name: heard.names[0]?.label.toUpperCase() ?? "", suffix: 0x20 };
        on.hear(udpFrame("192.168.1.3", "192.168.1.2", [137, 137], encodeNetbiosAnswer({ id: 1, name, addresses: [] })));
      }
    });
    expect(on.incidents()).toEqual([]);
  });
});

describe("questions are few", () => {
  test("a quiet link is asked less than once a minute, a chatty one every two seconds and only in the ways in which others ask", async () => {
    const on = scene();
    await on.clock.advance(3_600_000);
    expect(on.sent.length / 3).toBeGreaterThan(30);
    expect(on.sent.length / 3).toBeLessThanOrEqual(80);
    on.sent.splice(0);
    await play(on, 600, () => on.hear(llmnrQuestion("fielsrv")));
    const protocols = on.sent.map((bytes) => namesIn(bytes)?.protocol ?? null);
    expect(protocols.filter((protocol) => protocol === "LLMNR").length).toBeLessThanOrEqual(315);
    expect(protocols.filter((protocol) => protocol !== "LLMNR").length).toBeLessThanOrEqual(2 * 15);
  });

  test("hosts that say again and again that they listen, and one that answers for wpad, bring no more", async () => {
    const on = scene();
    await play(on, 600, () => {
      for (let host = 1; host <= 40; host += 1) on.hear(listens(`00:1b:21:00:00:${host.toString(16).padStart(2, "0")}`, `192.168.1.${host}`));
      on.hear(netbiosQuestion("WPAD"), netbiosAnswer("WPAD", POISONER_IP));
    });
    expect(on.sent.length / 3).toBeLessThanOrEqual(60);
  });

  test("while an incident goes on, it is asked by time alone", async () => {
    const on = scene();
    await play(on, 60, () => {
      on.hear(llmnrQuestion("fielsrv"));
      answerAll(on);
    });
    expect(on.incidents()).toHaveLength(1);
    const before = on.incidents().length;
    let asked = 0;
    await play(on, 600, () => {
      on.hear(llmnrQuestion("fielsrv"));
      asked += on.sent.length;
      answerAll(on);
    });
    expect(asked / 3).toBeLessThanOrEqual(25);
    expect(on.incidents().slice(before).every(({ state }) => state === "seen")).toBe(true);
  });
});

describe("on a link with 2,000 frames a second of others, of which some ask for names, a poisoner", () => {
  const others = Array.from({ length: 500 }, (_, at) => [
    udpFrame(`192.168.1.${at % 250}`, "192.168.1.255", [40_000, 40_001], new Uint8Array(64), { from: `00:1b:21:00:01:${(at % 250).toString(16).padStart(2, "0")}` }),
    mdnsAnswer([`host${at}`], `192.168.1.${at % 250}`, `00:1b:21:00:01:${(at % 250).toString(16).padStart(2, "0")}`),
    arpFrame(`192.168.1.${at % 250}`, `192.168.1.${(at * 7) % 250}`, { from: `00:1b:21:00:01:${(at % 250).toString(16).padStart(2, "0")}` }),
  ][at % 3] as Uint8Array);

  test.each(["LLMNR", "NBT-NS", "mDNS"])("of %s is seen within five seconds whenever he begins, by every guard of the table together", async (protocol) => {
    const seconds: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      const on = createGuardScene({});
      const chatter = () => on.hear(...others, llmnrQuestion("fielsrv"), netbiosQuestion("FIELSRV"), mdnsQuestion("fielsrv"));
      await play(on, 12 + run * 0.75, chatter);
      const beganAt = on.clock.now();
      await play(on, 6, () => {
        chatter();
        answerAll(on, { protocols: [protocol] });
      });
      const seen = on.events.find(({ type, data }) => type === "rogue_detected" && data.kind === "name_poisoning");
      seconds.push(seen ? (Date.parse(seen.occurred_at) - beganAt) / 1000 : Number.POSITIVE_INFINITY);
    }
    expect(Math.max(...seconds)).toBeLessThanOrEqual(5);
  });
});

test("truncated and damaged answers never throw, and are no poisoner", async () => {
  const on = scene({ active: false });
  const samples = [llmnrAnswer("nas", POISONER_IP, POISONER), netbiosAnswer("NAS", POISONER_IP), mdnsAnswer(["nas"], POISONER_IP, POISONER)];
  for (const [seed, sample] of samples.entries()) on.hear(...everyTruncation(sample), ...seededMutations(sample, 2000, seed + 1));
  await on.clock.advance(1000);
  expect(on.incidents()).toEqual([]);
});

test("ten thousand senders that each answer for one name are no poisoner", async () => {
  const on = scene({ active: false });
  for (let n = 0; n < 100; n += 1) {
    on.hear(...Array.from({ length: 100 }, (_, at) => llmnrAnswer(`pc${n}x${at}`, `10.${n}.${at}.1`, `02:00:00:01:${n.toString(16).padStart(2, "0")}:${at.toString(16).padStart(2, "0")}`)));
  }
  await on.clock.advance(1000);
  expect(on.incidents()).toEqual([]);
});
