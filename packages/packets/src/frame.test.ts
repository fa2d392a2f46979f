import { describe, expect, test } from "vitest";
import { formatIp, formatMac } from "./addresses.ts";
import { decodeArp } from "./link/arp.ts";
import { encodeEthernet } from "./link/ethernet.ts";
import { decodeFrame, type Frame } from "./frame.ts";
import { decodeIcmpv6 } from "./ip/icmpv6.ts";
import { encodeIpv4 } from "./ip/ipv4.ts";
import { encodeIpv6 } from "./ip/ipv6.ts";
import { decodeLlc, encodeLlc } from "./link/llc.ts";
import { decodeTcp, TCP_FLAG } from "./transport/tcp.ts";
import { fromHex, joinBytes } from "./testing/bytes.ts";
import { expectResults } from "./testing/expect-results.ts";
import {
  ARP_REQUEST,
  ECHO_REQUEST,
  MULTICAST_LISTENER_REPORT,
  NEIGHBOR_SOLICITATION,
  REAL_FRAMES,
  TCP_DATA,
  TCP_SYN,
  TCP_SYN_OVER_IPV6,
  UDP,
  UDP_BEHIND_HOP_BY_HOP,
} from "./testing/real-frames.ts";
import { encodeUdp } from "./transport/udp.ts";

