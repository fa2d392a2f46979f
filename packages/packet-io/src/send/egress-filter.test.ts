import { parseIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import type { AddressSet } from "../address-set.ts";
import { isPrintPort, mayPass } from "./egress-filter.ts";
import { arpFrame, echoToAllFrame, solicitationFrame, tcpFrame, udpFrame } from "../testing/raw-frames.ts";

const setOf = (...addresses: readonly string[]): AddressSet => {
  const texts = new Set(addresses.map((text) => (parseIp(text) as Uint8Array).join()));
  return {
    holds: (bytes, offset, length) => texts.has(bytes.subarray(offset, offset + length).join()),
    hasIpv6: addresses.some((text) => text.includes(":")),
  };
};
const NOBODY = setOf();
const passes = (frame: Uint8Array, excluded = NOBODY) => {
  const padded = new Uint8Array(frame.length + 7);
  padded.set(frame, 7);
  return mayPass(padded, 7, frame.length, excluded);
};

test("no print port is ever sent to, by TCP or UDP, in either IP version; its neighbors are", () => {
  const refused = [];
  for (let port = 0; port < 65_536; port += 1) if (isPrintPort(port)) refused.push(port);
  expect(refused).toEqual([515, 9100, 9101, 9102, 9103, 9104, 9105, 9106, 9107]);
  for (const ip of ["10.9.0.2", "fd00::2"]) {
    for (const port of refused) expect([passes(tcpFrame({ ip, port })), passes(udpFrame({ ip, port }))]).toEqual([false, false]);
    for (const port of [514, 516, 9099, 9108]) {
      expect([passes(tcpFrame({ ip, port })), passes(udpFrame({ ip, port }))]).toEqual([true, true]);
    }
  }
});

test("nothing goes to an excluded address, nor asks for it, nor reaches it as one of all", () => {
  const excluded = setOf("10.9.0.5", "fd00::5");
  for (const ip of ["10.9.0.5", "fd00::5"]) {
    expect([passes(tcpFrame({ ip, port: 80 }), excluded), passes(udpFrame({ ip, port: 53 }), excluded)]).toEqual([false, false]);
  }
  expect([
    passes(arpFrame("10.9.0.5"), excluded), passes(solicitationFrame("fd00::5"), excluded), passes(echoToAllFrame(), excluded),
  ]).toEqual([false, false, false]);
  expect([
    passes(arpFrame("10.9.0.6"), excluded), passes(solicitationFrame("fd00::6"), excluded),
    passes(tcpFrame({ ip: "10.9.0.6", port: 80 }), excluded),
  ]).toEqual([true, true, true]);
  expect(passes(echoToAllFrame())).toBe(true);
});

test("what is not understood does not leave: cut frames, fragments, tags, extension headers, other protocols", () => {
  const frame = tcpFrame({ ip: "10.9.0.2", port: 80 });
  for (let length = 0; length < 38; length += 1) expect(mayPass(frame, 0, length, NOBODY)).toBe(false);
  const changed = (at: number, ...values: readonly number[]) => {
    const copy = frame.slice();
    copy.set(values, at);
    return passes(copy);
  };
  expect(changed(20, 0x20, 0)).toBe(false);
  expect(changed(20, 0, 1)).toBe(false);
  expect(changed(12, 0x81, 0)).toBe(false);
  expect(changed(23, 47)).toBe(false);
  expect(changed(14, 0x41)).toBe(false);
  const six = tcpFrame({ ip: "fd00::2", port: 80 });
  six[20] = 0;
  expect(passes(six)).toBe(false);
});
