import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIp } from "../addresses.ts";
import { decodeDns, dnsEdns, type DnsFields, type DnsMessage, type DnsRecordFields, encodeDns } from "./dns.ts";
import { DNS_TYPE, type DnsData } from "./dns-records.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { everyTruncation, seededMutations } from "../testing/hostile.ts";
import { encodeUtf8 } from "../text.ts";

const AAAA = { kind: "address", address: new Uint8Array(16) } as const;
const LARGE_RECORD: DnsRecordFields = { name: "a", type: 9, ttlSeconds: 0, data: { kind: "bytes", bytes: new Uint8Array(40_000) } };

/** A query with EDNS: a client cookie, DNSSEC welcome. */
const QUERY = fromHex(`
  1a2b 0120 0001 0000 0000 0001
  03777777 076578616d706c65 00 001c 0001
  00 0029 04d0 00 00 8000 000c 000a 0008 0102030405060708
`);

/** An answer through an alias, with a name server and a mail exchanger, names compressed. */
const ANSWER = fromHex(`
  1a2b 8580 0001 0003 0001 0001
  03777777 076578616d706c65 00 00ff 0001
  c00c 0005 0001 00000e10 0005 026c62 c010
  c029 0001 0001 0000003c 0004 c0000201
  c010 000f 0001 00000e10 0009 000a 046d61696c c010
  c010 0006 0001 00000e10 0018 c010 c010 00000001 00000002 00000003 00000004 00000005
  026e73 c010 001c 0001 00000e10 0010 20010db8000000000000000000000053
`);

/** Multicast DNS: a printer announces its service, its text, its address, and what else it has. */
const ANNOUNCEMENT = fromHex(`
  0000 8400 0000 0004 0000 0001
  045f697070 045f746370 056c6f63616c 00 000c 0001 00001194 000d 0a 4c61736572202e206a6f c00c
  c027 0021 8001 00000078 000d 0000 0000 0277 04 6c613178 c016
  c027 0010 8001 00001194 000c 04 7478743d 00 05 c3a93d3130
  c046 0001 8001 00000078 0004 c0a80105
  c046 002f 8001 00000078 0008 c046 00 04 40000008
`);

const MESSAGES = [["a query", QUERY], ["an answer", ANSWER], ["an announcement", ANNOUNCEMENT]] as const;

