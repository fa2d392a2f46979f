import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STREAM_SERVICE_NAMES } from "./names.ts";
import { connectTo, converse, type Turn } from "../testing/converse.ts";
import { openForTest, type OpenedDecoys } from "../testing/opened.ts";

/** One decoy for all; each conversation is that of another source. */
let decoys: OpenedDecoys;
beforeAll(async () => {
  decoys = await openForTest(STREAM_SERVICE_NAMES);
  decoys.listen();
});
afterAll(() => decoys.close());
const lastOf = (source: string) => decoys.hits.findLast(({ source_ip: ip }) => ip === source);

const base64 = (text: string) => Buffer.from(text).toString("base64");
const login = (username: string, password: string) => `username=${username}&password=${password}`;
const post = (body: string) => `POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const rfb = Buffer.alloc(16, 7);
const startup = (fields: string) => {
  const body = Buffer.from(`${fields}\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.writeUInt32BE(196_608, 4);
  return Buffer.concat([head, body]);
};

/** Service → what a client says to it, what comes at last, and what is reported of it. */
const CONVERSATIONS: readonly [service: string, turns: readonly Turn[], until: RegExp, hit: object][] = [
  ["telnet", [[/login: $/, "root\r\n"], [/Password: $/, "toor\r\n"]], /Login incorrect[^]*login: $/, { stage: "credential", username: "root" }],
  ["telnet", [[/login: $/, Buffer.from("\xff\xfb\x18\xff\xfa\x18\x00xterm\xff\xf0back", "latin1")], [/back/, "up\r\n"], [/Password: $/, "Blue-Heron-4\r\n"]], /backup@files2:~\$ $/, { stage: "bait_credential", severity: "critical", username: "backup" }],
  ["ftp", [[/^220 /, "SYST\r\n"], [/^530 Please/, "USER admin\r\n"], [/^331/, "PASS x\r\n"]], /^530 Login/, { stage: "credential", username: "admin" }],
  ["http", [[/^$/, "GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: wget\r\n\r\n"]], /^HTTP\/1.1 302[^]*Location: \/login/, { stage: "banner", detail: "GET / wget" }],
  ["http", [[/^$/, "GET /login HTTP/1.1\r\n\r\n"], [/<form/, post(login("admin", "1234"))]], /^HTTP\/1.1 401[^]*Wrong user name/, { stage: "credential", username: "admin" }],
  ["http", [[/^$/, `GET / HTTP/1.1\r\nAuthorization: Basic ${base64("backup:Blue-Heron-4")}\r\n\r\n`]], /^HTTP\/1.1 401/, { stage: "bait_credential" }],
  ["http", [[/^$/, "PUT /x.jsp HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"]], /^HTTP\/1.1 405/, { stage: "file", detail: "/x.jsp: 3 bytes, SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }],
  ["http", [[/^$/, "nonsense\r\n\r\n"]], /^HTTP\/1.1 400/, { stage: "banner" }],
  ["smtp", [[/^220 /, "EHLO x\r\n"], [/250 CHUNKING/, `AUTH PLAIN ${base64("\0backup\0Blue-Heron-4")}\r\n`]], /^535 /, { stage: "bait_credential" }],
  ["smtp", [[/^220 /, "EHLO x\r\n"], [/250 CHUNKING/, "AUTH LOGIN\r\n"], [/^334 VXNlcm5hbWU6/, `${base64("joe")}\r\n`], [/^334 /, `${base64("pw")}\r\n`]], /^535 /, { stage: "credential", username: "joe" }],
  ["smtp", [[/^220 /, "HELO x\r\n"], [/^250 /, "MAIL FROM:<a@x>\r\n"], [/^250 /, "RCPT TO:<b@example.net>\r\n"]], /^554 /, { stage: "command" }],
  ["postgres", [[/^$/, Buffer.from([0, 0, 0, 8, 0xff, 0x53, 0x4d, 0x42])]], /0A000[^]*unsupported frontend protocol 65363\.19778: server supports 2\.0 to 3\.0/, { stage: "banner" }],
  ["http", [[/^$/, "OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n"]], /^HTTP\/1.1 200[^]*Allow: GET,POST,OPTIONS,HEAD/, { stage: "banner" }],
  ["pop3", [[/^\+OK /, "USER joe\r\n"], [/^\+OK/, "PASS x\r\n"]], /^-ERR \[AUTH\]/, { stage: "credential", username: "joe" }],
  ["imap", [[/^\* OK /, "a LOGIN joe \"x \\\" y\"\r\n"]], /^a NO /, { stage: "credential", username: "joe" }],
  ["imap", [[/^\* OK /, "a AUTHENTICATE PLAIN\r\n"], [/^\+ /, `${base64("\0backup\0Blue-Heron-4")}\r\n`]], /^a NO /, { stage: "bait_credential" }],
  ["redis", [[/^$/, "*1\r\n$4\r\nINFO\r\n"]], /^-NOAUTH/, { stage: "banner" }],
  ["redis", [[/^$/, "GET / HTTP/1.0\r\n"], [/^-ERR wrong number of arguments for 'get' command\r\n$/, "set a b\r\n"]], /^-NOAUTH/, { stage: "command", detail: "set a b" }],
  ["redis", [[/^$/, "QUERY a  b\r\n"]], /^-ERR unknown command `QUERY`, with args beginning with: `a`, `b`, \r\n$/, { stage: "command" }],
  ["redis", [[/^$/, "HELLO 4\r\n"], [/^-NOPROTO/, "hello 3 setname x\r\n"], [/^-NOAUTH HELLO must/, "HELLO 3 SETNAME x AUTH backup Blue-Heron-4\r\n"]], /^-WRONGPASS/, { stage: "bait_credential", username: "backup" }],
  ["redis", [[/^$/, "KEYS *\r\n"]], /^-NOAUTH/, { stage: "command", detail: "KEYS *" }],
  ["redis", [[/^$/, "*3\r\n$4\r\nAUTH\r\n$6\r\nbackup\r\n$12\r\nBlue-Heron-4\r\n"]], /^-WRONGPASS/, { stage: "bait_credential" }],
  ["memcached", [[/^$/, "version\r\n"], [/^VERSION/, "set k 0 0 3\r\n"], [/^$/, "abc\r\n"]], /^SERVER_ERROR/, { stage: "command" }],
  ["postgres", [[/^$/, Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])], [/^N$/, startup("user\0joe\0")], [/^R/, Buffer.concat([Buffer.from("p\0\0\0\x28"), Buffer.from(`md5${"0".repeat(32)}\0`)])]], /28P01/, { stage: "credential", username: "joe" }],
  ["vnc", [[/^RFB 003.008\n$/, "RFB 003.008\n"], [/^[^]{2}$/, Buffer.from([2])], [/^[^]{16}$/, rfb]], /Authentication failure/, { stage: "credential" }],
  ["print", [[/^$/, "%-12345X@PJL\r\n"]], /^$/, { stage: "file" }],
  ["banner", [], /^220 files2 ready\r\n$/, { stage: "touch" }],
];

