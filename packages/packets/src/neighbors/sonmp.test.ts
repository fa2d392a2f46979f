import { expect, test } from "vitest";
import { parseIpv4 } from "../addresses.ts";
import { decodeSonmp, encodeSonmp } from "./sonmp.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { SWITCH_SONMP_FRAME } from "../testing/neighbor-frames.ts";
import { snapPayload } from "../testing/snap-payload.ts";

const SONMP = snapPayload(SWITCH_SONMP_FRAME);
const HELLO = {
  address: parseIpv4("10.66.0.1") ?? new Uint8Array(0), segment: fromHex("000002"), chassisType: 1, backplaneType: 12, state: 3, links: 1,
};

test("says where a switch is managed, by which port and of which kind it is", () => {
  expect(decodeSonmp(SONMP)).toEqual({ ok: true, value: HELLO });
});

test("comes back byte by byte", () => {
  expect(encodeSonmp(HELLO)).toEqual(SONMP);
});

test("a field that does not fit has no encoding", () => {
  expect(() => encodeSonmp({ ...HELLO, state: 256 })).toThrow(expect.objectContaining({ code: "unencodable" }));
  expect(() => encodeSonmp({ ...HELLO, segment: new Uint8Array(2) })).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expect(expectResults(decodeSonmp, SONMP, { seed: 15, shortest: SONMP.length })).toBeGreaterThan(1000);
});
