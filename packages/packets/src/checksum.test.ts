import { expect, test } from "vitest";
import { finishChecksum, internetChecksum, sumWords, transportChecksum } from "./checksum.ts";
import { fromHex } from "./testing/bytes.ts";
import { TCP_SYN_OVER_IPV6, UDP } from "./testing/real-frames.ts";

test("the example of RFC 1071 section 3 sums to ddf2", () => {
  expect(internetChecksum(fromHex("0001 f203 f4f5 f6f7"))).toBe(~0xddf2 & 0xffff);
});

test("an odd byte counts as if a zero followed", () => {
  expect(internetChecksum(fromHex("0102 03"))).toBe(internetChecksum(fromHex("0102 0300")));
});

test("a header and a message that the kernel filled sum to zero", () => {
  expect(internetChecksum(UDP, 14, 34)).toBe(0);
  expect(transportChecksum(UDP.subarray(34), 17, { source: UDP.subarray(26, 30), destination: UDP.subarray(30, 34) })).toBe(0);
  const ends = { source: TCP_SYN_OVER_IPV6.subarray(22, 38), destination: TCP_SYN_OVER_IPV6.subarray(38, 54) };
  expect(transportChecksum(TCP_SYN_OVER_IPV6.subarray(54), 6, ends)).toBe(0);
});

test("a megabyte of ones does not overflow", () => {
  const ones = new Uint8Array(1 << 20).fill(0xff);
  expect(finishChecksum(sumWords(ones))).toBe(0);
});
