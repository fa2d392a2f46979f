import { describe, expect, test } from "vitest";
import { expectSafe, expectSameHoweverCut, play, type Turn } from "../testing/play-application.ts";
import { SSH_APPLICATION } from "./ssh.ts";

/** Values are those that Suricata 7.0.10 has for the same conversations. */

const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const u32 = (value: number) => String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
const packet = (payload: string, padding = 10) => `${u32(payload.length + padding + 1)}${String.fromCharCode(padding)}${payload}${"\0".repeat(padding)}`;
const NAMES = ["curve25519-sha256,ext-info-c", "ssh-ed25519", "aes128-ctr", "aes256-ctr", "hmac-sha1", "hmac-sha2", "none", "zlib", "", ""];
const KEX = packet(`\x14${"\0".repeat(16)}${NAMES.map((names) => u32(names.length) + names).join("")}\0\0\0\0\0`);
const NEW_KEYS = packet("\x15");
const CLIENT = "SSH-2.0-Cli_1.0 some comment\r\n";
const SERVER = "SSH-1.99-Srv_9\r\n";
const turns = (...all: readonly (readonly ["<" | ">", string])[]): readonly Turn[] => all.map(([mark, text]) => [mark === ">" ? "to-server" : "to-client", latin1(text)]);
const WHOLE = turns(["<", SERVER], [">", CLIENT], [">", KEX], ["<", KEX], [">", NEW_KEYS], ["<", NEW_KEYS]);

function seen(conversation: readonly Turn[]) {
  const { transactions } = play(SSH_APPLICATION, conversation);
  expect(transactions).toHaveLength(1);
  return transactions[0] ?? {};
}

test("a connection has banners, and the algorithms of its direction whoever's they look like", () => {
  expect(seen(WHOLE)).toEqual({
    "ssh.proto to-server": ["2.0"], "ssh.software to-server": ["Cli_1.0"], "ssh.proto to-client": ["1.99"], "ssh.software to-client": ["Srv_9"],
    "ssh.hassh to-server": ["da396fb0f249e33d7f418c7b68338e69"], "ssh.hassh.string to-server": ["curve25519-sha256,ext-info-c;aes128-ctr;hmac-sha1;none"],
    "ssh.hassh.server to-client": [expect.stringMatching(/^[0-9a-f]{32}$/)], "ssh.hassh.server.string to-client": ["curve25519-sha256,ext-info-c;aes256-ctr;hmac-sha2;zlib"],
  });
  expect(play(SSH_APPLICATION, WHOLE).changes).toEqual(["to-client 1", "to-server 1", "to-server 2", "to-client 2", "to-server 255", "to-client 255"]);
});

describe("a banner", () => {
  test.each<readonly [what: string, line: string, version: string | undefined, software: string | undefined, events: readonly string[]]>([
    ["with a line feed alone", "SSH-2.0-Cli\n", "2.0", "Cli", []],
    ["with a space before the software", "SSH-2.0- x\r\n", "2.0", " x", []],
    ["with dashes and comments", "SSH-2.0-a-b c d\r\n", "2.0", "a-b", []],
    ["of version 1", "SSH-1.5-x\r\n", "1.5", "x", []],
    ["with two returns", "SSH-2.0-\xffabc\r\r\n", "2.0", "\xffabc", []],
    ["of 255 bytes", `SSH-2.0-${"x".repeat(247)}\r\n`, "2.0", "x".repeat(247), []],
    ["of 256 bytes", `SSH-2.0-${"x".repeat(248)}\r\n`, "2.0", "x".repeat(248), ["long_banner"]],
    ["without software", "SSH-2.0-\r\n", undefined, undefined, ["invalid_banner"]],
    ["without a dash", "SSH-2.0\r\n", undefined, undefined, ["invalid_banner"]],
    ["in lower case", "ssh-2.0-aaa\r\n", undefined, undefined, ["invalid_banner"]],
    ["behind a greeting", `hello\r\n${SERVER}`, undefined, undefined, ["invalid_banner"]],
    ["that does not end", "SSH-2.0-abc", undefined, undefined, []],
  ])("%s", (_, line, version, software, events) => {
    const found = seen(turns(["<", line]));
    expect([found["ssh.proto to-client"]?.[0], found["ssh.software to-client"]?.[0], found["events"] ?? []]).toEqual([version, software, events]);
  });
});

test("after a line that is no banner the other's banner is read, and no key exchange", () => {
  const found = seen(turns(["<", `hello\r\n${SERVER}`], [">", CLIENT + KEX], ["<", KEX]));
  expect(Object.keys(found)).toEqual(["events", "ssh.proto to-server", "ssh.software to-server"]);
});

test("a packet of an impossible length ends its side alone", () => {
  const found = seen(turns(["<", SERVER], [">", CLIENT], [">", `\xff\xff\xff\xff${"x".repeat(50)}`], ["<", KEX]));
  expect([found["ssh.hassh to-server"], found["ssh.hassh.server.string to-client"]]).toEqual([undefined, ["curve25519-sha256,ext-info-c;aes256-ctr;hmac-sha2;zlib"]]);
});

test("packets before the key exchange are passed over", () => {
  expect(seen(turns([">", CLIENT + packet("\x02") + KEX]))["ssh.hassh to-server"]).toEqual(["da396fb0f249e33d7f418c7b68338e69"]);
});

test("conversations are the same however they are cut, and hostile ones do no harm", () => {
  expectSameHoweverCut(SSH_APPLICATION, WHOLE);
  expectSafe(SSH_APPLICATION, WHOLE);
});
