import { DNS_TYPE, encodeDns } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createAnswerCache } from "./cache/answer-cache.ts";
import { createClientTable } from "./clients/client-table.ts";
import { createServerCookies } from "./clients/server-cookies.ts";
import { createNameServers } from "./forwarding/name-servers.ts";
import { prepareAnswer } from "./messages/answer.ts";
import { createCounts, createResolver } from "./resolver.ts";
import { ask } from "./testing/ask.ts";
import { address, createOpened, edns, lastOf, NAME, question } from "./testing/opened.ts";

const opened = createOpened();
afterEach(() => opened.close());
const clock = createFakeClock();
const LIMITS = { allowed: ["10.0.0.0/8"], perSecond: 1, burst: 10 };

/** A resolver whose servers never answer. */
function resolverAlone(limits = LIMITS) {
  const cache = createAnswerCache({ maxBytes: 1_000_000 });
  const lookups = { find: () => undefined, hasRoute: () => false, waiting: 0 };
  return createResolver({
    cache, clock, lookups, designated: () => null, onListed: () => undefined, onResolved: null, counts: createCounts(), filter: { judgeQuestion: () => null, judgeAnswer: (_, verdict) => verdict, serverRules: null }, nameServers: createNameServers({ cache, lookups, clock }), clients: createClientTable(limits, clock), cookies: createServerCookies(new Uint8Array(32), clock),
  });
}

describe("a flood", () => {
  test("of senders that are made up gets no more bytes than it sent, and at most half as many datagrams", () => {
    const resolver = resolverAlone();
    const sizes: number[] = [];
    const query = encodeDns({ questions: [{ name: "localhost", type: DNS_TYPE.a }], additionals: [edns([], 4096)] });
    for (let sent = 1000; sent > 0; sent -= 1) resolver.take(query, { address: "10.0.0.1", isDatagram: true, isEncrypted: false, respond: (response) => sizes.push(response.length) });
    const [withinLimit, over] = [sizes.slice(0, LIMITS.burst), sizes.slice(LIMITS.burst)];
    expect(withinLimit).toHaveLength(LIMITS.burst);
    expect(over.length).toBeLessThanOrEqual(500);
    expect(Math.max(...over)).toBeLessThanOrEqual(query.length);
    expect(resolver.counts.limited).toBe(1000 - LIMITS.burst);
  });

  test("from addresses that may not ask gets nothing by UDP", () => {
    const resolver = resolverAlone();
    let responses = 0;
    for (const bytes of [encodeDns({ questions: [question] }), encodeDns({ opcode: 3 }), new Uint8Array(40)]) {
      resolver.take(bytes, { address: "192.0.2.1", isDatagram: true, isEncrypted: false, respond: () => (responses += 1) });
    }
    expect([responses, resolver.counts.ignored]).toEqual([0, 3]);
  });

  test("of addresses leaves the table of clients bounded; a network of IPv6 is one client", () => {
    const table = createClientTable({ allowed: ["10.0.0.0/8", "2001:db8::/32"], perSecond: 1, burst: 1 }, clock);
    for (let index = 0; index < 40_000; index += 1) table.of(`10.${index >>> 16}.${(index >>> 8) & 0xff}.${index & 0xff}`);
    expect(table.size).toBe(32_768);
    expect(table.of("2001:db8:1:2:3::9")).toBe(table.of("2001:db8:1:2:ffff::1"));
    expect(table.of("2001:db8:1:2::1").isAllowed).toBe(true);
    expect(table.of("192.0.2.1").isAllowed).toBe(false);
    expect(table.of("::ffff:10.1.2.3").isAllowed).toBe(true);
    expect(table.of("2001:db8::9")).toBe(table.of("2001:db8::1:0:0:1"));
    const narrow = createClientTable({ allowed: ["fd00::5/128"], perSecond: 1, burst: 1 }, clock);
    expect([narrow.of("fd00::5").isAllowed, narrow.of("fd00::6").isAllowed]).toEqual([true, false]);
  });

  test("of names leaves the cache bounded, and what is asked for again in it", () => {
    const cache = createAnswerCache({ maxBytes: 500_000 });
    const answer = prepareAnswer(encodeDns({ isResponse: true, questions: [question], answers: [address(1)] }))?.answer;
    if (!answer) throw new Error("no answer");
    cache.put("kept", answer, 0);
    for (let index = 0; index < 20_000; index += 1) {
      cache.put(`n${index}`, answer, 0);
      expect(cache.find("kept")).toBeDefined();
    }
    expect(cache.bytes).toBeLessThanOrEqual(500_000);
    expect(cache.size).toBeGreaterThan(500);
  });
});

test("any bytes are taken without an error; a response has the query's id, and is one", () => {
  const resolver = resolverAlone({ ...LIMITS, burst: 1_000_000 });
  const query = encodeDns({ id: 513, questions: [{ name: "localhost", type: DNS_TYPE.a }], additionals: [edns([{ code: 10, value: new Uint8Array(8) }])] });
  const changed = fc.array(fc.tuple(fc.nat(query.length - 1), fc.nat(255)), { maxLength: 4 }).map((changes) => {
    const bytes = Uint8Array.from(query);
    for (const [at, value] of changes) bytes[at] = value;
    return bytes;
  });
  fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), changed), fc.boolean(), (bytes, isDatagram) => {
    resolver.take(bytes, {
      address: "10.0.0.1", isDatagram, isEncrypted: !isDatagram, respond(response) {
        expect([response[0], response[1], (response[2] as number) & 0x80]).toEqual([bytes[0], bytes[1], 0x80]);
      },
    });
  }), { numRuns: 3000 });
});

test("a server whose answers cannot be read is passed over", async () => {
  const head = (bytes: Uint8Array) => {
    bytes[2] = 0x81;
    return bytes;
  };
  const endless = (query: Uint8Array) => {
    // A name that points to itself, where the answer's name should be.
    const bytes = new Uint8Array(query.length + 12);
    bytes.set(query);
    bytes[7] = 1;
    bytes.set([0xc0, query.length, 0, 1, 0, 1, 0, 0, 0, 9, 0, 0], query.length);
    return head(bytes);
  };
  const cutOff = (query: Uint8Array) => {
    const bytes = Uint8Array.from(query);
    bytes[7] = 200;
    return head(bytes);
  };
  for (const lie of [endless, cutOff]) {
    const liar = await opened.server(({ id, questions }) => lie(encodeDns({ id, questions })));
    const honest = await opened.server(() => ({ answers: [address(1)] }));
    const { port, upstreams } = await opened.resolverOver([liar, honest]);
    expect(lastOf(await ask(port, { questions: [{ ...question, name: `${lie.name}.${NAME}` }] }))).toEqual([1]);
    expect(upstreams[0]?.counts).toMatchObject({ asked: 1, failed: 1 });
  }
});
