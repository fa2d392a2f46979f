import { readFileSync } from "node:fs";
import { decodeFrame, encodeEthernet, encodeIcmpv4, encodeIpv4, encodeTcp, encodeUdp, ETHER_TYPE, formatIp, IP_PROTOCOL, parseIp, readCapture, TCP_FLAG } from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createScanWatch } from "./scan-watch.ts";

const [DECOY, SOURCE] = ["192.0.2.9", "192.0.2.66"];
const MAC = Uint8Array.of(2, 0, 0, 0, 0, 1);
const { syn, ack, rst, fin, psh, urg } = TCP_FLAG;
const START = 1_800_000_000_000;

function scene() {
  let nowMs = START;
  const watch = createScanWatch({ addresses: () => new Set([DECOY]), random: () => 0.999 });
  const packet = (from: string, to: string, protocol: number, payload: Uint8Array) => {
    const [source, destination] = [parseIp(from) as Uint8Array, parseIp(to) as Uint8Array];
    return encodeIpv4({ source, destination, protocol, payload });
  };
  const hear = (ip: Uint8Array) => {
    const bytes = encodeEthernet({ source: MAC, destination: MAC, etherType: ETHER_TYPE.ipv4, payload: ip });
    watch.onFrame({ bytes, wireLength: bytes.length, atMicroseconds: nowMs * 1000 });
  };
  const segment = (from: string, to: string, [sourcePort, destinationPort]: readonly [number, number], flags: number, sequenceNumber = 7) => hear(packet(from, to, IP_PROTOCOL.tcp, encodeTcp({
    sourcePort, destinationPort, sequenceNumber, acknowledgmentNumber: 0, flags, window: 1024, payload: new Uint8Array(0),
  }, { source: parseIp(from) as Uint8Array, destination: parseIp(to) as Uint8Array })));
  const datagram = (from: string, to: string, sourcePort: number, destinationPort: number) => packet(from, to, IP_PROTOCOL.udp, encodeUdp({
    sourcePort, destinationPort, payload: Uint8Array.of(1),
  }, { source: parseIp(from) as Uint8Array, destination: parseIp(to) as Uint8Array }));
  return {
    watch, hear, packet, datagram,
    send: (port: number, flags: number, options: { readonly from?: string; readonly sourcePort?: number; readonly sequence?: number } = {}) =>
      segment(options.from ?? SOURCE, DECOY, [options.sourcePort ?? 40_000, port], flags, options.sequence),
    answer: (port: number, flags: number, options: { readonly to?: string; readonly sourcePort?: number; readonly sequence?: number } = {}) =>
      segment(DECOY, options.to ?? SOURCE, [port, options.sourcePort ?? 40_000], flags, options.sequence ?? 0),
    pass: (ms: number) => watch.tick(nowMs += ms),
    seen: () => watch.take(64).map(({ kind, source, ports, port_count: count }) => [kind, source, ports, count]),
  };
}

describe("a scan at a decoy's address", () => {
  test.each([["null-scan", 0], ["fin-scan", fin], ["xmas-scan", fin | psh | urg], ["odd-flags-scan", syn | fin]] as const)("by %s is one look for each source with its ports", (kind, flags) => {
    const { send, answer, seen } = scene();
    for (const port of [22, 80, 22]) {
      send(port, flags);
      answer(port, rst | ack);
    }
    send(443, flags, { from: "192.0.2.67" });
    expect(seen()).toEqual([[kind, SOURCE, [22, 80], 2], [kind, "192.0.2.67", [443], 1]]);
    expect(seen()).toEqual([]);
  });

  test("by SYN is seen where the port is closed, where nobody answers, and where what is answered is taken back or left", () => {
    const { send, answer, pass, seen } = scene();
    send(23, syn);
    answer(23, rst | ack);
    expect(seen()).toEqual([["syn-scan", SOURCE, [23], 1]]);
    send(24, syn);
    pass(2000);
    expect(seen()).toEqual([]);
    pass(1500);
    expect(seen()).toEqual([["syn-scan", SOURCE, [24], 1]]);
    send(80, syn, { sequence: 100 });
    answer(80, syn | ack);
    send(80, rst, { sequence: 101 });
    expect(seen()).toEqual([["syn-scan", SOURCE, [80], 1]]);
    send(81, syn);
    for (let left = 3; left > 0; left -= 1) answer(81, syn | ack);
    expect(seen()).toEqual([["syn-scan", SOURCE, [81], 1]]);
  });

  test("by ACK is seen by the answers to segments of no connection, on several ports", () => {
    const { answer, seen } = scene();
    answer(80, rst, { sequence: 5 });
    answer(80, rst, { sequence: 5 });
    expect(seen()).toEqual([]);
    answer(443, rst, { sequence: 9 });
    expect(seen()).toEqual([["ack-scan", SOURCE, [80, 443], 2]]);
  });

  test("in fragments too small to be read is seen by the answer", () => {
    const { answer, seen } = scene();
    answer(80, rst | ack);
    expect(seen()).toEqual([["fragment-scan", SOURCE, [80], 1]]);
  });

  test("by UDP is seen by the answer that nobody is there, or by several ports of the system's", () => {
    const { hear, packet, datagram, seen } = scene();
    const question = datagram(SOURCE, DECOY, 50_000, 1900);
    hear(packet(DECOY, SOURCE, IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "error", type: 3, code: 3, parameter: 0, original: question })));
    expect(seen()).toEqual([["udp-scan", SOURCE, [1900], 1]]);
    for (const port of [53, 123]) hear(datagram(SOURCE, DECOY, 50_000, port));
    expect(seen()).toEqual([]);
    hear(datagram(SOURCE, DECOY, 50_000, 161));
    expect(seen()).toEqual([["udp-scan", SOURCE, [53, 123, 161], 3]]);
  });

  test("by ping is seen at once", () => {
    const { hear, packet, seen } = scene();
    hear(packet(SOURCE, DECOY, IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "echo-request", identifier: 1, sequenceNumber: 1, data: new Uint8Array(0) })));
    hear(packet(SOURCE, DECOY, IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "other", type: 13, code: 0, body: new Uint8Array(16) })));
    expect(seen()).toEqual([["ping", SOURCE, [0], 1]]);
  });
});

