import {
  encodeEthernet, encodeIcmpv6, encodeIpv4, encodeIpv6, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIp, TCP_FLAG,
} from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createAddressBook } from "../../probing/address-book.ts";
import { readUdpAnswer } from "./scan-udp.ts";
import { readTcpAnswer, synCookie } from "../../probing/frames/tcp-answers.ts";

const ip = (text: string) => parseIp(text) as Uint8Array;
const [HOST, US] = ["10.66.0.9", "10.66.255.1"];
const HOST_NUMBER = 0x0a420009;
const OWN_PORT = 61_234;
const book = createAddressBook();
const link = { key: { k0: 1, k1: 2 }, port: OWN_PORT, book };

function packet(from: string, to: string, protocol: number, payload: Uint8Array): Uint8Array {
  const ends = { source: ip(from), destination: ip(to) };
  return encodeEthernet({
    destination: new Uint8Array(6), source: new Uint8Array(6), etherType: ETHER_TYPE.ipv4,
    payload: encodeIpv4({ ...ends, protocol, payload }),
  });
}

function tcp(flags: number, acknowledgmentNumber: number, options: { readonly from?: string; readonly port?: number } = {}): Uint8Array {
  const ends = { source: ip(options.from ?? HOST), destination: ip(US) };
  const segment = encodeTcp({ sourcePort: options.port ?? 443, destinationPort: OWN_PORT, flags, acknowledgmentNumber }, ends);
  return packet(options.from ?? HOST, US, IP_PROTOCOL.tcp, segment);
}

/** An ICMP error about what we sent. */
function unreachable(code: number, about: Uint8Array): Uint8Array {
  return packet(HOST, US, IP_PROTOCOL.icmpv4, Uint8Array.of(3, code, 0, 0, 0, 0, 0, 0, ...about.subarray(14, 14 + 28)));
}

const readTcp = (frame: Uint8Array) => {
  const read: unknown[] = [];
  const padded = new Uint8Array(frame.length + 10);
  padded.set(frame, 5);
  readTcpAnswer({ bytes: padded, offset: 5, length: frame.length }, link, (...answer) => void read.push(answer));
  return read;
};
const readUdp = (frame: Uint8Array) => {
  const read: unknown[] = [];
  readUdpAnswer({ bytes: frame, offset: 0, length: frame.length }, link, (...answer) => void read.push(answer));
  return read;
};
const cookie = synCookie(link.key, HOST_NUMBER, 443, OWN_PORT);
const acknowledged = (cookie + 1) >>> 0;
const ourSyn = packet(US, HOST, IP_PROTOCOL.tcp, encodeTcp(
  { sourcePort: OWN_PORT, destinationPort: 443, flags: TCP_FLAG.syn, sequenceNumber: cookie }, { source: ip(US), destination: ip(HOST) },
));

describe("an answer to a SYN", () => {
  test("is open, closed or filtered, in nmap's words", () => {
    expect(readTcp(tcp(TCP_FLAG.syn | TCP_FLAG.ack, acknowledged))).toEqual([[HOST_NUMBER, 443, "open"]]);
    expect(readTcp(tcp(TCP_FLAG.rst | TCP_FLAG.ack, acknowledged))).toEqual([[HOST_NUMBER, 443, "closed"]]);
    for (const code of [0, 1, 2, 3, 9, 10, 13]) expect(readTcp(unreachable(code, ourSyn))).toEqual([[HOST_NUMBER, 443, "filtered"]]);
  });

  test("that does not prove itself by its cookie is none: another port, host or number, a fragment needed, no answer at all", () => {
    const synAck = TCP_FLAG.syn | TCP_FLAG.ack;
    for (const frame of [
      tcp(synAck, cookie), tcp(synAck, acknowledged, { port: 444 }),
      tcp(synAck, acknowledged, { from: "10.66.0.10" }), tcp(TCP_FLAG.ack, acknowledged),
      unreachable(4, ourSyn), unreachable(1, tcp(synAck, acknowledged)),
    ]) expect(readTcp(frame)).toEqual([]);
  });
});

