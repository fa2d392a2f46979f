import { expect, test } from "vitest";
import { createCapturedClaims } from "./answer-claims.ts";
import { arpAnswer } from "./testing/arp-link.ts";

const MAC = [0x02, 0, 0, 0, 0, 7];
const IP = 0x0a_00_00_07;

test("an answer from an address of a search is claimed as long as that search runs", () => {
  const claims = createCapturedClaims();
  const isClaimed = (ip: number) => claims.isClaimed(arpAnswer(ip, MAC), 42);
  expect(isClaimed(IP)).toBe(false);
  const first = claims.claim([{ first: IP - 7, count: 256 }]);
  const second = claims.claim([{ first: IP - 7, count: 8 }, { first: 0xc0a8_0000, count: 1 }]);
  expect([IP - 8, IP - 7, IP, IP + 248, IP + 249, 0xc0a8_0000].map(isClaimed)).toEqual([false, true, true, true, false, true]);
  first();
  expect([isClaimed(IP), isClaimed(IP + 1)]).toEqual([true, false]);
  second();
  expect(isClaimed(IP)).toBe(false);
});

test("requests, what is said to all, other protocols and cut frames are not claimed", () => {
  const claims = createCapturedClaims();
  claims.claim([{ first: 0, count: 0xffff_ffff }]);
  const whole = arpAnswer(IP, MAC);
  const changed = (at: number, value: number) => Uint8Array.from(whole, (byte, index) => (index === at ? value : byte));
  expect(claims.isClaimed(whole, 42)).toBe(true);
  expect([changed(0, 0xff), changed(13, 0x00), changed(12, 0x81), changed(20, 1), arpAnswer(IP, MAC, 1)].map((frame) => claims.isClaimed(frame, 42)))
    .toEqual([false, false, false, false, false]);
  expect(claims.isClaimed(whole, 41)).toBe(false);
});

test("answers to ARP probes are not claimed, nor are those that somebody needs", () => {
  const claims = createCapturedClaims((bytes) => bytes[27] === 9);
  claims.claim([{ first: IP - 7, count: 256 }]);
  const answer = arpAnswer(IP, MAC);
  const toProbe = answer.slice();
  toProbe.fill(0, 38, 42);
  expect([answer, toProbe, arpAnswer(IP, [0x02, 0, 0, 0, 0, 9])].map((frame) => claims.isClaimed(frame, 42))).toEqual([true, false, false]);
});
