import { encodeInteger, encodeObjectIdentifier, encodeTlv } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import type { Direction } from "../application.ts";
import { expectSafe, play } from "../testing/play-application.ts";
import { SNMP_APPLICATION } from "./snmp.ts";

/** As Suricata 7.0.10 says of the same datagrams. */

const join = (...parts: readonly Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));
const sequence = (...parts: readonly Uint8Array[]) => encodeTlv(0x30, join(...parts));
const octets = (text: string) => encodeTlv(4, Uint8Array.from(Buffer.from(text, "latin1")));
const bindings = sequence(sequence(encodeObjectIdentifier("1.3.6.1.2.1.1.1.0"), encodeTlv(5, new Uint8Array(0))));
const pdu = (type: number) => encodeTlv(0xa0 + type, join(encodeInteger(1), encodeInteger(0), encodeInteger(0), bindings));
const community = (version: number, name: string, type: number) => sequence(encodeInteger(version), octets(name), pdu(type));
const user = (name: string, scoped: Uint8Array) => sequence(
  encodeInteger(3), sequence(encodeInteger(7), encodeInteger(65_507), octets("\x04"), encodeInteger(3)),
  encodeTlv(4, sequence(octets("engine"), encodeInteger(1), encodeInteger(2), octets(name), octets(""), octets(""))), scoped,
);

const seen = (bytes: Uint8Array, direction: Direction = "to-server") => play(SNMP_APPLICATION, [[direction, bytes]], { flow: { transport: "udp", serverPort: 161 } }).transactions;

test.each<readonly [what: string, bytes: Uint8Array, seen: readonly Record<string, readonly unknown[]>[]]>([
  ["version 1", community(0, "public", 0), [{ "snmp.community to-server": ["public"], "snmp.version to-server": [1], "snmp.pdu-type to-server": [0] }]],
  ["version 2c", community(1, "public", 5), [{ "snmp.community to-server": ["public"], "snmp.version to-server": [2], "snmp.pdu-type to-server": [5] }]],
  ["a trap", community(1, "public", 7), [{ "snmp.community to-server": ["public"], "snmp.version to-server": [2], "snmp.pdu-type to-server": [7] }]],
  ["version 3", user("bob", sequence(octets("engine"), octets(""), pdu(0))), [{ "snmp.usm to-server": ["bob"], "snmp.version to-server": [3], "snmp.pdu-type to-server": [0] }]],
  ["encrypted", user("bob", octets("x".repeat(20))), [{ "snmp.usm to-server": ["bob"], "snmp.version to-server": [3] }]],
  ["an empty community", community(0, "", 0), [{ "snmp.version to-server": [1], "snmp.pdu-type to-server": [0] }]],
  ["bytes behind it", join(community(0, "a", 0), octets("zz")), [{ "snmp.community to-server": ["a"], "snmp.version to-server": [1], "snmp.pdu-type to-server": [0] }]],
  ["a community that is no text", community(1, "Secret\xff", 5), []],
  ["an unknown version", community(4, "public", 0), []],
  ["a message that is cut off", community(0, "public", 0).subarray(0, -3), []],
])("%s", (_, bytes, expected) => {
  expect(seen(bytes)).toEqual(expected);
});

test("an answer is a transaction of its own direction", () => {
  expect(seen(community(0, "public", 2), "to-client")).toEqual([{ "snmp.community to-client": ["public"], "snmp.version to-client": [1], "snmp.pdu-type to-client": [2] }]);
});

describe("recognition", () => {
  test("asks for the server's port", () => {
    const verdict = (serverPort: number) => SNMP_APPLICATION.recognize?.({ flow: { transport: "udp", clientPort: 161, serverPort }, direction: "to-server", bytes: community(0, "public", 0), other: new Uint8Array(0) });
    expect([verdict(161), verdict(162), verdict(1161)]).toEqual(["yes", "yes", "no"]);
  });
});

test("hostile bytes do no harm", () => {
  expectSafe(SNMP_APPLICATION, [["to-server", community(1, "public", 5)], ["to-client", user("bob", octets("x"))]], { transport: "udp" });
});
