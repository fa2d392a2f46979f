import { DNS_RESPONSE_CODE, DNS_TYPE, dnsEdns, type DnsMessage, type DnsRecordFields } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { ask } from "./testing/ask.ts";
import { address, createOpened, edns, extendedError, lastOf, NAME, question } from "./testing/opened.ts";

const opened = createOpened();
const { server, resolverOver } = opened;
afterEach(() => opened.close());

describe("an answer", () => {
  test("comes from the server once, and from memory after that, with the time that is left", async () => {
    const upstream = await server(() => ({ answers: [address(1, 300)] }));
    const clock = createFakeClock();
    const { port, counts } = await resolverOver([upstream], {}, clock);
    const first = await ask(port, { questions: [question] });
    await clock.advance(100_000);
    const second = await ask(port, { questions: [{ ...question, name: "WWW.example.COM" }] });
    expect([lastOf(first), lastOf(second)]).toEqual([[1], [1]]);
    expect([first.answers[0]?.ttlSeconds, second.answers[0]?.ttlSeconds]).toEqual([300, 200]);
    expect(second.questions[0]?.name).toBe("WWW.example.COM");
    expect(upstream.asked).toHaveLength(1);
    expect(counts).toMatchObject({ queries: 2, fromCache: 1, forwarded: 1 });
  });

  test("is asked for once, however many wait for it", async () => {
    let answerNow: () => void = () => undefined;
    const held = new Promise<void>((resolve) => void (answerNow = resolve));
    const upstream = await server(async () => {
      await held;
      return { answers: [address(1)] };
    });
    const { port, counts } = await resolverOver([upstream]);
    const all = Array.from({ length: 20 }, () => ask(port, { questions: [question] }));
    await expect.poll(() => counts.queries).toBe(20);
    answerNow();
    expect((await Promise.all(all)).map(lastOf)).toEqual(Array.from({ length: 20 }, () => [1]));
    expect(upstream.asked).toHaveLength(1);
  });

  test("that says there is no such name is kept as long as the zone says", async () => {
    const soa: DnsRecordFields = {
      name: "example.com", type: DNS_TYPE.soa, ttlSeconds: 900,
      data: { kind: "soa", mname: "ns.example.com", rname: "admin.example.com", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 60 },
    };
    const upstream = await server(() => ({ responseCode: DNS_RESPONSE_CODE.nameError, authorities: [soa] }));
    const clock = createFakeClock();
    const { port } = await resolverOver([upstream], {}, clock);
    expect((await ask(port, { questions: [question] })).responseCode).toBe(DNS_RESPONSE_CODE.nameError);
    await clock.advance(59_000);
    await ask(port, { questions: [question] });
    expect(upstream.asked).toHaveLength(1);
    await clock.advance(2000);
    await ask(port, { questions: [question] });
    expect(upstream.asked).toHaveLength(2);
  });

  test("near its end is asked for again in the background", async () => {
    const upstream = await server(() => ({ answers: [address(1, 100)] }));
    const clock = createFakeClock();
    const { port } = await resolverOver([upstream], {}, clock);
    for (const waitMs of [0, 1000, 94_000]) {
      await clock.advance(waitMs);
      await ask(port, { questions: [question] });
    }
    await expect.poll(() => upstream.asked.length).toBe(2);
    await expect.poll(async () => (await ask(port, { questions: [question] })).answers[0]?.ttlSeconds).toBe(100);
  });

  test("that has expired is given when no server answers, and says so", async () => {
    let isSilent = false;
    const upstream = await server(() => (isSilent ? null : { answers: [address(1, 10)] }));
    const clock = createFakeClock();
    const { port, counts } = await resolverOver([upstream], {}, clock);
    await ask(port, { questions: [question] });
    isSilent = true;
    await clock.advance(60_000);
    const late = ask(port, { questions: [question], additionals: [edns()] });
    await expect.poll(() => counts.forwarded).toBe(2);
    await clock.advance(1800);
    const message = await late;
    expect([lastOf(message), message.answers[0]?.ttlSeconds, extendedError(message)?.code]).toEqual([[1], 30, 3]);
  });

  test("that does not fit the datagram is cut, and whole by TCP", async () => {
    const upstream = await server(() => ({ answers: Array.from({ length: 60 }, (_, index) => address(index)) }));
    const { port } = await resolverOver([upstream]);
    const cut = await ask(port, { questions: [question] });
    expect([cut.isTruncated, cut.answers.length]).toEqual([true, 0]);
    expect((await ask(port, { questions: [question], additionals: [edns([], 4096)] })).isTruncated).toBe(false);
    expect((await ask(port, { tcp: true, questions: [question] })).answers).toHaveLength(60);
  });
});

