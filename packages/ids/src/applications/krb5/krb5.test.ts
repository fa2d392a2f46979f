import { encodeInteger, encodeTlv } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { expectSafe, expectSameHoweverCut, play, type Turn } from "../testing/play-application.ts";
import { KRB5_APPLICATION } from "./krb5.ts";

/** As Suricata 7.0.10 says of the same messages. */

const join = (...parts: readonly Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));
const sequence = (...parts: readonly Uint8Array[]) => encodeTlv(0x30, join(...parts));
const field = (number: number, value: Uint8Array) => encodeTlv(0xa0 + number, value);
const text = (value: string) => encodeTlv(0x1b, Uint8Array.from(Buffer.from(value)));
const principal = (type: number, ...parts: readonly string[]) => sequence(field(0, encodeInteger(type)), field(1, sequence(...parts.map(text))));
const encrypted = (type: number) => sequence(field(0, encodeInteger(type)), field(2, encodeTlv(4, new Uint8Array(16))));
const request = (type: number) => encodeTlv(0x60 + type, sequence(field(1, encodeInteger(5)), field(2, encodeInteger(type)), field(4, sequence(field(2, text("REALM"))))));
const ticket = (type: number) => encodeTlv(0x61, sequence(field(0, encodeInteger(5)), field(1, text("REALM")), field(2, principal(2, "krbtgt", "REALM")), field(3, encrypted(type))));
const reply = (type: number, own: number, inTicket: number) => encodeTlv(0x60 + type, sequence(
  field(0, encodeInteger(5)), field(1, encodeInteger(type)), field(3, text("REALM")), field(4, principal(1, "bob")), field(5, ticket(inTicket)), field(6, encrypted(own)),
));
const failure = (code: number) => encodeTlv(0x7e, sequence(field(0, encodeInteger(5)), field(1, encodeInteger(30)), field(6, encodeInteger(code)), field(9, text("REALM")), field(10, principal(2, "krbtgt", "REALM"))));

const UDP = { transport: "udp", serverPort: 88 } as const;
const NAMES = { "krb5.cname to-client": ["bob"], "krb5.sname to-client": ["krbtgt", "REALM"] };

test.each<readonly [what: string, direction: "to-server" | "to-client", bytes: Uint8Array, seen: Record<string, readonly unknown[]>]>([
  ["a request", "to-server", request(10), { "krb5.msg-type to-server": [10] }],
  ["a reply", "to-client", reply(11, 18, 18), { ...NAMES, "krb5.msg-type to-client": [11], "krb5.ticket-encryption to-client": ["18", "aes256-cts-hmac-sha1-96"] }],
  ["a weak reply", "to-client", reply(13, 23, 23), { ...NAMES, "events": ["weak_encryption"], "krb5.msg-type to-client": [13], "krb5.ticket-encryption to-client": ["23", "rc4-hmac", "weak"] }],
  ["a weak ticket in a strong reply", "to-client", reply(11, 18, 23), { ...NAMES, "krb5.msg-type to-client": [11], "krb5.ticket-encryption to-client": ["23", "rc4-hmac", "weak"] }],
  ["an error", "to-client", failure(25), { "krb5.msg-type to-client": [30], "krb5.error-code to-client": [25], "krb5.sname to-client": ["krbtgt", "REALM"] }],
])("%s is a transaction", (_, direction, bytes, seen) => {
  expect(play(KRB5_APPLICATION, [[direction, bytes]], { flow: UDP }).transactions).toEqual([seen]);
});

test("over TCP a length stands before each message", () => {
  const framed = (bytes: Uint8Array) => join(Uint8Array.of(0, 0, bytes.length >> 8, bytes.length & 0xff), bytes);
  const turns: readonly Turn[] = [["to-server", join(framed(request(10)), framed(request(12)))], ["to-client", framed(reply(11, 18, 18))]];
  expect(play(KRB5_APPLICATION, turns).changes).toEqual(["to-server 255", "to-server 255", "to-client 255"]);
  expectSameHoweverCut(KRB5_APPLICATION, turns);
  expectSafe(KRB5_APPLICATION, turns);
  expectSafe(KRB5_APPLICATION, [["to-server", request(10)], ["to-client", failure(25)]], UDP);
});

test("it is recognized on port 88 alone", () => {
  const verdict = (serverPort: number, transport: "tcp" | "udp", bytes: Uint8Array) => KRB5_APPLICATION.recognize?.({ flow: { transport, clientPort: 1, serverPort }, direction: "to-server", bytes, other: new Uint8Array(0) });
  expect([verdict(88, "udp", request(10)), verdict(888, "udp", request(10)), verdict(88, "udp", new Uint8Array(40))]).toEqual(["yes", "no", "no"]);
  expect([verdict(88, "tcp", join(new Uint8Array(4), request(10))), verdict(88, "tcp", Uint8Array.of(0, 0)), verdict(88, "tcp", Uint8Array.of(0x47, 0x45))]).toEqual(["yes", "more", "no"]);
});
