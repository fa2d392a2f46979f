import * as fc from "fast-check";
import { encodeIpv4, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE } from "@lanthorn/packets";
import { expect, test } from "vitest";
import type { FlowKey } from "./flows/flow-key.ts";
import { seededRandom } from "../../packets/src/testing/hostile.ts";
import { echoFrame, ip, openAnalyzer, packetFrame, recordsOf, START, tcpFrame, udpFrame } from "./testing/frames.ts";
import type { TrafficMessage } from "./traffic-message.ts";

const ENDS = { from: "192.0.2.1", to: "192.0.2.9" };
const BACK = { from: "192.0.2.9", to: "192.0.2.1" };

/** Wraps a packet's bytes as an encapsulation would. */
const WRAPPERS: readonly ((inner: Uint8Array) => Uint8Array)[] = [
  (inner) => Uint8Array.of(0, 0, 0x65, 0x58, ...inner), (inner) => Uint8Array.of(0x20, 0, 8, 0, 0, 0, 0, 1, ...inner.subarray(14)),
  (inner) => Uint8Array.of(0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 5, 0, 1, 0, 0, 0, 0, ...inner),
];
const SEEDS: readonly Uint8Array[] = [
  tcpFrame(ENDS, [40_000, 80], { flags: "PA", seq: 1, ack: 1, data: "GET / HTTP/1.1\r\nHost: a\r\n\r\n" }), udpFrame(ENDS, [50_000, 53], "?"),
  udpFrame(ENDS, [50_000, 4789], Uint8Array.of(8, 0, 0, 0, 0, 0, 1, 0, ...udpFrame(ENDS, [1, 2], "in"))), echoFrame(ENDS, true, 1),
  udpFrame({ from: "2001:db8::1", to: "2001:db8::9", vlanIds: [1, 2] }, [50_000, 6081], Uint8Array.of(0, 0, 0x65, 0x58, 0, 0, 1, 0, ...udpFrame(ENDS, [1, 2], "in"))),
  ...WRAPPERS.map((wrap) => packetFrame(ENDS, IP_PROTOCOL.gre, wrap(udpFrame(ENDS, [1, 2], "in")))),
];

test("no bytes make it throw, hang or keep more than its bounds", () => {
  const { analyzer } = openAnalyzer({ flows: { maxFlows: 100 }, onMessage: () => undefined });
  let at = START;
  const damaged = fc.record({
    frame: fc.constantFrom(...SEEDS), changes: fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 }), cut: fc.option(fc.nat(120)), more: fc.nat(2000),
    linkType: fc.constantFrom(LINK_TYPE.ethernet, LINK_TYPE.ethernet, LINK_TYPE.rawIp, LINK_TYPE.linuxCooked, 105), jump: fc.integer({ min: -1e9, max: 1e9 }),
  });
  fc.assert(fc.property(damaged, ({ frame, changes, cut, more, linkType, jump }) => {
    const bytes = frame.slice(0, cut ?? frame.length);
    for (const [place, value] of changes) if (bytes.length > 0) bytes[place % bytes.length] = value;
    at += jump;
    analyzer.frame(bytes, bytes.length + more, at, linkType);
    expect(analyzer.counters().flows.open).toBeLessThanOrEqual(100);
  }), { numRuns: 5000, seed: 7 });
  analyzer.flush();
  expect(analyzer.counters()).toMatchObject({ frames: 5000, flows: { open: 0 } });
});

test("times that no clock has are no reason to throw", () => {
  for (const at of [0, -1, 8.64e21, Number.MAX_SAFE_INTEGER, Number.NaN]) {
    const { analyzer, records } = openAnalyzer();
    for (const frame of SEEDS) analyzer.frame(frame, frame.length, at);
    analyzer.flush();
    expect(records.length).toBeGreaterThan(3);
  }
});

test("what is said in a flow comes with its key, and its service is in the record", () => {
  const messages: (readonly [FlowKey, TrafficMessage["protocol"]])[] = [];
  const request = "GET /index.html HTTP/1.1\r\nHost: example.com\r\n\r\n";
  const frames = [
    tcpFrame(ENDS, [40_000, 8081], { flags: "S", seq: 99 }), tcpFrame(BACK, [8081, 40_000], { flags: "SA", seq: 499, ack: 100 }),
    tcpFrame(ENDS, [40_000, 8081], { flags: "A", seq: 100, ack: 500 }),
    tcpFrame(ENDS, [40_000, 8081], { flags: "PA", seq: 100 + 20, ack: 500, data: request.slice(20) }),
    tcpFrame(ENDS, [40_000, 8081], { flags: "PA", seq: 100, ack: 500, data: request.slice(0, 20) }),
    tcpFrame(BACK, [8081, 40_000], { flags: "PA", seq: 500, ack: 100 + request.length, data: "HTTP/1.1 204 No Content\r\n\r\n" }),
  ];
  const records = recordsOf(frames, { onMessage: (flow, { protocol }) => messages.push([flow, protocol]) });
  expect(messages.map(([flow, protocol]) => [flow.id, flow.originator.port, protocol])).toEqual([["9000001", 40_000, "http"], ["9000001", 40_000, "http"]]);
  expect(records).toEqual([expect.objectContaining({ id: "9000001", service: "http", originator_bytes: request.length })]);
  expect(recordsOf(frames)[0]?.service).toBeNull();
});