describe("a server", () => {
  test("that says that its answer is cut is asked by TCP", async () => {
    const upstream = await server((_, transport) => (transport === "udp" ? { isTruncated: true } : { answers: [address(7)] }));
    const { port } = await resolverOver([upstream]);
    expect(lastOf(await ask(port, { questions: [question] }))).toEqual([7]);
    expect(upstream.asked.map(({ transport }) => transport)).toEqual(["udp", "tcp"]);
  });

  test("that gives letters back in another case is asked by TCP", async () => {
    const upstream = await server(({ questions }, transport) =>
      transport === "udp" ? { questions: questions.map((one) => ({ ...one, name: one.name.toLowerCase() })), answers: [address(6)] } : { answers: [address(7)] });
    const { port } = await resolverOver([upstream]);
    const long = { name: "abcdefghijklmnopqrstuvwxyz.abcdefghijklmnopqrstuvwxyz.example.com", type: DNS_TYPE.a };
    expect(lastOf(await ask(port, { questions: [long] }))).toEqual([7]);
  });

  test("whose answers have the wrong id, another question or no end is not believed", async () => {
    const lies = [
      ({ id, questions }: DnsMessage) => ({ id: id ^ 1, questions, answers: [address(66)] }),
      () => ({ questions: [{ name: "other.example.com", type: DNS_TYPE.a }], answers: [address(66)] }),
    ];
    for (const lie of lies) {
      const liar = await server(lie);
      const honest = await server(() => ({ answers: [address(1)] }));
      const { port } = await resolverOver([liar, honest]);
      expect(lastOf(await ask(port, { questions: [question] }))).toEqual([1]);
      expect(liar.asked.length).toBeGreaterThan(0);
    }
  });

  test("that is silent is passed over, first after a moment, then at once", async () => {
    const silent = await server(() => null);
    const honest = await server(() => ({ answers: [address(1, 1)] }));
    const { port, upstreams } = await resolverOver([silent, honest]);
    expect(lastOf(await ask(port, { questions: [question] }))).toEqual([1]);
    expect(lastOf(await ask(port, { questions: [{ ...question, name: "b.example.com" }] }))).toEqual([1]);
    expect(upstreams[1]?.counts.answered).toBe(2);
  });

  test("that refuses is passed over; where all do, the refusal is the answer", async () => {
    const refusing = await server(() => ({ responseCode: DNS_RESPONSE_CODE.refused }));
    const honest = await server(() => ({ answers: [address(1)] }));
    expect(lastOf(await ask((await resolverOver([refusing, honest])).port, { questions: [question] }))).toEqual([1]);
    expect((await ask((await resolverOver([refusing])).port, { questions: [question] })).responseCode).toBe(DNS_RESPONSE_CODE.refused);
  });

  test("of a zone's own is asked for the names of that zone, and of no other", async () => {
    const general = await server(() => ({ answers: [address(1)] }));
    const corp = await server(() => ({ answers: [address(2)] }));
    const { port } = await resolverOver([general], { forward: [{ zones: ["Corp.Example", "10.in-addr.arpa"], upstreams: [{ address: "127.0.0.1", port: corp.port }] }] });
    const of = async (name: string) => lastOf(await ask(port, { questions: [{ name, type: DNS_TYPE.a }] }));
    expect([await of("dc1.corp.example"), await of("notcorp.example"), await of("CORP.example"), await of("4.3.2.10.in-addr.arpa")]).toEqual([[2], [1], [2], [2]]);
  });
});

