import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIpv4, parseMac } from "../addresses.ts";
import { DHCP_BROADCAST_FLAG, DHCP_OP, decodeDhcp, type DhcpMessage, encodeDhcp } from "./dhcp.ts";
import { encodeDhcpDiscover } from "./dhcp-discover.ts";
import * as values from "./dhcp-values.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { everyTruncation, seededMutations } from "../testing/hostile.ts";
import { encodeUtf8 } from "../text.ts";

/** A message up to its options; `sname` and `file` by their hexadecimal digits. */
function header({ op = "02", sname = "", file = "" } = {}): Uint8Array {
  return fromHex(`
    ${op} 01 06 00 3903f326 0000 8000
    00000000 c0a8012a c0a80101 00000000
    02004c4f4f50 00000000000000000000
    ${sname.padEnd(128, "0")}
    ${file.padEnd(256, "0")}
    63825363
  `);
}

/** What each value of an option is read with. */
const readers = Object.values(values).filter((value) => typeof value === "function");

const OFFER = joinBytes(
  header({ file: "7078656c696e75782e3000ff" }),
  fromHex(`
    35 01 02
    36 04 c0a80101
    33 04 00000e10
    01 04 ffffff00
    03 04 c0a80101
    06 08 c0a80101 08080808
    0f 09 6c616e2e7465737400
    00 00 00
    52 0a 01 04 65746830 02 02 beef
    0c 05 6e61733100
    e0 03 010203
    ff 0000
  `),
);

/** What a client sends: identifier with DUID, whole name, vendor class, requests in its own order. */
const REQUEST = joinBytes(
  header({ op: "01" }),
  fromHex(`
    35 01 03
    3d 13 ff 4c4f4f50 0001 0001 2a3b4c5d 02004c4f4f50
    32 04 c0a8012a
    37 05 01 79 03 06 0f
    3c 08 4d53465420352e30
    51 0d 04 00 00 04 6c616231 03 6c616e 00
    ff
  `),
);

