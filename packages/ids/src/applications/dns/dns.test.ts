import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Direction } from "../application.ts";
import { expectSafe, expectSameHoweverCut, play, type Turn } from "../testing/play-application.ts";
import { DNS_APPLICATION } from "./dns.ts";

/** As Suricata 7.0.10 says of the same datagrams, where it has the keyword; `dns.rcode` and the other names are of 8.0. */

const UDP = { flow: { transport: "udp", serverPort: 53 } } as const;
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const label = (text: string) => String.fromCharCode(text.length) + text;
const name = (text: string) => `${text.split(".").filter(Boolean).map(label).join("")}\0`;
const question = (text: string, type = 1) => `${name(text)}\0${String.fromCharCode(type)}\0\x01`;
const u16 = (value: number) => String.fromCharCode(value >> 8, value & 0xff);
const message = (flags: number, counts: readonly number[], rest: string) => bytesOf(`\0\x01${u16(flags)}${counts.map(u16).join("")}${rest}`);
const query = (...questions: readonly string[]) => message(0x0100, [questions.length, 0, 0, 0], questions.join(""));
const record = (type: number, data: string, owner = "\xc0\x0c") => `${owner}${u16(type)}\0\x01\0\0\0\x05${u16(data.length)}${data}`;
const response = (section: number, records: string, count = 1) => message(0x8180, [1, ...[1, 2, 3].map((at) => (at === section ? count : 0))], question("aa.com") + records);
const overTcp = (...messages: readonly Uint8Array[]) => Uint8Array.from(Buffer.concat(messages.flatMap((one) => [bytesOf(u16(one.length)), one])));

const namesOf = (bytes: Uint8Array) => play(DNS_APPLICATION, [["to-server", bytes]], UDP).transactions.map((one) => one["dns.query to-server"] ?? []);
const eventsOf = (bytes: Uint8Array) => play(DNS_APPLICATION, [["to-server", bytes]], UDP).transactions.map(({ events = [] }) => events);

describe("dns.query", () => {
  test.each<readonly [what: string, bytes: Uint8Array, names: readonly (readonly string[])[]]>([
    ["as sent, in its letter case", query(question("WwW.Example.COM")), [["WwW.Example.COM"]]],
    ["one instance a question", query(question("two.a"), question("two.b")), [["two.a", "two.b"]]],
    ["none for the root", query(question("")), [[]]],
    ["bytes without escapes, dots in labels too", query(`${label("a.\x01\xff\\")}${question("z.d")}`), [["a.\x01\xff\\.z.d"]]],
    ["pointers forward", query("\x01a\xc0\x12\0\x01\0\x01", "\x02aa\0\0\x01\0\x01"), [["a", "aa"]]],
    ["what is behind the questions is not read", message(0x0100, [1, 1, 0, 0], `${question("aa.com")}xx`), [["aa.com"]]],
    ["a length of label of 64", query("\x40aa\0\0\x01\0\x01"), []],
    ["a pointer out of the message", query("\x01a\xc0\xff\0\x01\0\x01"), []],
    ["a pointer to itself", query("\xc0\x0c\0\x01\0\x01"), []],
    ["255 labels", query(question(Array.from({ length: 255 }, () => "a").join("."))), [[Array.from({ length: 255 }, () => "a").join(".")]]],
    ["256 labels", query(question(Array.from({ length: 256 }, () => "a").join("."))), []],
    ["fewer questions than it says", message(0x0100, [2, 0, 0, 0], question("aa.com")), []],
    ["a response where a query should be", response(0, ""), []],
  ])("%s", (_, bytes, names) => {
    expect(namesOf(bytes)).toEqual(names);
  });

  test("is cut at 1,025 bytes, with an event", () => {
    const long = Array.from({ length: 103 }, () => "a".repeat(9)).join(".");
    expect(namesOf(query(question(long)))).toEqual([[long.slice(0, 1025)]]);
    expect(eventsOf(query(question(long)))).toEqual([["name_too_long"]]);
  });

  test("of a loop is cut after 255 steps, with events", () => {
    const loop = query("\x01a\xc0\x0c\0\x01\0\x01");
    expect(namesOf(loop)).toEqual([[Array.from({ length: 128 }, () => "a").join(".")]]);
    expect(eventsOf(loop)).toEqual([["name_too_long", "too_many_labels"]]);
  });
});

