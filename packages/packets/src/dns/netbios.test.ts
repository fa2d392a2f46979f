import { expect, test } from "vitest";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { decodeNetbiosName, encodeNetbiosAnswer, encodeNetbiosQuery } from "./netbios.ts";

/** Windows asks everyone for the file server FRED; the name is RFC 1001's example. */
const QUERY = fromHex(`
  0001 0110 0001 0000 0000 0000 20 454746434546454543414341434143414341434143414341434143414341434100
  0020 0001
`);
/** The same with its record behind it, as a registration, whose name is a pointer. */
const REGISTRATION = fromHex(`
  0002 2910 0001 0000 0000 0001 20 4547464345464545434143414341434143414341434143414341434143414341 00
  0020 0001 c00c 0020 0001 000493e0 0006 8000 c0a80109
`);

test("a query names what is asked for", () => {
  expect(decodeNetbiosName(encodeNetbiosQuery({ id: 1, name: { name: "FRED", suffix: 0x20 } }))).toEqual({
    ok: true, value: {
      id: 1, isResponse: false, opcode: 0, responseCode: 0, isBroadcast: true, name: { name: "FRED", suffix: 0x20 }, addresses: [],
    },
  });
  expect(decodeNetbiosName(QUERY.slice())).toMatchObject({ ok: true, value: { id: 1, name: { name: "FRED", suffix: 0x20 } } });
});

test("a registration claims an address, its name by a pointer", () => {
  expect(decodeNetbiosName(REGISTRATION)).toMatchObject({
    ok: true, value: { opcode: 5, name: { name: "FRED" }, addresses: [{ isGroup: true, address: fromHex("c0a80109") }] },
  });
});

test("an answer gives addresses, or says that nobody has the name", () => {
  const name = { name: "FILESRV", suffix: 0x20 };
  const addresses = [{ isGroup: false, address: fromHex("c0a80109") }];
  expect(decodeNetbiosName(encodeNetbiosAnswer({ id: 9, name, addresses }))).toMatchObject({
    ok: true, value: { id: 9, isResponse: true, responseCode: 0, name, addresses },
  });
  expect(decodeNetbiosName(encodeNetbiosAnswer({ id: 9, name, addresses: [] }))).toMatchObject({ ok: true, value: { responseCode: 3, addresses: [] } });
});

test("a name of another length, of letters that no half byte has, or behind a pointer that leads elsewhere is none", () => {
  const broken = (at: number, byte: number) => decodeNetbiosName(Uint8Array.from(QUERY, (value, index) => (index === at ? byte : value)));
  expect(broken(12, 0x1e)).toMatchObject({ ok: false, code: "bad-value", offset: 12 });
  expect(broken(20, 0x51)).toMatchObject({ ok: false, code: "bad-value", offset: 12 });
  expect(broken(12, 0xc0)).toMatchObject({ ok: false, code: "bad-value" });
  expect(() => encodeNetbiosQuery({ id: 1, name: { name: "x".repeat(16), suffix: 0 } })).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expect(expectResults(decodeNetbiosName, QUERY, { seed: 1, shortest: QUERY.length })).toBeGreaterThan(1000);
  expect(expectResults(decodeNetbiosName, REGISTRATION, { seed: 2, shortest: REGISTRATION.length })).toBeGreaterThan(1000);
});