describe("what a client says to a decoy", () => {
  test("is answered as the service would, and reported as far as it went", async () => {
    const talk = async ([service, turns, until, hit]: (typeof CONVERSATIONS)[number], index: number) => {
      const source = `127.0.1.${index + 1}`;
      await converse(await connectTo(decoys.portOf(service), source), turns, until);
      await expect.poll(() => lastOf(source), { message: `${service} of ${source}` }).toMatchObject({ decoy: "files2", service, destination_port: decoys.portOf(service), ...hit });
    };
    await Promise.all(CONVERSATIONS.map(talk));
    expect(decoys.counts.failures).toBe(0);
  });

  test("mysql: a wrong password is a guess, the bait's is bait, by its proof alone", async () => {
    const sha1 = (...parts: readonly Buffer[]) => createHash("sha1").update(Buffer.concat(parts)).digest();
    for (const [username, password, stage] of [["root", "x", "credential"], ["backup", "Blue-Heron-4", "bait_credential"]] as const) {
      const client = await connectTo(decoys.portOf("mysql"), "127.0.2.1");
      const [greeting] = (await once(client, "data")) as [Buffer];
      const version = greeting.indexOf(0, 5);
      expect(greeting.toString("latin1", 5, version)).toMatch(/MariaDB/);
      const scramble = Buffer.concat([greeting.subarray(version + 5, version + 13), greeting.subarray(version + 32, version + 44)]);
      const first = sha1(Buffer.from(password));
      const mask = sha1(scramble, sha1(first));
      const proof = Buffer.from(first.map((octet, index) => octet ^ (mask[index] ?? 0)));
      const fixed = Buffer.alloc(32);
      fixed.writeUInt32LE(0x0008_a205);
      const body = Buffer.concat([fixed, Buffer.from(`${username}\0`), Buffer.from([20]), proof, Buffer.from("mysql_native_password\0")]);
      client.write(Buffer.concat([Buffer.from([body.length, 0, 0, 1]), body]));
      const [answer] = (await once(client, "data")) as [Buffer];
      expect(answer.toString("latin1")).toMatch(/#28000Access denied for user/);
      await expect.poll(() => lastOf("127.0.2.1")?.stage).toBe(stage);
    }
  });

  test("https: the certificate is the decoy's own, and the same at each connection", async () => {
    const open = async () => {
      const socket: TLSSocket = connectTls({ port: decoys.portOf("https"), host: "127.0.0.1", localAddress: "127.0.2.2", rejectUnauthorized: false } as ConnectionOptions);
      await once(socket, "secureConnect");
      return socket;
    };
    const first = await open();
    const { subject, fingerprint256 } = first.getPeerCertificate();
    expect(subject.CN).toBe("files2");
    await converse(first, [[/^$/, post(login("admin", "1234"))]], /^HTTP\/1.1 401/);
    await expect.poll(() => lastOf("127.0.2.2")).toMatchObject({ service: "https", stage: "credential", username: "admin" });
    const second = await open();
    expect(second.getPeerCertificate().fingerprint256).toBe(fingerprint256);
    second.destroy();
    await expect.poll(() => decoys.evidence.flatMap(({ service, fingerprints }) => (service === "https" ? fingerprints : []))).toEqual([{ kind: "ja4", value: expect.stringMatching(/^t13[di]\d{4}[\dh]{2}_[0-9a-f]{12}_[0-9a-f]{12}$/) as string }]);
  });
});
