import { expect, test } from "vitest";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { decodeTeredo } from "./teredo.ts";

/** A router solicitation to a Teredo server. */
const PACKET = fromHex("60000000 0008 3a ff fe80000000000000ffffffffffffffff ff020000000000000000000000000002 85007d3800000000");
const AUTHENTICATION = fromHex("0001 00 00 0102030405060708 00");
const ORIGIN = fromHex("0000 f227 3eff80fe");

test("carries an IPv6 packet, behind authentication and origin or alone", () => {
  expect(decodeTeredo(PACKET)).toEqual({ ok: true, value: { hasAuthentication: false, hasOrigin: false, packet: PACKET } });
  expect(decodeTeredo(joinBytes(AUTHENTICATION, ORIGIN, PACKET))).toEqual({
    ok: true, value: { hasAuthentication: true, hasOrigin: true, packet: PACKET },
  });
});

test("what carries none is none", () => {
  expect(decodeTeredo(fromHex(`45000000${"00".repeat(60)}`))).toMatchObject({ ok: false, code: "bad-value", offset: 0 });
  expect(decodeTeredo(joinBytes(PACKET, Uint8Array.of(0)))).toMatchObject({ ok: false, code: "bad-value", offset: 4 });
});

test("every truncation and 20,000 mutations end in a result", () => {
  expect(expectResults(decodeTeredo, joinBytes(AUTHENTICATION, PACKET), { seed: 3, shortest: 0 })).toBeGreaterThan(1000);
});
