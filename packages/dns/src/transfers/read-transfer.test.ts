import { DNS_TYPE, type DnsRecord } from "@lanthorn/packets";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChangesDoNotFit, createTransferReader } from "./read-transfer.ts";
import { TransferFault } from "./transfer-fault.ts";
import { recordLine } from "./zone-records.ts";

const base = { class: 1, ttlSeconds: 60, isCacheFlush: false } as const;
const soa = (serial: number): DnsRecord => ({ ...base, name: "rpz.example", type: DNS_TYPE.soa, data: { kind: "soa", mname: "ns.example", rname: "root.example", serial, refresh: 1, retry: 1, expire: 1, minimum: 1 } });
const rule = (name: string): DnsRecord => ({ ...base, name: `${name}.rpz.example`, type: DNS_TYPE.cname, data: { kind: "name", name: "." } });
const MAX = 1_000_000;

/** @returns How many records were taken until the reader had enough. */
function feed(reader: ReturnType<typeof createTransferReader>, records: readonly DnsRecord[]): number {
  for (const [index, record] of records.entries()) if (reader.push(record)) return index + 1;
  return -1;
}
const ruleNames = (lines: Iterable<string>) => [...lines].filter((line) => line.includes("CNAME")).map((line) => line.slice(0, line.indexOf("."))).toSorted((one, other) => (one < other ? -1 : 1));

describe("a transfer", () => {
  test("of a whole zone is what stands between two SOAs", () => {
    const reader = createTransferReader(null, MAX);
    expect(feed(reader, [soa(7), rule("a"), rule("B"), rule("a"), soa(7), rule("behind")])).toBe(5);
    expect([reader.serial, ruleNames(reader.lines()), reader.isSame]).toEqual([7, ["a", "b"], false]);
    expect([...reader.lines()]).toContain("rpz.example. 60 IN SOA ns.example. root.example. 7 1 1 1 1");
  });

  test("of changes takes away and adds by turns, and may be the whole zone all the same", () => {
    const known = { serial: 7, lines: [soa(7), rule("a"), rule("b")].map((record) => recordLine(record) ?? "") };
    const changes = createTransferReader(known, MAX);
    expect(feed(changes, [soa(9), soa(7), rule("a"), soa(8), rule("c"), soa(8), rule("c"), soa(9), rule("d"), rule("e"), soa(9)])).toBe(11);
    expect([changes.serial, ruleNames(changes.lines()), [...changes.lines()].filter((line) => line.includes("SOA")).length]).toEqual([9, ["b", "d", "e"], 1]);
    const whole = createTransferReader(known, MAX);
    expect(feed(whole, [soa(9), rule("x"), soa(9)])).toBe(3);
    expect(ruleNames(whole.lines())).toEqual(["x"]);
    const same = createTransferReader(known, MAX);
    expect([feed(same, [soa(7)]), same.isSame]).toEqual([1, true]);
    expect(ruleNames(same.lines())).toEqual(["a", "b"]);
  });

  test("that does not fit, is cut, is none or too large is refused", () => {
    const known = { serial: 7, lines: [soa(7), rule("a")].map((record) => recordLine(record) ?? "") };
    expect(() => feed(createTransferReader(known, MAX), [soa(9), soa(7), rule("nobody")])).toThrow(ChangesDoNotFit);
    expect(() => feed(createTransferReader(null, MAX), [rule("a")])).toThrow(TransferFault);
    const cut = createTransferReader(null, MAX);
    feed(cut, [soa(7), rule("a")]);
    expect(() => cut.lines()).toThrow("stopped before the end");
    expect(() => feed(createTransferReader(null, 500), [soa(7), ...Array.from({ length: 100 }, (_, index) => rule(`a${index}`))])).toThrow("more than");
  });

  test("of any records ends, is refused, or waits for more", () => {
    const record = fc.oneof(fc.integer({ min: 0, max: 4 }).map(soa), fc.constantFrom("a", "b", "c").map(rule));
    fc.assert(fc.property(fc.array(record, { maxLength: 30 }), fc.boolean(), (records, isKnown) => {
      const reader = createTransferReader(isKnown ? { serial: 2, lines: [soa(2), rule("a")].map((one) => recordLine(one) ?? "") } : null, MAX);
      try {
        feed(reader, records);
      } catch (error) {
        expect(error instanceof TransferFault || error instanceof ChangesDoNotFit).toBe(true);
      }
    }));
  });
});

test("a record's line is the same for the same record, and what a policy zone has no use for has none", () => {
  const of = (type: number, data: DnsRecord["data"], recordClass = 1) => recordLine({ ...base, class: recordClass, name: "A.example", type, data });
  expect(of(DNS_TYPE.a, { kind: "address", address: Uint8Array.of(192, 0, 2, 1) })).toBe("a.example. 60 IN A 192.0.2.1");
  expect(of(DNS_TYPE.txt, { kind: "txt", strings: [Buffer.from('a"b\\c é')] })).toBe(String.raw`a.example. 60 IN TXT "a\"b\\c \195\169"`);
  expect(of(257, { kind: "bytes", bytes: Uint8Array.of(0, 255) })).toBe(String.raw`a.example. 60 IN TYPE257 \# 2 00ff`);
  expect([of(DNS_TYPE.a, { kind: "bytes", bytes: new Uint8Array(0) }), of(DNS_TYPE.txt, { kind: "txt", strings: [] }, 3)]).toEqual([null, null]);
});
