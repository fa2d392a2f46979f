import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encodeDns } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { runUnpacked, unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { createInspection } from "../inspector.ts";
import { play, playSegments, segmentsOf, turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { playCapture } from "../testing/play-capture.ts";
import type { TrafficMessage } from "../traffic-message.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of DNS with tshark");
const capture = (name: string) => fileURLToPath(new URL(`../../../../../shared/data/captures/tcpdump/${name}.pcap`, import.meta.url));

const QUERY = encodeDns({ id: 7, isRecursionDesired: true, questions: [{ name: "mail.example.com", type: 1 }] });
const RESPONSE = encodeDns({
  id: 7, isResponse: true, isRecursionDesired: true, isRecursionAvailable: true, questions: [{ name: "mail.example.com", type: 1 }],
  answers: [{ name: "mail.example.com", type: 1, ttlSeconds: 60, data: { kind: "address", address: Uint8Array.of(192, 0, 2, 5) } }],
});

function overTcp(...messages: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(messages.flatMap((message) => [Buffer.from([message.length >> 8, message.length & 0xff]), message])));
}

describe("DNS over TCP", () => {
  const turns = [turn(0, overTcp(QUERY, QUERY)), turn(1, overTcp(RESPONSE, RESPONSE))];

  test("is read message by message, from any port", () => {
    const { messages, service } = play(turns);
    expect(service).toBe("dns");
    expect(messages).toMatchObject([
      { protocol: "dns", transport: "tcp", side: 0, message: { id: 7, isResponse: false, questions: [{ name: "mail.example.com" }] }, bytes: QUERY },
      { side: 0 },
      { side: 1, message: { isResponse: true, answers: [{ ttlSeconds: 60 }] }, bytes: RESPONSE },
      { side: 1 },
    ]);
  });

  test("is the same however it is cut, and harmless when damaged", () => {
    expectSameHoweverCut(turns);
    expectHarmless(turns, seededMutations);
  });

  test("ends with a gap: where the next message begins is lost", () => {
    const more = [...turns, turn(0, overTcp(QUERY)), turn(0, overTcp(QUERY)), turn(1, overTcp(RESPONSE))];
    const { messages, counters } = playSegments(segmentsOf(more).toSpliced(5, 1));
    expect(messages.map(({ side }) => side)).toEqual([0, 0, 1, 1, 1]);
    expect(counters).toMatchObject({ gaps: 1, heldBytes: 0 });
  });
});

describe("DNS over UDP", () => {
  test("is recognized by its bytes, and read for as long as it is there", () => {
    const messages: TrafficMessage[] = [];
    const inspector = createInspection<number>({ onMessage: (flow, message) => messages.push({ ...message, at: flow }) }).open(5);
    for (let index = 0; index < 20; index += 1) {
      inspector.datagram(0, QUERY, index);
      inspector.datagram(1, RESPONSE, index);
    }
    expect([inspector.service, inspector.isDone, messages.length]).toEqual(["dns", false, 40]);
    expect(messages[1]).toMatchObject({ at: 5, transport: "udp", side: 1, message: { responseCode: 0 } });
  });

  test("lets other datagrams go after a few", () => {
    const inspection = createInspection<null>({ onMessage: () => expect.fail("said something") });
    for (const seed of [1, 2, 3]) {
      const inspector = inspection.open(null);
      for (const bytes of seededMutations(new Uint8Array(100).fill(0xa7), 6, seed)) inspector.datagram(0, bytes, 0);
      expect([inspector.service, inspector.isDone]).toEqual(["", true]);
    }
    expect(inspection.counters().unrecognized).toBe(3);
  });

  test("harms nobody, however damaged", () => {
    let said = 0;
    const inspection = createInspection<null>({ onMessage: () => (said += 1) });
    for (const bytes of seededMutations(RESPONSE, 20_000, 11)) inspection.open(null).datagram(1, bytes, 0);
    expect(said).toBeGreaterThan(1000);
  });
});

describe.skipIf(!existsSync(capture("dns_tcp")))("captures of others", () => {
  test.each(["dns_tcp", "dns_udp", "dnssec", "edns-opts"])("say the same names as tshark reads: %s", async (name) => {
    const ours = playCapture(capture(name)).flatMap((flow) => flow.messages).flatMap((message) => {
      return message.protocol === "dns" ? message.message.questions.map((question) => (question.name === "." ? "<Root>" : question.name)) : [];
    });
    expect(ours.length).toBeGreaterThan(0);
    if (!tshark) return;
    const theirs = await runUnpacked(tshark, "tshark", ["-n", "-r", capture(name), "-d", "tcp.port==53,dns", "-T", "fields", "-E", "aggregator=/s", "-e", "dns.qry.name"]);
    expect(ours.toSorted()).toEqual(theirs.split(/\s+/).filter((word) => word !== "").toSorted());
  });
});
