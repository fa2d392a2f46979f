import { isIPv4, isIPv6 } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIp, formatIpv4, formatIpv6, formatMac, parseIp, parseIpv4, parseIpv6, parseMac } from "./addresses.ts";
import { fromHex } from "./testing/bytes.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

/** Addresses with many zeros, where the spelling has its rules. */
const sparse = fc
  .array(fc.constantFrom(0, 0, 0, 1, 0xffff, 0x0a00), { minLength: 8, maxLength: 8 })
  .map((groups) => Uint8Array.from(groups.flatMap((group) => [group >>> 8, group & 0xff])));

describe("MAC", () => {
  test("is spelled in lower case with colons, also from the middle of a frame", () => {
    expect(formatMac(fromHex("ffff 00005e0001fe"), 2)).toBe("00:00:5e:00:01:fe");
  });

  test("is read with colons, hyphens or nothing between the pairs, not with a mixture", () => {
    const mac = fromHex("3c2af400Abcd");
    for (const text of ["3c:2a:f4:00:ab:cd", "3C-2A-F4-00-AB-CD", "3c2af400abcd"]) expect(parseMac(text)).toEqual(mac);
    for (const text of ["", "3c:2a:f4:00:ab", "3c:2a-f4:00:ab:cd", "3c:2a:f4:00:ab:cg", "3c:2a:f4:00:ab:cd:ef", " 3c2af400abcd"]) {
      expect(parseMac(text)).toBeNull();
    }
  });

  test("survives a round trip", () => {
    fc.assert(
      fc.property(bytes(6), (mac) => {
        expect(parseMac(formatMac(mac))).toEqual(mac);
      }),
    );
  });

  test("is not made up from too few bytes", () => {
    expect(() => formatMac(new Uint8Array(5))).toThrow(expect.objectContaining({ code: "unencodable" }));
    expect(() => formatMac(new Uint8Array(8), 3)).toThrow(expect.objectContaining({ code: "unencodable" }));
  });
});

describe("IPv4", () => {
  test("survives a round trip", () => {
    fc.assert(
      fc.property(bytes(4), (ip) => {
        expect(parseIpv4(formatIpv4(ip))).toEqual(ip);
      }),
    );
  });

  test("leading zeros, short forms and large numbers are refused", () => {
    for (const text of ["", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1.2.3.-4", "1.2.3.4 ", "0x1.2.3.4", "1..2.3"]) {
      expect(parseIpv4(text)).toBeNull();
    }
  });
});

describe("IPv6", () => {
  test.each([
    ["00000000000000000000000000000000", "::"],
    ["00000000000000000000000000000001", "::1"],
    ["20010db8000000000000000000000000", "2001:db8::"],
    ["20010db8000000010000000000000001", "2001:db8:0:1::1"],
    ["20010db8000000000001000000000001", "2001:db8::1:0:0:1"],
    ["20010db8000100010001000100000001", "2001:db8:1:1:1:1:0:1"],
    ["00000000000000000000ffffc0000201", "::ffff:192.0.2.1"],
    ["fe80000000000000000000fffe00000a", "fe80::ff:fe00:a"],
  ])("%s is spelled %s", (hex, text) => {
    expect(formatIpv6(fromHex(hex))).toBe(text);
    expect(parseIpv6(text)).toEqual(fromHex(hex));
  });

  test("other spellings of RFC 4291 are read", () => {
    expect(parseIpv6("2001:0DB8:0:0:0:0:0:1")).toEqual(parseIpv6("2001:db8::1"));
    expect(parseIpv6("64:ff9b::192.0.2.33")).toEqual(fromHex("0064ff9b0000000000000000c0000221"));
    expect(parseIpv6("1:2:3:4:5:6:1.2.3.4")).toEqual(fromHex("00010002000300040005000601020304"));
  });

  test("what is no address is refused", () => {
    const colons = ["", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "1:", ":1", "::1:"];
    const others = ["12345::", "g::", "fe80::1%eth0", "::1/64", "1.2.3.4::", "::1.2.3", "1.2.3.4", `${"0".repeat(50)}::`];
    for (const text of [...colons, ...others]) expect(parseIpv6(text)).toBeNull();
  });

  test("survives a round trip, and node finds every spelling valid", () => {
    fc.assert(
      fc.property(fc.oneof(bytes(16), sparse), (ip) => {
        const text = formatIpv6(ip);
        expect(isIPv6(text)).toBe(true);
        expect(parseIpv6(text)).toEqual(ip);
      }),
    );
  });

  test("random text is read exactly when node finds it valid", () => {
    const pieces = fc.constantFrom("0", "1", "ffff", "12", ":", "::", ".", "1.2.3.4", "256", "g");
    const text = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (candidate) => {
        expect(parseIpv6(candidate) !== null).toBe(isIPv6(candidate));
        expect(parseIpv4(candidate) !== null).toBe(isIPv4(candidate));
      }),
      { numRuns: 5000, seed: 1 },
    );
  });
});

test("either family is recognized by its length or its colons", () => {
  expect(formatIp(fromHex("c0000201"))).toBe("192.0.2.1");
  expect(formatIp(fromHex("20010db8000000000000000000000001"))).toBe("2001:db8::1");
  expect(parseIp("192.0.2.1")).toEqual(fromHex("c0000201"));
  expect(parseIp("::")).toEqual(new Uint8Array(16));
  expect(() => formatIp(new Uint8Array(6))).toThrow(expect.objectContaining({ code: "unencodable" }));
});
