import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesOf, latin1 } from "../bytes.ts";
import { normalizeUri } from "./uri.ts";

/** What Suricata 7.0.10 has in `http.uri`. */
const ROWS: readonly (readonly [target: string, uri: string])[] = [
  ["/", "/"], ["/a%2fb%5cc", "/a/b/c"], ["/%u0041%u2215%uff21x", "/A/Ax"], ["/a\\b\\\\c", "/a/b/c"], ["//a///b/", "/a/b/"], ["/a%2f%2fb", "/a/b"], ["/a/\\/b", "/a/b"],
  ["/%41%zz%4", "/A%zz%4"], ["/%00abc", "/\0abc"], ["/a%0d%0ab", "/a\r\nb"], ["/a%2526b", "/a%26b"], ["/%25%34%31", "/%41"], ["/%%41", "/%A"], ["/%4%41", "/%4A"],
  ["/a%u00zz", "/a%u00zz"], ["/%U0041", "/A"], ["/%", "/%"], ["/%u", "/%u"], ["/a%u", "/a%u"], ["/%u12", "/%u12"], ["/%u1g34", "/%u1g34"], ["/%7euser", "/~user"],
  // Dot segments.
  ["/./a/./b/.", "/a/b"], ["/../../a", "/a"], ["/a/b/..", "/a"], ["/a/..", ""], ["/a%2e%2e%2fb/%2e%2e/c", "/a../c"], ["/a/%2e/b", "/a/b"], ["/a/.../b", "/a/.../b"],
  ["/a/..b/c..", "/a/..b/c.."], ["/a/b/c/../../../../d?../x", "/d?../x"], ["a/../b", "/b"], ["./a", "a"], ["../a", "a"], ["/a/.", "/a"], ["/a/..?x", "?x"], ["/a//..//b", "/b"],
  ["/a/b/./../c/", "/a/c/"], ["/..", ""], ["/.", ""], ["/a/b/../", "/a"], ["/a/../", ""], ["/../", ""], [".", ""], ["..", ""], ["/...", "/..."], ["/%5c%5c%2e%2e%5cx", "/x"],
  ["/%u002e%u002e/a", "/a"], ["/a/%c0%ae%c0%ae/b", "/b"], ["/a%5c..%5cb", "/b"], ["//", "/"], ["///", "/"],
  // Queries and fragments.
  ["/a?b/../c//d\\e%5cf%00g+h%2bi", "/a?b/../c//d\\e\\f\0g+h+i"], ["/a+b", "/a+b"], ["/a;p=1/b", "/a;p=1/b"], ["/a#frag", "/a#frag"], ["/a?b#frag%41", "/a?b#fragA"],
  ["/a?x=%u0041", "/a?x=%u0041"], ["/a?%u002e+%2", "/a?%u002e+%2"], ["/a%3fb?c%3fd", "/a?b?c?d"], ["/a%23b", "/a#b"], ["?x=1", "?x=1"], ["/?", "/?"], ["/??a", "/??a"],
  // UTF-8.
  ["/A%C0%AFb", "/A/b"], ["/\xc3\xa9\xe9", "/\xe9"], ["/\xe9/abc", "/?/abc"], ["/\xe9\xe9", "/?"], ["/\xff", "/?"], ["/\x80a", "/?a"], ["/\xc3\xa9/abc\xc3", "/\xe9/abc"],
  ["/\xe2\x82\xac.", "/?."], ["/\xf0\x9f\x98\x80x", "/?x"], ["/\xc4\x80x", "/Ax"], ["/%u00e9", "/"], ["/%u0100", "/A"], ["/%u20ac", "/?"], ["/%c4%80\xe9x", "/A?x"],
  ["/\xef\xbc\xa1z", "/Az"], ["/%ef%bc%8fz//", "//z/"],
  // Schemes.
  ["http://User:pw@ExAmple.com:8080/Path/../x?q#f", "/x?q#f"], ["http://example.com", ""], ["*", "*"], ["example.com:443", "443"], ["index.html", "index.html"], ["http:///a", "/a"],
  ["index.php?u=http://x/y", "/y"], ["http://u@h:80?x", "?x"], ["http://h#f", "#f"], ["http:/a/b", "/a/b"], ["mailto:x@y", "x@y"], ["foo:bar?q#f", "bar?q#f"], [":abc", "abc"],
  ["/x:80/a", "/x:80/a"],
];

describe("the URI of a target", () => {
  test.each(ROWS)("%j is %j", (target, uri) => {
    expect(latin1(normalizeUri(bytesOf(target), false).uri)).toBe(uri);
  });

  test.each([
    ["http://ExAmple.com:8080/", "example.com", 8080], ["http://[::1]:8/a", "[::1]", 8], ["http://A%41b/x", "aab", null], ["http://a./x", "a", null], ["http://a:99999/x", "a", -1],
    ["http://a:80x/x", "a", -1], ["/x", null, null], ["http:///a", null, null],
  ])("%s has a host", (target, host, port) => {
    const normalized = normalizeUri(bytesOf(target), false);
    expect([normalized.host && latin1(normalized.host), normalized.port]).toEqual([host, port]);
  });

  test("of CONNECT is host and port alone", () => {
    const { uri, host, port } = normalizeUri(bytesOf("a.com:443"), true);
    expect([latin1(uri), host && latin1(host), port]).toEqual(["", "a.com", 443]);
  });

  test("is never longer than the target, whatever that is", () => {
    const part = fc.constantFrom("/", ".", "..", "%2e", "%u2215", "\\", "?", "#", ":", "//", "%", "a", "\xc0\xaf", "\xe9", "@");
    fc.assert(fc.property(fc.array(part, { maxLength: 30 }).map((parts) => parts.join("")), (target) => {
      expect(normalizeUri(bytesOf(target), false).uri.length).toBeLessThanOrEqual(target.length);
    }));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(normalizeUri(bytes, false).uri.length).toBeLessThanOrEqual(bytes.length);
    }));
  });
});
