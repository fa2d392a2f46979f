import { decodeArp, decodeFrame, decodeIcmpv4, decodeTcp, formatIp, internetChecksum, transportChecksum } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createArpWriter, createEchoWriter, createTcpWriter, createUdpWriter } from "./packet-writers.ts";

const source = { mac: Uint8Array.of(2, 0, 0, 0, 0, 1), ip: 0x0a42ff01, port: 61_234 };
const target = { mac: Uint8Array.of(2, 0, 0, 0, 0, 9), ip: 0xc0a800fe };
/** Old content must not show through. */
const write = (put: (bytes: Uint8Array, at: number) => number) => {
  const bytes = new Uint8Array(600).fill(0xee);
  return bytes.slice(30, 30 + put(bytes, 30));
};
const decode = (frame: Uint8Array) => {
  const decoded = decodeFrame(frame);
  if (!decoded.ok) throw new Error(`${decoded.layer} ${decoded.code}`);
  const { value } = decoded;
  const ends = { source: value.sourceIp as Uint8Array, destination: value.destinationIp as Uint8Array };
  return { value, ends, headerChecksum: internetChecksum(frame, 14, 34) };
};

test("an ARP request asks for the address", () => {
  const frame = write((bytes, at) => createArpWriter(source)(bytes, at, target.ip));
  const arp = decodeArp(frame.subarray(14));
  expect(arp).toMatchObject({ ok: true, value: { operation: 1, hardwareType: 1, protocolType: 0x0800 } });
  expect(arp.ok && [formatIp(arp.value.senderProtocolAddress), formatIp(arp.value.targetProtocolAddress)])
    .toEqual(["10.66.255.1", "192.168.0.254"]);
});

test("a SYN, a RST and an ACK carry what they are given, with correct checksums", () => {
  for (const [flags, sequence, acknowledgment] of [[2, 0xfedcba98, 0], [4, 1, 0], [0x10, 0, 0xffffffff]] as const) {
    const question = { port: 443, flags, sequence, acknowledgment };
    const { value, ends, headerChecksum } = decode(write((bytes, at) => createTcpWriter(source)(bytes, at, target, question)));
    expect([headerChecksum, transportChecksum(value.transportBytes, 6, ends)]).toEqual([0, 0]);
    expect(decodeTcp(value.transportBytes)).toMatchObject({
      ok: true, value: {
        sourcePort: 61_234, destinationPort: 443, flags, sequenceNumber: sequence, acknowledgmentNumber: acknowledgment, window: 64_240,
      },
    });
  }
});

test("a datagram and an echo request are whole", () => {
  for (const payload of [Uint8Array.of(), Uint8Array.of(1, 2, 3), new Uint8Array(400).fill(7)]) {
    const { value, ends, headerChecksum } = decode(write((bytes, at) => createUdpWriter(source)(bytes, at, target, { port: 161, payload })));
    expect([headerChecksum, transportChecksum(value.transportBytes, 17, ends), value.destinationPort]).toEqual([0, 0, 161]);
    expect(value.payload).toEqual(payload);
  }
  const echo = decode(write((bytes, at) => createEchoWriter(source)(bytes, at, target, 0x1234)));
  expect([echo.headerChecksum, internetChecksum(echo.value.transportBytes)]).toEqual([0, 0]);
  expect(decodeIcmpv4(echo.value.transportBytes)).toMatchObject({
    ok: true, value: { kind: "echo-request", identifier: 61_234, sequenceNumber: 0x1234 },
  });
});