describe("an answer by IPv6", () => {
  const [host6, us6] = ["fd66::9", "fd66::1"];
  const number6 = book.numberFor(ip(host6));
  const ends = { source: ip(host6), destination: ip(us6) };
  type Extensions = Parameters<typeof encodeIpv6>[0]["extensionHeaders"];
  const packet6 = (from: string, to: string, protocol: number, payload: Uint8Array, extensionHeaders: Extensions = []) => encodeEthernet({
    destination: new Uint8Array(6), source: new Uint8Array(6), etherType: ETHER_TYPE.ipv6,
    payload: encodeIpv6({ source: ip(from), destination: ip(to), protocol, payload, extensionHeaders: extensionHeaders ?? [] }),
  });
  const question = (sourcePort: number) =>
    packet6(
      us6, host6, IP_PROTOCOL.udp,
      encodeUdp({ sourcePort, destinationPort: 161, payload: new Uint8Array(4) }, { source: ip(us6), destination: ip(host6) }),
    );
  const answer = encodeUdp({ sourcePort: 161, destinationPort: OWN_PORT, payload: new Uint8Array(4) }, ends);
  const error = (type: number, code: number, about: Uint8Array, extensions: Extensions = []) =>
    packet6(
      host6, us6, IP_PROTOCOL.icmpv6, encodeIcmpv6({ kind: "error", type, code, parameter: 0, original: about.subarray(14) }, ends),
      extensions,
    );
  const options = (type: number, units: number) =>
    ({ type, bytes: Uint8Array.of(0, units, 1, units * 8 + 4, ...new Uint8Array(units * 8 + 4)) });
  const fragment = (offset: number) => ({ type: 44, bytes: Uint8Array.of(0, 0, offset >>> 8, (offset & 0xf8) | 1, 0, 0, 0, 1) });

  test("to a datagram is open, closed or filtered by what ICMPv6 quotes of it", () => {
    expect(readUdp(packet6(host6, us6, IP_PROTOCOL.udp, answer))).toEqual([[number6, 161, "open"]]);
    expect(readUdp(error(1, 4, question(OWN_PORT)))).toEqual([[number6, 161, "closed"]]);
    for (const code of [0, 1, 2, 3, 5, 6]) expect(readUdp(error(1, code, question(OWN_PORT)))).toEqual([[number6, 161, "filtered"]]);
    // Another's datagram, a packet too big, a time exceeded, and less of the datagram than its ports.
    for (const frame of [
      error(1, 4, question(OWN_PORT + 1)), error(2, 0, question(OWN_PORT)), error(3, 0, question(OWN_PORT)),
      error(1, 4, question(OWN_PORT).subarray(0, 56)),
    ]) {
      expect(readUdp(frame)).toEqual([]);
    }
  });

  test("is read behind extension headers, its first fragment too", () => {
    for (const extensions of [[options(0, 0)], [options(60, 2)], [options(0, 0), options(60, 1), fragment(0)]]) {
      expect(readUdp(packet6(host6, us6, IP_PROTOCOL.udp, answer, extensions))).toEqual([[number6, 161, "open"]]);
      expect(readUdp(error(1, 4, question(OWN_PORT), extensions))).toEqual([[number6, 161, "closed"]]);
    }
    for (const extensions of [[fragment(8)], Array.from({ length: 5 }, () => options(60, 0)), [options(60, 31)]]) {
      expect(readUdp(packet6(host6, us6, IP_PROTOCOL.udp, answer, extensions).subarray(0, 100))).toEqual([]);
    }
  });

  test("to a SYN proves itself by its cookie there, too", () => {
    const proof = (synCookie(link.key, number6, 443, OWN_PORT) + 1) >>> 0;
    const segment = (acknowledgmentNumber: number) =>
      encodeTcp({ sourcePort: 443, destinationPort: OWN_PORT, flags: TCP_FLAG.syn | TCP_FLAG.ack, acknowledgmentNumber }, ends);
    expect(readTcp(packet6(host6, us6, IP_PROTOCOL.tcp, segment(proof), [options(60, 0)]))).toEqual([[number6, 443, "open"]]);
    expect(readTcp(packet6(host6, us6, IP_PROTOCOL.tcp, segment(proof + 1), [options(60, 0)]))).toEqual([]);
  });

  test("never throws, cut at any place", () => {
    for (const frame of [
      packet6(host6, us6, IP_PROTOCOL.udp, answer, [options(0, 1), fragment(0)]), error(1, 4, question(OWN_PORT), [options(60, 0)]),
    ]) {
      for (let length = 0; length < frame.length; length += 1) for (const read of [readUdp, readTcp]) read(frame.subarray(0, length));
    }
  });
});

describe("an answer to a datagram", () => {
  const question = packet(
    US, HOST, IP_PROTOCOL.udp,
    encodeUdp({ sourcePort: OWN_PORT, destinationPort: 161, payload: new Uint8Array(4) }, { source: ip(US), destination: ip(HOST) }),
  );
  const answer = packet(
    HOST, US, IP_PROTOCOL.udp,
    encodeUdp({ sourcePort: 161, destinationPort: OWN_PORT, payload: new Uint8Array(4) }, { source: ip(HOST), destination: ip(US) }),
  );

  test("shows an open port, an ICMP error one that is not", () => {
    const settings = packet(
      HOST, US, IP_PROTOCOL.udp,
      encodeUdp({ sourcePort: 67, destinationPort: 68, payload: new Uint8Array(4) }, { source: ip(HOST), destination: ip(US) }),
    );
    expect(readUdp(settings)).toEqual([[HOST_NUMBER, 67, "open"]]);
    expect(readUdp(answer)).toEqual([[HOST_NUMBER, 161, "open"]]);
    expect(readUdp(unreachable(3, question))).toEqual([[HOST_NUMBER, 161, "closed"]]);
    expect([readUdp(question), readUdp(unreachable(3, ourSyn))]).toEqual([[], []]);
  });

  test("never throws, cut or mutated, and takes nothing without a cookie for TCP", () => {
    const random = seededRandom(7);
    let taken = 0;
    for (const frame of [ourSyn, answer, question, tcp(0x12, acknowledged), unreachable(3, ourSyn), unreachable(3, question)]) {
      for (let length = 0; length < frame.length; length += 1) {
        readTcp(frame.subarray(0, length));
        readUdp(frame.subarray(0, length));
      }
      for (let n = 0; n < 3000; n += 1) {
        const mutated = frame.map((byte) => (random(20) === 0 ? random(256) : byte));
        taken += readTcp(mutated).filter((one) => (one as unknown[])[1] !== 443).length;
        readUdp(mutated);
      }
    }
    expect(taken).toBe(0);
  });
});