describe("a client", () => {
  test("gets an answer for names that are nobody's without a server being asked", async () => {
    const upstream = await server(() => ({ answers: [address(1)] }));
    const { port } = await resolverOver([upstream]);
    expect((await ask(port, { questions: [{ name: "localhost", type: DNS_TYPE.a }] })).answers[0]?.data).toEqual({ kind: "address", address: Uint8Array.of(127, 0, 0, 1) });
    expect((await ask(port, { questions: [{ name: NAME, type: DNS_TYPE.any }] })).answers.map(({ type }) => type)).toEqual([13]);
    expect(upstream.asked).toHaveLength(0);
  });

  test("that asks too much is sent to TCP, or nothing: never more than it sent", async () => {
    const upstream = await server(() => ({ answers: [address(1)] }));
    const { port, counts } = await resolverOver([upstream], { queries_per_second: 1, burst: 2 });
    for (let left = 2; left > 0; left -= 1) expect(lastOf(await ask(port, { questions: [question] }))).toEqual([1]);
    const limited = Array.from({ length: 4 }, () => ask(port, { questions: [question] }));
    const message = await Promise.race(limited);
    expect([message.isTruncated, message.answers.length]).toEqual([true, 0]);
    await expect.poll(() => counts.limited).toBe(4);
  });

  test("whose network may not ask is not answered", async () => {
    const upstream = await server(() => ({ answers: [address(1)] }));
    const { port, counts } = await resolverOver([upstream], { allow: ["10.0.0.0/8"] });
    void ask(port, { questions: [question] });
    await expect.poll(() => counts.ignored).toBe(1);
    expect((await ask(port, { tcp: true, questions: [question] })).responseCode).toBe(DNS_RESPONSE_CODE.refused);
    expect(upstream.asked).toHaveLength(0);
  });

  test("gets a cookie, and by it keeps being answered", async () => {
    const upstream = await server(() => ({ answers: [address(1)] }));
    const { port } = await resolverOver([upstream]);
    const own = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const given = dnsEdns(await ask(port, { questions: [question], additionals: [edns([{ code: 10, value: own }])] }))?.options.find(({ code }) => code === 10)?.value;
    expect(given?.length).toBe(24);
    expect(given?.subarray(0, 8)).toEqual(own);
  });

  test("gets the code that fits what it sent", async () => {
    const upstream = await server(() => ({ answers: [address(1)] }));
    const { port } = await resolverOver([upstream]);
    const codes = [
      await ask(port, { opcode: 4, questions: [question] }),
      await ask(port, { questions: [question, question] }),
      await ask(port, { questions: [{ ...question, class: 3 }] }),
      await ask(port, { questions: [{ ...question, type: 252 }] }),
    ].map(({ responseCode }) => responseCode);
    expect(codes).toEqual([DNS_RESPONSE_CODE.notImplemented, DNS_RESPONSE_CODE.formatError, DNS_RESPONSE_CODE.refused, DNS_RESPONSE_CODE.refused]);
    const newer = await ask(port, { questions: [question], additionals: [{ ...edns(), ttlSeconds: 0x0001_0000 }] });
    expect(dnsEdns(newer)?.responseCode).toBe(16);
  });
});

test("a port that another program has is reported with who has it, and what to do", async () => {
  const upstream = await server(() => null);
  await expect(resolverOver([upstream], { port: upstream.port })).rejects.toMatchObject({ code: "port-in-use", message: expect.stringMatching(/^tcp port \d+ of 127\.0\.0\.1 is in use by /) });
});