function read(bytes: Uint8Array): DhcpMessage {
  const result = decodeDhcp(bytes);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset}`);
  return result.value;
}

describe("decoding", () => {
  test("gives the fixed header with its addresses", () => {
    expect(read(OFFER)).toMatchObject({
      op: DHCP_OP.bootReply,
      htype: 1,
      hops: 0,
      xid: 0x3903f326,
      secs: 0,
      flags: DHCP_BROADCAST_FLAG,
      ciaddr: parseIpv4("0.0.0.0"),
      yiaddr: parseIpv4("192.168.1.42"),
      siaddr: parseIpv4("192.168.1.1"),
      giaddr: parseIpv4("0.0.0.0"),
      chaddr: parseMac("02:00:4c:4f:4f:50"),
      sname: new Uint8Array(0),
      file: encodeUtf8("pxelinux.0"),
    });
  });

  test("an offer says what the client gets", () => {
    const { options } = read(OFFER);
    expect(values.dhcpMessageType(options)).toBe(values.DHCP_MESSAGE_TYPE.offer);
    expect(values.dhcpServerIdentifier(options)).toEqual(parseIpv4("192.168.1.1"));
    expect(values.dhcpLeaseSeconds(options)).toBe(3600);
    expect(values.dhcpRouters(options)).toEqual([parseIpv4("192.168.1.1")]);
    expect(values.dhcpNameServers(options)).toEqual([parseIpv4("192.168.1.1"), parseIpv4("8.8.8.8")]);
    expect(values.dhcpDomainName(options)).toBe("lan.test");
    expect(values.dhcpHostName(options)).toBe("nas1");
    expect(values.dhcpRelayAgent(options)).toEqual(new Map([[1, encodeUtf8("eth0")], [2, fromHex("beef")]]));
  });

  test("a request says who the client is", () => {
    const { options } = read(REQUEST);
    expect(values.dhcpMessageType(options)).toBe(values.DHCP_MESSAGE_TYPE.request);
    expect(values.dhcpRequestedAddress(options)).toEqual(parseIpv4("192.168.1.42"));
    expect(values.dhcpParameterList(options)).toEqual([1, 121, 3, 6, 15]);
    expect(values.dhcpVendorClass(options)).toBe("MSFT 5.0");
    expect(values.dhcpClientFqdn(options)).toEqual({ flags: 4, name: "lab1.lan" });
    expect(values.dhcpClientIdentifier(options)).toMatchObject({ type: 255, duid: fromHex("00010001 2a3b4c5d 02004c4f4f50") });
  });

  test("unknown options are kept as bytes, and all as views in their order", () => {
    const { options } = read(OFFER);
    expect(options.get(224)).toEqual(fromHex("010203"));
    expect(options.get(224)?.buffer).toBe(OFFER.buffer);
    expect([...options.keys()]).toEqual([53, 54, 51, 1, 3, 6, 15, 82, 12, 224]);
  });

  test("missing options are null, and so are those of a length that cannot be", () => {
    const broken = fromHex("35 02 0101 36 03 c0a801 03 05 c0a8010101 3d 01 ff 51 02 0000 52 03 01ff00 0c 00 ff");
    const { options } = read(joinBytes(header(), broken));
    for (const reader of readers) expect(reader(options)).toBeNull();
  });

  test("a client's whole name may come as text", () => {
    const { options } = read(joinBytes(header(), fromHex("51 0b 01 ff ff 70632e6c616e2e00 ff")));
    expect(values.dhcpClientFqdn(options)).toEqual({ flags: 1, name: "pc.lan" });
  });
});

describe("options in several places", () => {
  test("file and sname hold options where option 52 says so, file before sname", () => {
    const sname = "0c0262620f0178ff";
    const file = "0c026161e00101ff";
    const message = read(joinBytes(header({ sname, file }), fromHex("34 01 03 35 01 02 ff")));
    expect(values.dhcpHostName(message.options)).toBe("aabb");
    expect([...message.options.keys()]).toEqual([53, 12, 224, 15]);
    expect(message).toMatchObject({ sname: new Uint8Array(0), file: new Uint8Array(0) });
  });

  test("a field that option 52 does not name keeps its text", () => {
    const message = read(joinBytes(header({ sname: "61620078", file: "0c0178ff" }), fromHex("34 01 01 ff")));
    expect(message.sname).toEqual(encodeUtf8("ab"));
    expect(values.dhcpHostName(message.options)).toBe("x");
  });

  test("options repeated anywhere are joined", () => {
    const { options } = read(joinBytes(header(), fromHex("e0 02 0102 0c 01 61 e0 00 e0 01 03 ff")));
    expect(options.get(224)).toEqual(fromHex("010203"));
  });

  test("a message of nothing but repetitions is joined in one go", () => {
    const repetitions = Uint8Array.from({ length: 60_000 }, (_, at) => [224, 1, 7][at % 3] ?? 0);
    expect(read(joinBytes(header(), repetitions)).options.get(224)).toHaveLength(20_000);
  });

  test.each([
    ["an overload of both lengths", "34 02 0101 ff", 242],
    ["an overload that names no field", "34 01 04 ff", 242],
    ["a message that is no DHCP", null, 236],
  ])("%s is a bad value", (_, options, offset) => {
    const bytes = options === null ? header().with(236, 0) : joinBytes(header(), fromHex(options));
    expect(decodeDhcp(bytes)).toEqual({ ok: false, code: "bad-value", layer: "dhcp", offset });
  });

  test("a hardware address longer than its field is a bad value", () => {
    expect(decodeDhcp(OFFER.with(2, 17))).toEqual({ ok: false, code: "bad-value", layer: "dhcp", offset: 2 });
  });
});

describe("hostile input", () => {
  test("every truncation ends in a result, truncated within the header", () => {
    for (const cut of everyTruncation(OFFER)) {
      const result = decodeDhcp(cut);
      if (cut.length >= 240) continue;
      expect(result).toMatchObject({ ok: false, code: "truncated", layer: "dhcp" });
    }
  });

  test.each([["an offer", OFFER], ["a request", REQUEST]])("20,000 mutations of %s end in a result, and their values too", (_, message) => {
    const counts = { ok: 0, malformed: 0 };
    for (const bytes of seededMutations(message, 20_000, 53)) {
      const result = decodeDhcp(bytes);
      counts[result.ok ? "ok" : "malformed"] += 1;
      if (!result.ok) continue;
      for (const reader of readers) reader(result.value.options);
    }
    expect(counts.ok).toBeGreaterThan(1000);
    expect(counts.malformed).toBeGreaterThan(1000);
  });
});

describe("encoding", () => {
  const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const textField = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => bytes.filter((byte) => byte !== 0));
  const messages = fc.record({
    op: fc.constantFrom(1, 2),
    htype: fc.nat(255),
    hops: fc.nat(255),
    xid: fc.nat(0xffff_ffff),
    secs: fc.nat(0xffff),
    flags: fc.nat(0xffff),
    ciaddr: bytesOf(4),
    yiaddr: bytesOf(4),
    siaddr: bytesOf(4),
    giaddr: bytesOf(4),
    chaddr: fc.uint8Array({ maxLength: 16 }),
    sname: textField(64),
    file: textField(128),
    options: fc
      .array(fc.tuple(fc.integer({ min: 1, max: 254 }), fc.uint8Array({ maxLength: 600 })), { maxLength: 6 })
      .map((entries) => new Map(entries.filter(([code]) => code !== 52))),
  });

  test("whatever was encoded comes back, options longer than 255 bytes included", () => {
    const comesBack = fc.property(messages, (message) => {
      expect(decodeDhcp(encodeDhcp(message))).toEqual({ ok: true, value: message });
    });
    fc.assert(comesBack);
  });

  test("a message has at least the 300 bytes of BOOTP", () => {
    expect(encodeDhcp({ op: 1, xid: 1, chaddr: new Uint8Array(6), options: new Map() })).toHaveLength(300);
  });

  test("a discover asks all servers for a broadcast answer and binds nothing", () => {
    const chaddr = fromHex("02004c4f4f50");
    const discover = { xid: 7, chaddr, hostName: "lab1", vendorClass: "lanthorn", clientIdentifier: joinBytes(Uint8Array.of(1), chaddr) };
    const message = read(encodeDhcpDiscover(discover));
    expect(message).toMatchObject({ op: 1, xid: 7, flags: DHCP_BROADCAST_FLAG, chaddr });
    expect(values.dhcpMessageType(message.options)).toBe(values.DHCP_MESSAGE_TYPE.discover);
    expect(values.dhcpHostName(message.options)).toBe("lab1");
    expect(values.dhcpVendorClass(message.options)).toBe("lanthorn");
    expect(values.dhcpClientIdentifier(message.options)).toEqual({ type: 1, identifier: chaddr, duid: null });
    expect(values.dhcpParameterList(message.options)).toEqual([1, 3, 6, 15]);
    expect(read(encodeDhcpDiscover({ xid: 7, chaddr, parameterList: [43], wantsBroadcast: false })).flags).toBe(0);
  });

  test.each([
    ["an option that frames the others", { options: new Map([[52, Uint8Array.of(1)]]) }],
    ["an option code beyond a byte", { options: new Map([[256, Uint8Array.of(1)]]) }],
    ["an address of six bytes", { yiaddr: new Uint8Array(6) }],
    ["a file name with a zero", { file: Uint8Array.of(97, 0, 97) }],
    ["a transaction id beyond 32 bits", { xid: 2 ** 32 }],
  ])("%s has no encoding", (_, fields) => {
    const message = { op: 1, xid: 1, chaddr: new Uint8Array(6), options: new Map(), ...fields };
    expect(() => encodeDhcp(message)).toThrow(expect.objectContaining({ code: "unencodable" }));
  });
});