const decode = (bytes: Uint8Array, options?: Parameters<typeof decodeFrame>[1]): Frame => {
  const result = decodeFrame(bytes, options);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

const tagged = (bytes: Uint8Array, tags: string) => joinBytes(bytes.subarray(0, 12), fromHex(tags), bytes.subarray(12));

const A = { mac: fromHex("02000000000a"), ip: fromHex("0a090001"), ip6: fromHex("fd000009000000000000000000000001") };
const B = { mac: fromHex("02000000000b"), ip: fromHex("0a090002"), ip6: fromHex("fd000009000000000000000000000002") };

describe("who sends to whom", () => {
  test("ARP: the MACs, the audience, and the packet for its own decoder", () => {
    const frame = decode(joinBytes(ARP_REQUEST, new Uint8Array(18)));
    expect(frame).toMatchObject({ audience: "broadcast", network: "arp", arpOperation: 1, transport: "none", ipProtocol: -1 });
    expect(formatMac(frame.sourceMac as Uint8Array)).toBe("02:00:00:00:00:0a");
    expect(formatMac(frame.destinationMac as Uint8Array)).toBe("ff:ff:ff:ff:ff:ff");
    expect([frame.sourceIp, frame.destinationIp]).toEqual([null, null]);
    expect(frame.networkBytes).toHaveLength(28);
    expect(frame.payload).toHaveLength(0);
    expect(decodeArp(frame.networkBytes)).toMatchObject({ ok: true, value: { senderProtocolAddress: A.ip } });
  });

  test("UDP: addresses, ports and payload", () => {
    const frame = decode(UDP);
    expect(frame).toMatchObject({ audience: "unicast", network: "ipv4", hopLimit: 64 });
    expect(frame).toMatchObject({ transport: "udp", sourcePort: 40_000, destinationPort: 9 });
    expect([formatIp(frame.sourceIp as Uint8Array), formatIp(frame.destinationIp as Uint8Array)]).toEqual(["10.9.0.1", "10.9.0.2"]);
    expect(new TextDecoder().decode(frame.payload)).toBe("lantern");
  });

  test("TCP: flags, and the segment for its own decoder", () => {
    expect(decode(TCP_SYN)).toMatchObject({ transport: "tcp", tcpFlags: TCP_FLAG.syn, destinationPort: 7000, payload: new Uint8Array(0) });
    expect(new TextDecoder().decode(decode(TCP_DATA).payload)).toBe("hello");
    expect(decodeTcp(decode(TCP_SYN_OVER_IPV6).transportBytes)).toMatchObject({ ok: true, value: { sequenceNumber: 0xa8c0966f } });
  });

  test("ICMP: type and code, of both versions", () => {
    expect(decode(ECHO_REQUEST)).toMatchObject({ transport: "icmpv4", icmpType: 8, icmpCode: 0 });
    expect(decode(MULTICAST_LISTENER_REPORT)).toMatchObject({ audience: "multicast", transport: "icmpv6", icmpType: 143, hopLimit: 1 });
    const solicitation = decode(NEIGHBOR_SOLICITATION);
    expect(solicitation).toMatchObject({ icmpType: 135, hopLimit: 255 });
    expect(decodeIcmpv6(solicitation.transportBytes)).toMatchObject({ ok: true, value: { kind: "neighbor-solicitation" } });
  });

  test("an IP protocol that is not read further is named by its number", () => {
    const payload = encodeIpv4({ protocol: 112, source: A.ip, destination: fromHex("e0000012"), payload: fromHex("2101") });
    const frame = decode(encodeEthernet({ destination: fromHex("01005e000012"), source: A.mac, etherType: 0x0800, payload }));
    expect(frame).toMatchObject({ transport: "other", ipProtocol: 112, audience: "multicast", payload: fromHex("2101") });
  });
});

describe("VLAN tags and LLC", () => {
  test("what is behind stacked tags is read as if they were not there", () => {
    const frame = decode(tagged(UDP, "88a8 00c8 8100 07d1"));
    expect(frame.vlanTags.map((tag) => tag.vlanId)).toEqual([200, 2001]);
    expect(frame).toMatchObject({ etherType: 0x0800, transport: "udp", sourcePort: 40_000 });
  });

  test("SNAP with organization 0 is read by its EtherType", () => {
    const payload = encodeLlc({
      destinationServiceAccessPoint: 0xaa,
      sourceServiceAccessPoint: 0xaa,
      control: 3,
      snap: { organization: 0, protocol: 0x0800 },
      payload: UDP.subarray(14),
    });
    const frame = decode(encodeEthernet({ destination: B.mac, source: A.mac, etherType: null, payload }));
    expect(frame).toMatchObject({ etherType: 0x0800, network: "ipv4", transport: "udp", sourcePort: 40_000 });
  });

  test("a bridge's and a vendor's frame are LLC, whole and without padding", () => {
    const cdp = fromHex("aaaa03 00000c 2000 02b4");
    const frame = decode(encodeEthernet({ destination: fromHex("01000ccccccc"), source: A.mac, etherType: null, payload: cdp }));
    expect(frame).toMatchObject({ network: "llc", etherType: 0, networkBytes: cdp });
    expect(decodeLlc(frame.networkBytes)).toMatchObject({ ok: true, value: { snap: { organization: 0x0c, protocol: 0x2000 } } });
  });

  test("an EtherType that is not read further leaves its payload", () => {
    const frame = decode(fromHex("0180c200000e 02000000000a 88cc 0207040200"));
    expect(frame).toMatchObject({ network: "other", etherType: 0x88cc, payload: fromHex("0207040200") });
  });
});

describe("fragments", () => {
  const datagram = encodeUdp({ sourcePort: 1, destinationPort: 2, payload: new Uint8Array(100) }, { source: A.ip, destination: B.ip });
  const over4 = (options: { readonly fragmentOffset: number; readonly moreFragments: boolean }, payload: Uint8Array) =>
    encodeEthernet({
      destination: B.mac,
      source: A.mac,
      etherType: 0x0800,
      payload: encodeIpv4({ ...options, protocol: 17, source: A.ip, destination: B.ip, payload }),
    });

  test("the first has ports, though it holds less than its UDP length", () => {
    const first = decode(over4({ fragmentOffset: 0, moreFragments: true }, datagram.subarray(0, 64)));
    expect(first).toMatchObject({ transport: "udp", sourcePort: 1, moreFragments: true });
    expect(first.payload).toHaveLength(56);
  });

  test("a first one that ends within TCP's header keeps what IP says", () => {
    const payload = encodeIpv4({
      protocol: 6, source: A.ip, destination: B.ip, moreFragments: true, payload: TCP_SYN.subarray(34, 42),
    });
    const tiny = decode(encodeEthernet({ destination: B.mac, source: A.mac, etherType: 0x0800, payload }));
    expect(tiny).toMatchObject({ transport: "other", ipProtocol: 6, sourcePort: -1, moreFragments: true });
    expect(tiny.payload).toEqual(TCP_SYN.subarray(34, 42));
  });

  test("later ones have no ports, as they begin in the middle", () => {
    const later = decode(over4({ fragmentOffset: 64, moreFragments: false }, datagram.subarray(64)));
    expect(later).toMatchObject({ transport: "none", sourcePort: -1, ipProtocol: 17, fragmentOffset: 64 });
    expect(later.transportBytes).toHaveLength(0);
    expect(later.payload).toEqual(datagram.subarray(64));
  });

  test("neither have those of IPv6", () => {
    const header = { type: 44, bytes: fromHex("0000 0040 00000007") };
    const payload = encodeIpv6({ protocol: 17, source: A.ip6, destination: B.ip6, extensionHeaders: [header], payload: fromHex("ffff") });
    const later = decode(encodeEthernet({ destination: B.mac, source: A.mac, etherType: 0x86dd, payload }));
    expect(later).toMatchObject({ transport: "none", ipProtocol: 17, fragmentOffset: 64 });
  });

  test("a whole datagram that claims more than there is is truncated", () => {
    const whole = over4({ fragmentOffset: 0, moreFragments: false }, datagram.subarray(0, 64));
    expect(decodeFrame(whole)).toEqual({ ok: false, code: "truncated", layer: "udp", offset: 98 });
  });
});

describe("frames that the capture has cut", () => {
  test("keep what was captured when the length on the wire is given", () => {
    const cut = TCP_DATA.subarray(0, 68);
    expect(decodeFrame(cut)).toEqual({ ok: false, code: "truncated", layer: "ipv4", offset: 68 });
    expect(decode(cut, { wireLength: TCP_DATA.length })).toMatchObject({ isCut: true, transport: "tcp", payload: fromHex("6865") });
  });

  test.each([
    ["TCP's header", TCP_DATA, 40, 6], ["TCP's options", TCP_SYN, 60, 6], ["all of TCP", TCP_SYN, 34, 6], ["UDP's header", UDP, 38, 17],
    ["TCP's options over IPv6", TCP_SYN_OVER_IPV6, 80, 6], ["an extension header", UDP_BEHIND_HOP_BY_HOP, 58, 0],
  ] as const)("lose the transport layer and not the frame where they end in %s", (_, whole, length, ipProtocol) => {
    const cut = whole.subarray(0, length);
    const frame = decode(cut, { wireLength: whole.length });
    expect(frame).toMatchObject({ transport: "other", ipProtocol, sourcePort: -1, tcpFlags: 0 });
    expect([frame.sourceIp, frame.destinationIp]).toEqual([decode(whole).sourceIp, decode(whole).destinationIp]);
    expect(frame.payload).toEqual(cut.subarray(ipProtocol !== 0 && frame.network === "ipv4" ? 34 : 54));
  });

  test("are malformed where the IP header is not there, or a byte of the transport header cannot be", () => {
    expect(decodeFrame(UDP.subarray(0, 30), { wireLength: UDP.length })).toMatchObject({ ok: false, layer: "ipv4", code: "truncated" });
    const bytes = TCP_DATA.with(46, 0x40).subarray(0, 60);
    expect(decodeFrame(bytes, { wireLength: TCP_DATA.length })).toMatchObject({ ok: false, layer: "tcp", code: "bad-value" });
  });
});

describe("segmentation offload", () => {
  test("leaves a total length of zero, and the frame is read to its end", () => {
    const bytes = TCP_DATA.with(16, 0).with(17, 0);
    const frame = decode(bytes);
    expect(frame).toMatchObject({ transport: "tcp", sourcePort: 36_284 });
    expect(new TextDecoder().decode(frame.payload)).toBe("hello");
    expect(frame.networkBytes).toHaveLength(TCP_DATA.length - 14);
  });
});

describe("the authentication header over IPv4", () => {
  const datagram = encodeUdp({ sourcePort: 520, destinationPort: 521, payload: fromHex("0102") }, { source: A.ip, destination: B.ip });
  const protectedFrame = (headers: string, payload = datagram, more: Partial<Parameters<typeof encodeIpv4>[0]> = {}) => encodeEthernet({
    destination: B.mac, source: A.mac, etherType: 0x0800,
    payload: encodeIpv4({ ...more, protocol: 51, source: A.ip, destination: B.ip, payload: joinBytes(fromHex(headers), payload) }),
  });
  /** 24 bytes are six words, less two, as RFC 4302 counts them; the check value has 96 bits. */
  const header = (next: string) => `${next} 04 0000 00000101 00000001 000102030405060708090a0b`;

  test("is passed, and what it protects is read", () => {
    const frame = decode(protectedFrame(header("11")));
    expect(frame).toMatchObject({ network: "ipv4", transport: "udp", ipProtocol: 17, sourcePort: 520, destinationPort: 521 });
    expect(frame.payload).toEqual(fromHex("0102"));
    expect(frame.transportBytes).toEqual(datagram);
    expect(frame.networkBytes[9]).toBe(51);
  });

  test("may have one behind it, and another length", () => {
    const nested = decode(protectedFrame(header("33") + "11 01 0000 00000102 00000001"));
    expect(nested).toMatchObject({ transport: "udp", destinationPort: 521 });
  });

  test("protects what is not read further, too", () => {
    expect(decode(protectedFrame(header("32"), fromHex("deadbeef")))).toMatchObject({
      transport: "other", ipProtocol: 50, payload: fromHex("deadbeef"),
    });
  });

  test("is malformed beyond its packet and by the dozen, and left out where the capture ends in it", () => {
    const long = protectedFrame(header("11").replace("04", "40"));
    expect(decodeFrame(long)).toMatchObject({ ok: false, code: "truncated", layer: "authentication" });
    expect(decodeFrame(protectedFrame(header("33").repeat(13)))).toMatchObject({ ok: false, code: "bad-value", layer: "authentication" });
    const whole = protectedFrame(header("11"));
    expect(decode(whole.subarray(0, 40), { wireLength: whole.length })).toMatchObject({ transport: "other", ipProtocol: 51 });
  });

  test("of a later fragment is not looked for", () => {
    const later = decode(protectedFrame("", fromHex("0102030405060708"), { fragmentOffset: 64 }));
    expect(later).toMatchObject({ transport: "none", ipProtocol: 51 });
  });

  test("ends in a result whatever becomes of its bytes", () => {
    expectResults((bytes) => decodeFrame(bytes), protectedFrame(header("33") + header("11")), { seed: 40, shortest: 34 });
  });
});

test("views are of the bytes that were given, wherever those lie in their buffer", () => {
  const buffer = joinBytes(new Uint8Array(7), UDP, new Uint8Array(7));
  const bytes = buffer.subarray(7, 7 + UDP.length);
  const frame = decode(bytes);
  expect(frame.payload.buffer).toBe(buffer.buffer);
  expect(new TextDecoder().decode(frame.payload)).toBe("lantern");
});

test("places are counted from the first byte of the frame", () => {
  const bytes = UDP.slice();
  bytes[39] = 4;
  expect(decodeFrame(bytes)).toEqual({ ok: false, code: "bad-value", layer: "udp", offset: 38 });
});

describe("every truncation and 20,000 mutations end in a result, and its views can be taken", () => {
  const decodeAndLook = (bytes: Uint8Array) => {
    const result = decodeFrame(bytes);
    if (result.ok) {
      const { sourceMac, destinationMac, sourceIp, destinationIp, networkBytes, transportBytes, payload } = result.value;
      const views = [sourceMac, destinationMac, sourceIp, destinationIp, networkBytes, transportBytes, payload];
      const [start, end] = [bytes.byteOffset, bytes.byteOffset + bytes.length];
      const areInside = views.every((view) => view === null || (view.byteOffset >= start && view.byteOffset + view.length <= end));
      if (!areInside) expect.fail("a view reaches beyond the frame");
    }
    return result;
  };

  test.each(Object.entries(REAL_FRAMES))("%s", (name, bytes) => {
    expectResults(decodeAndLook, bytes, { seed: name.length, shortest: 34 });
  });

  test("behind VLAN tags", () => {
    expectResults(decodeAndLook, tagged(UDP_BEHIND_HOP_BY_HOP, "88a8 00c8 8100 07d1"), { seed: 20, shortest: 62 });
  });
});