describe("responses", () => {
  const isRead = (bytes: Uint8Array) => play(DNS_APPLICATION, [["to-client", bytes]], UDP).transactions.length === 1;

  test.each([
    ["a record", 1, record(1, "\x01\x02\x03\x04"), true],
    ["an address of five bytes", 1, record(1, "12345"), true],
    ["an empty record", 1, record(1, ""), false],
    ["a name that points nowhere", 1, record(5, "\xc0\xff"), false],
    ["a name that is not whole", 1, record(5, "\x05aa"), false],
    ["bytes behind a name", 1, record(5, "\x02aa\0zz"), true],
    ["a start of authority that is not whole", 1, record(6, "\x01a\0\x01b\0\0\0"), false],
    ["a mail exchange without a name", 1, record(15, "\0"), false],
    ["a text that is not whole", 1, record(16, "\x09aa"), false],
    ["a service without a name", 1, record(33, "\0\x01"), false],
    ["a fingerprint of one byte", 1, record(44, "\0"), false],
    ["an authority that is not whole", 2, record(1, "1234").slice(0, -1), false],
    ["an authority with a bad name", 2, record(1, "1234", "\xc0\xff"), false],
    ["an additional record that is not whole", 3, record(1, "1234").slice(0, -1), true],
    ["an additional record with a bad name", 3, record(1, "1234", "\xc0\xff"), true],
    ["options", 3, record(41, "\0\x01\0\x05a", "\0"), true],
  ] as const)("with %s", (_, section, records, expected) => {
    expect(isRead(response(section, records))).toBe(expected);
  });

  test("say the outcome, types, and names of records and what they point to", () => {
    const { transactions, changes } = play(DNS_APPLICATION, [["to-client", response(1, record(5, name("b.org")) + record(1, "1234", name("c.net")), 2)]], UDP);
    expect(changes).toEqual(["to-client 255"]);
    expect(transactions).toEqual([{
      "dns.response.rrname to-client": ["aa.com", "aa.com", "c.net", "b.org"], "dns.queries.rrname to-client": ["aa.com"], "dns.answers.rrname to-client": ["aa.com", "c.net"],
      "dns.opcode to-client": [0], "dns.rcode to-client": [0], "dns.rrtype to-client": [1, 5, 1],
    }]);
  });
});

test("flags that must be zero and unknown opcodes are events", () => {
  expect(eventsOf(message(0x0140, [1, 0, 0, 0], question("a")))).toEqual([["z_flag_set"]]);
  expect(eventsOf(message(0x7900, [1, 0, 0, 0], question("a")))).toEqual([["invalid_opcode"]]);
});

describe("over TCP", () => {
  const one = query(question("aa.com"));
  const turns: readonly Turn[] = [["to-server", overTcp(one, bytesOf(""), query(question("bb.com")))], ["to-client", overTcp(response(1, record(1, "1234")))]];

  test("each message is a transaction; empty ones are none", () => {
    expect(play(DNS_APPLICATION, turns).changes).toEqual(["to-server 255", "to-server 255", "to-client 255"]);
    expectSameHoweverCut(DNS_APPLICATION, turns);
  });

  test("one that cannot be read ends the connection's, of both sides", () => {
    const broken: readonly Turn[] = [["to-server", overTcp(one, bytesOf("xxxxx"), one)], ["to-client", overTcp(response(0, ""))]];
    expect(play(DNS_APPLICATION, broken).transactions).toHaveLength(1);
    expectSameHoweverCut(DNS_APPLICATION, broken);
  });

  test("hostile bytes neither throw nor grow memory", () => {
    expectSafe(DNS_APPLICATION, turns);
    expectSafe(DNS_APPLICATION, [["to-server", one], ["to-client", response(1, record(5, "\x02aa\0"))]], UDP.flow);
  });

  test("a message full of pointers to its longest name is given up before it costs much", () => {
    const long = Array.from({ length: 100 }, () => "a".repeat(9)).join(".");
    const repeated = Array.from({ length: 9000 }, () => "\xc0\x0c\0\x01\0\x01").join("");
    expect(namesOf(message(0x0100, [9001, 0, 0, 0], question(long) + repeated))).toEqual([]);
  });
});

describe("recognition", () => {
  const verdict = (bytes: Uint8Array, serverPort: number, direction: Direction = "to-server", transport: "tcp" | "udp" = "udp") =>
    DNS_APPLICATION.recognize?.({ flow: { transport, clientPort: 53, serverPort }, direction, bytes, other: new Uint8Array(0) });
  const one = query(question("aa.com"));

  test("asks for the server's port, as Suricata does", () => {
    expect([verdict(one, 53), verdict(one, 5353), verdict(one, 5300)]).toEqual(["yes", "no", "no"]);
  });

  test("takes odd types and classes, and names of NetBIOS", () => {
    expect(verdict(query(`${name("aa")}\0\0\x07\x07`), 53)).toBe("yes");
    expect(verdict(query(question("EJFDEBFEEBFACACACACACACACACACAAA", 32)), 53)).toBe("yes");
  });

  test("takes no other text, no header alone and no response for a query", () => {
    for (const bytes of [bytesOf("GET / HTTP/1.1\r\nHost: aaa\r\n\r\n"), message(0x100, [1, 0, 0, 0], ""), response(0, "")]) expect(verdict(bytes, 53)).toBe("no");
    expect(verdict(response(0, ""), 53, "to-client")).toBe("yes");
  });

  test("waits for the header over TCP", () => {
    const stream = overTcp(one);
    expect([verdict(stream.subarray(0, 13), 53, "to-server", "tcp"), verdict(stream.subarray(0, 14), 53, "to-server", "tcp")]).toEqual(["more", "yes"]);
  });

  test("never throws", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(["no", "yes"]).toContain(verdict(bytes, 53));
    }));
  });
});
