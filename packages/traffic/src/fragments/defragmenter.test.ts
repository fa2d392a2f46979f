import { decodeFrame, encodeEthernet, encodeIpv4, encodeIpv6, encodeUdp, ETHER_TYPE, type Frame, IP_PROTOCOL } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { ip, openAnalyzer, recordsOf, START } from "../testing/frames.ts";
import { createDefragmenter, type Defragmenter, FRAGMENT_LIMITS, type FragmentLimits } from "./defragmenter.ts";

const [CLIENT, SERVER] = ["192.0.2.1", "192.0.2.9"];
const MACS = { source: Uint8Array.of(2, 0, 0, 0, 0, 1), destination: Uint8Array.of(2, 0, 0, 0, 0, 2) };

/** A part of an IPv4 datagram. */
function v4(offset: number, bytes: Uint8Array, moreFragments: boolean, identification = 7): Uint8Array {
  const payload = encodeIpv4({
    source: ip(CLIENT), destination: ip(SERVER), protocol: IP_PROTOCOL.udp, identification, fragmentOffset: offset, moreFragments, payload: bytes,
  });
  return encodeEthernet({ ...MACS, etherType: ETHER_TYPE.ipv4, payload, minimumLength: 0 });
}

/** A part of an IPv6 datagram. */
function v6(offset: number, bytes: Uint8Array, moreFragments: boolean, identification = 7): Uint8Array {
  const header = Uint8Array.of(0, 0, offset >>> 8, (offset & 0xf8) | (moreFragments ? 1 : 0), 0, 0, 0, identification);
  const payload = encodeIpv6({
    source: ip("2001:db8::1"), destination: ip("2001:db8::9"), protocol: IP_PROTOCOL.udp, extensionHeaders: [{ type: IP_PROTOCOL.fragment, bytes: header }],
    payload: bytes,
  });
  return encodeEthernet({ ...MACS, etherType: ETHER_TYPE.ipv6, payload, minimumLength: 0 });
}

function decode(bytes: Uint8Array, wireLength = bytes.length): Frame {
  const result = decodeFrame(bytes, { wireLength });
  if (!result.ok) throw new Error(`malformed ${result.layer}`);
  return result.value;
}

function open(limits: Partial<FragmentLimits> = {}): Defragmenter {
  return createDefragmenter({ ...FRAGMENT_LIMITS, ...limits }, () => 0.5);
}

/** The payload that comes of fragments, behind the IP header; null where none does. */
function joined(defragmenter: Defragmenter, frames: readonly Uint8Array[]): string | null {
  let text: string | null = null;
  for (const frame of frames) {
    const whole = defragmenter.add(decode(frame), frame.length, 0, START);
    if (whole !== null && whole !== "cut") text = Buffer.from(whole.bytes.subarray(whole.isIpv4 ? 20 : 40)).toString("latin1");
  }
  return text;
}

const text = (letters: string) => new TextEncoder().encode(letters);
const [A, B, C] = [text("aaaaaaaa"), text("bbbbbbbb"), text("cccc")];

describe.each([["IPv4", v4], ["IPv6", v6]] as const)("%s fragments", (_, part) => {
  test("in any order become their datagram, and repeated ones change nothing", () => {
    for (const order of [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 0, 1, 1, 2], [2, 2, 0, 1]]) {
      const parts = [part(0, A, true), part(8, B, true), part(16, C, false)];
      const defragmenter = open();
      expect(joined(defragmenter, order.map((index) => parts[index] as Uint8Array))).toBe("aaaaaaaabbbbbbbbcccc");
      expect(defragmenter.counters()).toMatchObject({ whole: 1, overlaps: 0, waiting: 0, heldBytes: 0 });
    }
  });

  test("of two datagrams are not mixed", () => {
    const defragmenter = open();
    expect(joined(defragmenter, [part(0, A, true, 1), part(8, C, false, 2)])).toBeNull();
    expect(joined(defragmenter, [part(8, C, false, 1)])).toBe("aaaaaaaacccc");
  });

  test("that go beyond the longest datagram, or contradict its end, give it up", () => {
    const defragmenter = open();
    expect(joined(defragmenter, [part(0, A, true, 1), part(65_528, B, false, 1)])).toBeNull();
    expect(joined(defragmenter, [part(8, C, false, 2), part(16, C, false, 2), part(0, A, true, 2)])).toBeNull();
    expect(joined(defragmenter, [part(8, B, true, 3), part(4 * 8, B, true, 3), part(16, C, false, 3)])).toBeNull();
    expect(defragmenter.counters().faults).toMatchObject({ "too-long": 1, inconsistent: 2 });
  });

  test("of eight bytes each, more than a real datagram has, give it up", () => {
    const defragmenter = open();
    joined(defragmenter, Array.from({ length: 400 }, (_unused, index) => part(index * 16, A, true)));
    expect(defragmenter.counters()).toMatchObject({ faults: { "too-many-pieces": 1 }, heldBytes: 0 });
  });

  test("that are empty, of a wrong length or cut by the snap length are of no use", () => {
    const defragmenter = open();
    const frame = part(0, A, true);
    defragmenter.add(decode(frame.subarray(0, -2), frame.length), frame.length, 0, START);
    defragmenter.add(decode(part(0, C, true)), 60, 0, START);
    defragmenter.add(decode(part(0, new Uint8Array(0), true)), 60, 0, START);
    expect(defragmenter.counters()).toMatchObject({ fragments: 3, unusable: 3, waiting: 0 });
  });

  test("wait for as long and as many as the limits say", () => {
    const late = open({ seconds: 30 });
    late.add(decode(part(0, A, true)), 60, 0, START);
    late.expire(START + 29e6);
    expect(late.counters()).toMatchObject({ waiting: 1, timedOut: 0 });
    late.expire(START + 31e6);
    expect(late.counters()).toMatchObject({ waiting: 0, timedOut: 1, heldBytes: 0 });
    const many = open({ maxDatagrams: 10 });
    for (let identification = 0; identification < 50; identification += 1) many.add(decode(part(0, A, true, identification)), 60, 0, START);
    expect(many.counters()).toMatchObject({ waiting: 10, evicted: 40 });
    const large = open({ maxBytes: 10_000 });
    for (let identification = 0; identification < 50; identification += 1) large.add(decode(part(0, new Uint8Array(1024).fill(1), true, identification)), 60, 0, START);
    expect(large.counters().heldBytes).toBeLessThanOrEqual(10_000);
    expect(large.counters().waiting).toBeGreaterThan(5);
  });
});