test("what is no scan is silent: connections and what is left of them, this machine's own questions with late answers, and other addresses", () => {
  const { send, answer, pass, hear, packet, datagram, seen } = scene();
  for (const [index, port] of [22, 80, 443].entries()) {
    send(port, syn, { sourcePort: 41_000 + index });
    answer(port, syn | ack, { sourcePort: 41_000 + index });
    // It ended with data under way.
    answer(port, rst | ack, { sourcePort: 41_000 + index, sequence: 4242 });
    answer(port, rst, { sourcePort: 41_000 + index, sequence: 77 });
  }
  // An answer to a socket that is closed by now, of TCP and of UDP.
  for (const port of [40_001, 40_002, 50_003]) {
    answer(port, rst, { sourcePort: 443, sequence: 3 });
    hear(packet(DECOY, SOURCE, IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "error", type: 3, code: 3, parameter: 0, original: datagram(SOURCE, DECOY, 53, port) })));
    hear(datagram(SOURCE, DECOY, 53, port));
  }
  // A lease that nobody of this machine listens for.
  for (const [from, port] of [[67, 68], [547, 546]] as const) {
    hear(datagram(SOURCE, DECOY, from, port));
    hear(packet(DECOY, SOURCE, IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "error", type: 3, code: 3, parameter: 0, original: datagram(SOURCE, DECOY, from, port) })));
  }
  send(80, rst, { sequence: 1 });
  hear(packet(DECOY, SOURCE, IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "echo-request", identifier: 1, sequenceNumber: 1, data: new Uint8Array(0) })));
  hear(packet(SOURCE, "192.0.2.10", IP_PROTOCOL.icmpv4, encodeIcmpv4({ kind: "echo-request", identifier: 1, sequenceNumber: 1, data: new Uint8Array(0) })));
  hear(datagram(SOURCE, DECOY, 40_000, 161));
  for (let left = 100; left > 0; left -= 1) pass(1000);
  expect(seen()).toEqual([]);
});

test.each(["dhcp-gateway", "keepalived", "thread-router", "dhcp-pair", "macof", "stp-root"])("a network at rest is silent, whichever host is a decoy, but for the pings of its probe: %s", (name) => {
  const { records } = readCapture(readFileSync(new URL(`../../../../../test/lab/scenarios/${name}.pcap`, import.meta.url)));
  const hosts = new Set(records.flatMap(({ bytes }) => {
    const decoded = decodeFrame(bytes);
    return decoded.ok && decoded.value.destinationIp && decoded.value.audience === "unicast" ? [formatIp(decoded.value.destinationIp)] : [];
  }));
  expect(hosts.size).toBeGreaterThan(4);
  const looks = [...hosts].flatMap((host) => {
    const watch = createScanWatch({ addresses: () => new Set([host]), random: () => 0 });
    for (const { bytes, seconds, nanoseconds } of records) watch.onFrame({ bytes, wireLength: bytes.length, atMicroseconds: seconds * 1e6 + nanoseconds / 1000 });
    watch.tick(((records.at(-1)?.seconds ?? 0) + 10) * 1000);
    return watch.take(64);
  });
  expect(new Set(looks.map(({ kind, source }) => `${kind} ${source}`))).toEqual(new Set(["ping 10.77.0.5", "ping fd4c:616e:7468:77::5"].filter((one) => looks.some(({ source }) => one === `ping ${source}`))));
});

test("a forged flood is bounded in what is kept and in what is read; the rest is counted", () => {
  const { send, pass, seen, watch } = scene();
  const sourceOf = (number: number) => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  for (let number = 0; number < 20_000; number += 1) send(number & 1023, number % 2 === 0 ? syn : fin, { from: sourceOf(number) });
  pass(4000);
  const { passedOver, leftOut } = watch.counts();
  expect([passedOver, leftOut > 0]).toEqual([16_000, true]);
  let looks = 0;
  for (let some = seen(); some.length > 0; some = seen()) looks += some.length;
  expect(looks).toBe(1024);
  pass(1000);
  send(22, fin);
  expect(seen()).toEqual([["fin-scan", SOURCE, [22], 1]]);
});

test("no bytes make it throw", () => {
  const { watch, datagram } = scene();
  const random = seededRandom(19);
  const frame = encodeEthernet({ source: MAC, destination: MAC, etherType: ETHER_TYPE.ipv4, payload: datagram(DECOY, SOURCE, 1, 2) });
  for (let round = 0; round < 3000; round += 1) {
    const bytes = frame.slice(0, 14 + random(frame.length - 14));
    for (let left = 4; left > 0; left -= 1) bytes[random(bytes.length)] = random(256);
    watch.onFrame({ bytes, wireLength: bytes.length + random(100), atMicroseconds: (START + round * 1000) * 1000 });
  }
  expect(watch.counts().passedOver).toBe(0);
});
