import { expect, test } from "vitest";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { decodeDtp, encodeDtp } from "./dtp.ts";
import { decodeVtp } from "./vtp.ts";

/** A port in the mode "dynamic desirable" of a switch without a VTP domain. */
const DTP = fromHex("01 0001 0008 00000000 0002 0005 03 0003 0005 a5 0004 000a 001906eab88c");
/** A summary of the domain "LAB" at revision 7. */
const VTP = fromHex(`
  02 01 00 03 4c41420000000000000000000000000000000000000000000000000000000000 00000007 0a000001
  393330333031303030303030 00112233445566778899aabbccddeeff
`);

test("DTP says what a port is set to, and who it is", () => {
  const value = { version: 1, domain: "", mode: "desirable", isTrunk: false, neighbor: fromHex("001906eab88c") } as const;
  expect(decodeDtp(DTP)).toEqual({ ok: true, value });
  expect(decodeDtp(encodeDtp({ ...value, domain: "LAB", isTrunk: true }))).toEqual({ ok: true, value: { ...value, domain: "LAB", isTrunk: true } });
});

test("DTP's padding is no TLV, and a TLV that runs past the end is truncated", () => {
  expect(decodeDtp(Uint8Array.from([...DTP, ...new Uint8Array(16)]))).toMatchObject({ ok: true, value: { mode: "desirable" } });
  expect(decodeDtp(fromHex("01 0002 0009 03"))).toMatchObject({ ok: false, code: "truncated" });
});

test("a field of DTP that does not fit has no encoding", () => {
  const pdu = { version: 1, domain: "x".repeat(33), mode: "auto", isTrunk: false, neighbor: null } as const;
  expect(() => encodeDtp(pdu)).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("VTP says of which domain and revision it is", () => {
  expect(decodeVtp(VTP)).toEqual({ ok: true, value: { version: 2, code: "summary", domain: "LAB", revision: 7 } });
  expect(decodeVtp(fromHex(`02 09 00 00 ${"00".repeat(40)}`))).toMatchObject({ ok: false, code: "bad-value", offset: 1 });
  expect(decodeVtp(fromHex(`02 03 00 21 ${"00".repeat(40)}`))).toMatchObject({ ok: false, code: "bad-value", offset: 3 });
});

test("every truncation and 20,000 mutations end in a result", () => {
  expect(expectResults(decodeDtp, DTP, { seed: 4, shortest: 1 })).toBeGreaterThan(500);
  expect(expectResults(decodeVtp, VTP, { seed: 5, shortest: 40 })).toBeGreaterThan(500);
});