function read(bytes: Uint8Array): DnsMessage {
  const result = decodeDns(bytes);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset}`);
  return result.value;
}

describe("decoding", () => {
  test("a query with EDNS", () => {
    const message = read(QUERY);
    expect(message).toMatchObject({ id: 0x1a2b, isResponse: false, opcode: 0, isTruncated: false });
    expect(message).toMatchObject({ isRecursionDesired: true, isAuthenticData: true, isCheckingDisabled: false });
    expect(message.questions).toEqual([{ name: "www.example", type: DNS_TYPE.aaaa, class: 1, wantsUnicastResponse: false }]);
    expect(dnsEdns(message)).toEqual({
      udpPayloadSize: 1232,
      responseCode: 0,
      version: 0,
      isDnssecOk: true,
      options: [{ code: 10, value: fromHex("0102030405060708") }],
    });
  });

  test("an answer in all its sections", () => {
    const message = read(ANSWER);
    expect(message).toMatchObject({ isResponse: true, isAuthoritative: true, isRecursionAvailable: true, responseCode: 0 });
    expect(message.answers.map(({ name, ttlSeconds, data }) => [name, ttlSeconds, data])).toEqual([
      ["www.example", 3600, { kind: "name", name: "lb.example" }],
      ["lb.example", 60, { kind: "address", address: parseIp("192.0.2.1") }],
      ["example", 3600, { kind: "mx", preference: 10, exchange: "mail.example" }],
    ]);
    const soa = { kind: "soa", mname: "example", rname: "example", serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5 };
    expect(message.authorities).toMatchObject([{ name: "example", data: soa }]);
    expect(message.additionals).toMatchObject([{ name: "ns.example", data: { address: parseIp("2001:db8::53") } }]);
    expect(dnsEdns(message)).toBeNull();
  });

  test("an announcement of Multicast DNS", () => {
    const { answers, additionals } = read(ANNOUNCEMENT);
    const instance = "Laser\\032\\.\\032jo._ipp._tcp.local";
    expect([...answers, ...additionals].map(({ name, isCacheFlush, data }) => [name, isCacheFlush, data])).toEqual([
      ["_ipp._tcp.local", false, { kind: "name", name: instance }],
      [instance, true, { kind: "srv", priority: 0, weight: 0, port: 631, target: "la1x.local" }],
      [instance, true, { kind: "txt", strings: [encodeUtf8("txt="), new Uint8Array(0), encodeUtf8("é=10")] }],
      ["la1x.local", true, { kind: "address", address: parseIp("192.168.1.5") }],
      ["la1x.local", true, { kind: "nsec", nextName: "la1x.local", types: [1, 28] }],
    ]);
  });

  test("a question may ask for an answer by unicast", () => {
    const bytes = encodeDns({ questions: [{ name: "la1x.local", type: 1, wantsUnicastResponse: true }] });
    expect(read(bytes).questions).toEqual([{ name: "la1x.local", type: 1, class: 1, wantsUnicastResponse: true }]);
  });

  test("an extended response code has twelve bits", () => {
    const opt = { name: ".", type: DNS_TYPE.opt, class: 512, ttlSeconds: 0x01_00_0000, data: { kind: "opt", options: [] } } as const;
    expect(dnsEdns(read(encodeDns({ responseCode: 1, additionals: [opt] })))).toMatchObject({ responseCode: 17, isDnssecOk: false });
  });

  test("unknown types, addresses of other classes and empty data are kept as bytes, without a copy", () => {
    const record = (type: string, recordClass: string, data: string) => fromHex(`00 ${type} ${recordClass} 00000000 ${data}`);
    const bytes = joinBytes(
      fromHex("0000 2800 0000 0003 0000 0000"),
      record("fde8", "0001", "0002 beef"),
      record("0001", "0003", "0003 c00c01"),
      record("0001", "00ff", "0000"),
    );
    const { answers } = read(bytes);
    expect(answers.map(({ data }) => data)).toEqual([
      { kind: "bytes", bytes: fromHex("beef") },
      { kind: "bytes", bytes: fromHex("c00c01") },
      { kind: "bytes", bytes: new Uint8Array(0) },
    ]);
    expect(answers.every(({ data }) => data.kind === "bytes" && data.bytes.buffer === bytes.buffer)).toBe(true);
  });

  test("bytes after the last record are ignored", () => {
    expect(decodeDns(joinBytes(QUERY, fromHex("00")))).toEqual(decodeDns(QUERY));
  });
});

describe("hostile input", () => {
  test.each(MESSAGES)("every truncation of %s is truncated", (_, message) => {
    for (const cut of everyTruncation(message)) expect(decodeDns(cut)).toMatchObject({ ok: false, code: "truncated", layer: "dns" });
  });

  test.each(MESSAGES)("20,000 mutations of %s end in a result", (_, message) => {
    const counts = { ok: 0, malformed: 0 };
    for (const bytes of seededMutations(message, 20_000, 1035)) counts[decodeDns(bytes).ok ? "ok" : "malformed"] += 1;
    expect(counts.ok).toBeGreaterThan(1000);
    expect(counts.malformed).toBeGreaterThan(1000);
  });

  test("a false count of records ends with the bytes", () => {
    expect(decodeDns(fromHex("0000 8000 ffff ffff ffff ffff"))).toMatchObject({ ok: false, code: "truncated" });
    const oneOfMany = fromHex("0000 8000 0000 ffff 0000 0000 00 0001 0001 00000000 0004 01020304");
    expect(decodeDns(oneOfMany)).toMatchObject({ ok: false, code: "truncated" });
  });

  test.each([
    ["an address of three bytes", "0001", "0003 010203"],
    ["an address of five bytes", "0001", "0005 0102030405"],
    ["a string longer than its record", "0010", "0002 0561"],
    ["a service without a target", "0021", "0006 000000000277"],
    ["windows of types that do not rise", "002f", "0007 00 000140 000140"],
    ["a window without bits", "002f", "0003 00 0000"],
    ["a window of 33 bytes", "002f", `0024 00 0021 ${"ff".repeat(33)}`],
    ["a name longer than its record", "000c", "0002 0161 00"],
    ["a name with bytes behind it", "000c", "0004 016100ff"],
  ])("%s is malformed", (_, type, data) => {
    expect(decodeDns(fromHex(`0000 8000 0000 0001 0000 0000 00 ${type} 0001 00000000 ${data}`))).toMatchObject({ ok: false, layer: "dns" });
  });

  test("a message of 64 KiB whose every name is the longest takes little time and memory", () => {
    const longest = `${"3f".padEnd(128, "61").repeat(3)}3d${"61".repeat(61)}00`;
    const pointers = Uint8Array.from({ length: 65_000 }, (_, at) => [0xc0, 0x0c, 0, 1, 0, 1][at % 6] ?? 0);
    const count = 1 + Math.floor(65_000 / 6);
    const message = joinBytes(fromHex(`0000 0000 ${count.toString(16)} 0000 0000 0000 ${longest} 0001 0001`), pointers);
    expect(read(message).questions).toHaveLength(count);
  });
});

describe("encoding", () => {
  const names = fc
    .array(fc.uint8Array({ minLength: 1, maxLength: 8 }), { maxLength: 5 })
    .map((labels) => labels.map((label) => [...label].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("")).join(".") || ".")
    .map((name) => read(encodeDns({ questions: [{ name, type: 1 }] })).questions[0]?.name ?? "");
  const u16 = fc.nat(0xffff);
  const data: fc.Arbitrary<readonly [type: number, data: DnsData]> = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }).map((address) => [DNS_TYPE.a, { kind: "address", address }] as const),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((address) => [DNS_TYPE.aaaa, { kind: "address", address }] as const),
    fc
      .tuple(fc.constantFrom(DNS_TYPE.ns, DNS_TYPE.cname, DNS_TYPE.ptr), names)
      .map(([type, name]) => [type, { kind: "name", name }] as const),
    fc.tuple(u16, names).map(([preference, exchange]) => [DNS_TYPE.mx, { kind: "mx", preference, exchange }] as const),
    fc
      .array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 4 })
      .map((strings) => [DNS_TYPE.txt, { kind: "txt", strings }] as const),
    fc
      .tuple(u16, u16, u16, names)
      .map(([priority, weight, port, target]) => [DNS_TYPE.srv, { kind: "srv", priority, weight, port, target }] as const),
    fc
      .tuple(names, fc.uniqueArray(u16, { maxLength: 6 }))
      .map(([nextName, types]) => [DNS_TYPE.nsec, { kind: "nsec", nextName, types: types.toSorted((a, b) => a - b) }] as const),
    fc
      .tuple(fc.constantFrom(DNS_TYPE.svcb, DNS_TYPE.https), u16, names, fc.uniqueArray(fc.tuple(u16, fc.uint8Array({ maxLength: 20 })), { maxLength: 4, selector: ([key]) => key }))
      .map(([type, priority, target, parameters]) => {
        return [type, { kind: "svcb", priority, target, parameters: parameters.toSorted(([a], [b]) => a - b).map(([key, value]) => ({ key, value })) }] as const;
      }),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => [65_000, { kind: "bytes", bytes }] as const),
    fc.tuple(names, names, u16).map(([mname, rname, serial]) => {
      return [DNS_TYPE.soa, { kind: "soa", mname, rname, serial, refresh: 1, retry: 2, expire: 3, minimum: 0xffff_ffff }] as const;
    }),
  );
  const records = fc
    .record({ name: names, typed: data, isCacheFlush: fc.boolean(), ttlSeconds: fc.nat(0xffff_ffff) })
    .map(({ name, typed: [type, data], isCacheFlush, ttlSeconds }) => ({ name, type, class: 1, isCacheFlush, ttlSeconds, data }));
  const section = fc.array(records, { maxLength: 3 });
  const messages = fc.record({
    id: u16,
    isResponse: fc.boolean(),
    opcode: fc.nat(15),
    isAuthoritative: fc.boolean(),
    isTruncated: fc.boolean(),
    isRecursionDesired: fc.boolean(),
    isRecursionAvailable: fc.boolean(),
    isAuthenticData: fc.boolean(),
    isCheckingDisabled: fc.boolean(),
    responseCode: fc.nat(15),
    questions: fc.array(fc.record({ name: names, type: u16, class: fc.nat(0x7fff), wantsUnicastResponse: fc.boolean() }), { maxLength: 3 }),
    answers: section,
    authorities: section,
    additionals: section,
  });

  test("whatever was encoded comes back", () => {
    const comesBack = fc.property(messages, (message) => {
      expect(decodeDns(encodeDns(message))).toEqual({ ok: true, value: message });
    });
    fc.assert(comesBack, { numRuns: 300 });
  });

  test("parameters of a service that do not rise are malformed", () => {
    const parameters = [{ key: 4, value: Uint8Array.of(192, 0, 2, 1) }, { key: 1, value: Uint8Array.of(2, 104, 50) }];
    const bytes = encodeDns({ answers: [{ name: "a", type: DNS_TYPE.https, ttlSeconds: 0, data: { kind: "svcb", priority: 1, target: ".", parameters } }] });
    expect(decodeDns(bytes)).toMatchObject({ ok: false, code: "bad-value", layer: "dns" });
  });

  test.each(MESSAGES)("%s comes back in no more bytes", (_, bytes) => {
    const again = encodeDns(read(bytes));
    expect(decodeDns(again)).toEqual(decodeDns(bytes));
    expect(again.length).toBeLessThanOrEqual(bytes.length + 16);
  });

  test.each([
    ["a class that would be the top bit", { questions: [{ name: "a", type: 1, class: 0x8001 }] }],
    ["text without a string", { answers: [{ name: "a", type: 16, ttlSeconds: 0, data: { kind: "txt", strings: [] } }] }],
    ["an address of the other family", { answers: [{ name: "a", type: 1, ttlSeconds: 0, data: AAAA }] }],
    ["more than 65,535 bytes", { answers: [LARGE_RECORD, LARGE_RECORD] }],
  ] as [string, DnsFields][])("%s has no encoding", (_, message) => {
    expect(() => encodeDns(message)).toThrow(expect.objectContaining({ code: "unencodable" }));
  });
});