describe("fragments that overlap", () => {
  test("over IPv4 keep the bytes that came first, counted", () => {
    const defragmenter = open();
    expect(joined(defragmenter, [v4(0, text("AAAAAAAAAAAAAAAA"), true), v4(8, text("xxxxxxxxBBBBBBBB"), true), v4(24, C, false)])).toBe("AAAAAAAAAAAAAAAABBBBBBBBcccc");
    expect(defragmenter.counters()).toMatchObject({ overlaps: 1, whole: 1 });
    // A later one around an earlier one fills both of its sides.
    expect(joined(open(), [v4(8, B, true), v4(0, text("AAAAAAAAxxxxxxxxAAAAAAAA"), true), v4(24, C, false)])).toBe("AAAAAAAAbbbbbbbbAAAAAAAAcccc");
  });

  test("as teardrop has it, one inside of the other, end in no crash and no datagram beyond its end", () => {
    const defragmenter = open();
    expect(joined(defragmenter, [v4(0, text("A".repeat(40)), true), v4(24, text("zz"), false)])).toBeNull();
    expect(defragmenter.counters().faults.inconsistent).toBe(1);
  });

  test("over IPv6 give the datagram up, and what comes of it later", () => {
    const defragmenter = open();
    expect(joined(defragmenter, [v6(0, text("AAAAAAAAAAAAAAAA"), true), v6(8, text("xxxxxxxxBBBBBBBB"), true), v6(24, C, false)])).toBeNull();
    expect(joined(defragmenter, [v6(0, A, true), v6(8, B, true), v6(16, C, false)])).toBeNull();
    expect(defragmenter.counters()).toMatchObject({ faults: { overlap: 1 }, whole: 0, heldBytes: 0, waiting: 1 });
  });
});

describe("in a flow", () => {
  const datagram = encodeUdp({ sourcePort: 50_000, destinationPort: 2049, payload: new Uint8Array(3000) }, { source: ip(CLIENT), destination: ip(SERVER) });
  const frames = [v4(1480, datagram.subarray(1480, 2960), true), v4(0, datagram.subarray(0, 1480), true), v4(2960, datagram.subarray(2960), false)];

  test("a datagram in fragments is one packet of all its bytes", () => {
    expect(recordsOf(frames)).toEqual([expect.objectContaining({
      protocol: "udp", originator_port: 50_000, originator_packets: 1, originator_bytes: 3000, originator_ip_bytes: 3028, originator_fragment_frames: 2,
      originator_wire_bytes: frames.reduce((sum, frame) => sum + frame.length, 0), originator_fragment_bytes: 2 * 1514, originator_mac: "02:00:00:00:00:01",
    })]);
  });

  test("fragments that the snap length has cut are known by the first one", () => {
    const { analyzer, records } = openAnalyzer();
    for (const frame of frames) analyzer.frame(frame.subarray(0, 64), frame.length, START);
    analyzer.flush();
    expect(records).toEqual([expect.objectContaining({ originator_port: 50_000, originator_packets: 1, originator_ip_bytes: 1500, originator_bytes: 1472 })]);
  });

  test("a tunnel in fragments is read through", () => {
    const inner = encodeIpv4({ source: ip("10.0.0.1"), destination: ip("10.0.0.9"), protocol: IP_PROTOCOL.udp, payload: datagram });
    const outer = (offset: number, bytes: Uint8Array, moreFragments: boolean) => encodeEthernet({
      ...MACS, etherType: ETHER_TYPE.ipv4, minimumLength: 0,
      payload: encodeIpv4({ source: ip(CLIENT), destination: ip(SERVER), protocol: IP_PROTOCOL.ipv4, fragmentOffset: offset, moreFragments, payload: bytes }),
    });
    const flows = recordsOf([outer(0, inner.subarray(0, 1600), true), outer(1600, inner.subarray(1600), false)]);
    expect(flows.map(({ protocol, originator_ip: from, encapsulations }) => [protocol, from, encapsulations])).toEqual([
      ["udp", "10.0.0.1", ["ipip"]], ["ipv4", CLIENT, []],
    ]);
  });

  test("nothing comes of a flood of fragments but bounded memory", () => {
    const { analyzer } = openAnalyzer();
    for (let number = 0; number < 50_000; number += 1) {
      const frame = v4((number % 180) * 8, A, true, number & 0xffff);
      analyzer.frame(frame, frame.length, START + number);
    }
    const { fragments, flows } = analyzer.counters();
    expect(fragments.waiting).toBeLessThanOrEqual(FRAGMENT_LIMITS.maxDatagrams);
    expect(fragments.heldBytes).toBeLessThanOrEqual(FRAGMENT_LIMITS.maxBytes);
    expect(flows.opened).toBe(0);
  });
});
