import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeDns, encodeDns } from "./dns.ts";
import { locateDnsRecords, readDnsQuery } from "./dns-query.ts";
import { DNS_TYPE } from "./dns-records.ts";

const question = { name: "www.Example.com", type: DNS_TYPE.a };
const opt = (options: readonly { readonly code: number; readonly value: Uint8Array }[], ttlSeconds = 0x8000) =>
  ({ name: ".", type: DNS_TYPE.opt, class: 1232, ttlSeconds, data: { kind: "opt", options } }) as const;

test("a query is read in place: its name's end, its type, what EDNS says", () => {
  const bytes = encodeDns({ id: 7, isRecursionDesired: true, questions: [question], additionals: [opt([{ code: 10, value: new Uint8Array(8).fill(9) }])] });
  expect(readDnsQuery(bytes)).toEqual({
    id: 7, flags: 0x0100, nameEnd: 12 + 17, type: 1, class: 1,
    edns: { udpPayloadSize: 1232, version: 0, isDnssecOk: true, cookie: new Uint8Array(8).fill(9), isPadded: false },
  });
  expect(readDnsQuery(encodeDns({ questions: [question] }))).toMatchObject({ edns: null });
});

test("responses and what is too short are not answered; other operations and malformed queries have their code", () => {
  expect(readDnsQuery(encodeDns({ isResponse: true, questions: [question] }))).toBe("ignored");
  expect(readDnsQuery(new Uint8Array(11))).toBe("ignored");
  expect(readDnsQuery(encodeDns({ opcode: 5, questions: [question] }))).toBe("other-operation");
  expect(readDnsQuery(encodeDns({ questions: [] }))).toBe("malformed");
  expect(readDnsQuery(encodeDns({ questions: [question, question] }))).toBe("malformed");
  expect(readDnsQuery(encodeDns({ questions: [question], additionals: [opt([]), opt([])] }))).toBe("malformed");
  expect(readDnsQuery(encodeDns({ questions: [question], additionals: [opt([{ code: 10, value: new Uint8Array(9) }])] }))).toBe("malformed");
  const pointing = encodeDns({ questions: [question] });
  pointing[12] = 0xc0;
  expect(readDnsQuery(pointing)).toBe("malformed");
});

test("every truncation of a query is malformed, or ignored", () => {
  const bytes = encodeDns({ questions: [question], additionals: [opt([{ code: 10, value: new Uint8Array(16) }])] });
  for (let length = 0; length < bytes.length; length += 1) expect(readDnsQuery(bytes.subarray(0, length)), `${length}`).toBe(length < 12 ? "ignored" : "malformed");
});

test("TTLs and OPT are found where they lie", () => {
  const bytes = encodeDns({
    isResponse: true, questions: [question],
    answers: [{ name: "www.example.com", type: DNS_TYPE.a, ttlSeconds: 77, data: { kind: "address", address: Uint8Array.of(192, 0, 2, 1) } }],
    additionals: [opt([])],
  });
  const layout = locateDnsRecords(bytes);
  expect(layout?.ttls.map((at) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at))).toEqual([77]);
  expect(layout).toMatchObject({ questionsEnd: 12 + 17 + 4, opt: { start: bytes.length - 11, end: bytes.length }, end: bytes.length });
  for (let length = 0; length < bytes.length; length += 1) expect(locateDnsRecords(bytes.subarray(0, length))).toBeNull();
});

test("any bytes are read without an error, and what can be decoded can be located", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    readDnsQuery(bytes);
    const layout = locateDnsRecords(bytes);
    if (decodeDns(bytes).ok) expect(layout).not.toBeNull();
    if (layout) expect(Math.max(0, ...layout.ttls.map((at) => at + 4), layout.end)).toBeLessThanOrEqual(bytes.length);
  }), { numRuns: 5000 });
});