test("a flow goes on while nobody looks into it, and is looked into again from where it is then", () => {
  const seen: string[] = [];
  const watches: string[] = [];
  const openWatch = (name: string) => () => {
    watches.push(`${name} opened`);
    return { packet: () => undefined, end: () => void watches.push(`${name} ended`) };
  };
  const first = openWatch("first");
  const { analyzer, records } = openAnalyzer({ onMessage: (_, { protocol }) => seen.push(protocol), watch: first });
  let [sequence, at] = [100, START];
  const frame = (bytes: Uint8Array) => analyzer.placedFrame(bytes, 0, bytes.length, bytes.length, (at += 1000));
  const request = (path: string) => {
    const data = `GET ${path} HTTP/1.1\r\nHost: example.com\r\n\r\n`;
    frame(tcpFrame(ENDS, [40_000, 8081], { flags: "PA", seq: sequence, ack: 500, data }));
    sequence += data.length;
  };
  frame(tcpFrame(ENDS, [40_000, 8081], { flags: "S", seq: 99 }));
  frame(tcpFrame(BACK, [8081, 40_000], { flags: "SA", seq: 499, ack: 100 }));
  request("/one");
  expect([seen.length, watches]).toEqual([1, ["first opened"]]);
  analyzer.look({ isInspected: false, watch: null });
  for (const path of ["/two", "/three"]) request(path);
  expect([seen.length, watches]).toEqual([1, ["first opened", "first ended"]]);
  analyzer.look({ isInspected: true, watch: first });
  request("/four");
  analyzer.look({ isInspected: true, watch: openWatch("second") });
  request("/five");
  expect([seen.length, watches.slice(2)]).toEqual([3, ["first opened", "first ended", "second opened"]]);
  analyzer.flush();
  expect(watches.at(-1)).toBe("second ended");
  expect(records).toEqual([expect.objectContaining({ service: "http", part: 0, originator_packets: 6 })]);
});

test("what carries a tunnel is not taken for a protocol, what is in it is", () => {
  const query = Uint8Array.of(0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 3, 0x63, 0x6f, 0x6d, 0, 0, 1, 0, 1);
  const inner = udpFrame(ENDS, [50_000, 53], query);
  const outer = packetFrame({ from: "198.51.100.1", to: "198.51.100.2" }, IP_PROTOCOL.ipv4, inner.subarray(14, 14 + 28 + query.length));
  const records = recordsOf([outer, outer], { onMessage: () => undefined });
  expect(records.map(({ protocol, service }) => [protocol, service])).toEqual([["udp", "dns"], ["ipv4", null]]);
});

test("more nesting than is read through is counted", () => {
  let packet: Uint8Array = new Uint8Array(8);
  for (let depth = 0; depth < 12; depth += 1) packet = encodeIpv4({ protocol: IP_PROTOCOL.ipv4, source: ip(ENDS.from), destination: ip(ENDS.to), payload: packet });
  const { analyzer } = openAnalyzer();
  const frame = packetFrame(ENDS, IP_PROTOCOL.ipv4, packet);
  analyzer.frame(frame, frame.length, START);
  expect([frame[13], analyzer.counters().notUnderstood]).toEqual([ETHER_TYPE.ipv4 & 0xff, { "too-deep": 1 }]);
});

test("a frame in longer memory comes to the same as by itself, whole or damaged", () => {
  const data = "x".repeat(40);
  const flows = Array.from({ length: 8 }, (_, index) => [
    udpFrame(ENDS, [50_000 + index, 9000], data), udpFrame(BACK, [9000, 50_000 + index], data),
    tcpFrame(ENDS, [40_000 + index, 9001], { flags: "S", seq: 99 }), tcpFrame(BACK, [9001, 40_000 + index], { flags: "SA", seq: 499, ack: 100 }),
    ...Array.from({ length: 4 }, (_one, turn) => tcpFrame(ENDS, [40_000 + index, 9001], { flags: "PA", seq: 100 + turn * 40, ack: 500, data })),
    tcpFrame(BACK, [9001, 40_000 + index], { flags: "A", seq: 500, ack: 260 }), tcpFrame(ENDS, [40_000 + index, 9001], { flags: "FA", seq: 260, ack: 500 }),
  ]).flat();
  const whole = Array.from({ length: 20 }, () => [...flows, ...SEEDS]).flat();
  const random = seededRandom(7);
  const damaged = whole.map((frame) => {
    const bytes = frame.slice(0, random(5) === 0 ? random(frame.length) : frame.length);
    for (let change = 0; change < 2; change += 1) bytes[14 + random(44)] = random(256);
    return bytes;
  });
  for (const onMessage of [null, () => undefined]) {
    const [one, other] = [openAnalyzer({ onMessage }), openAnalyzer({ onMessage })];
    [...whole, ...damaged, ...whole].forEach((frame, index) => {
      const at = START + index * 1000;
      const wireLength = frame.length + (index % 7 === 0 ? 10 : 0);
      one.analyzer.frame(frame, wireLength, at);
      other.analyzer.placedFrame(Uint8Array.of(...new Uint8Array(index % 5).fill(8), ...frame, 0x45, 0, 0, 0), index % 5, frame.length, wireLength, at);
    });
    for (const { analyzer } of [one, other]) analyzer.flush();
    expect(other.records).toEqual(one.records);
    expect(other.analyzer.counters()).toEqual(one.analyzer.counters());
    expect(one.records.some(({ originator_packets: packets }) => packets > 50)).toBe(true);
  }
});
