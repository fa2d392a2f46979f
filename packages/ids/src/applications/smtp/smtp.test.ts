import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { playApplication, type PlayOptions, type Said } from "../testing/play-conversation.ts";
import { SMTP_APPLICATION } from "./smtp.ts";

const play = (said: readonly Said[], options?: PlayOptions) => playApplication(SMTP_APPLICATION, said, options);

const BEGINNING: readonly Said[] = [
  ["<", "220 mx ready\r\n"], [">", "EHLO cl\r\n"], ["<", "250-mx\r\n250 STARTTLS\r\n"], [">", "MAIL FROM:<a@x> SIZE=1\r\n"], ["<", "250 ok\r\n"], [">", "RCPT TO:<b@y>\r\n"], ["<", "250 ok\r\n"],
  [">", "RCPT TO:<c@y>\r\n"], ["<", "250 ok\r\n"], [">", "DATA\r\n"], ["<", "354 go\r\n"],
];
const MAIL = 'From: A <a@x>\r\nTo: b@y\r\nSubject: Hi\r\n there\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="BB"\r\n\r\npre\r\n--BB\r\nContent-Type: text/plain\r\n\r\nhello http://evil.com/x body\r\n--BB\r\n'
  + 'Content-Type: application/octet-stream; name="n.bin"\r\nContent-Disposition: attachment; filename="a.exe"\r\nContent-Transfer-Encoding: base64\r\n\r\nTVpIZWxs\r\nbyBXb3JsZA==\r\n--BB\r\n'
  + "Content-Type: text/html\r\nContent-Disposition: attachment; filename=q.html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<a=3D1>soft=\r\nline\r\n..dot\r\n--BB--\r\n.\r\n";
const mailOf = (mail: string): readonly Said[] => [...BEGINNING, [">", mail], ["<", "250 queued\r\n"]];

// Suricata 7.0.10 was asked for the files of each.
describe("a mail", () => {
  test("has its envelope, its fields, its files and the pages that it names", () => {
    const { transactions, heldBytes } = play([...mailOf(MAIL), [">", "QUIT\r\n"], ["<", "221 bye\r\n"]]);
    expect(Object.fromEntries(transactions[0]?.buffers ?? [])).toEqual({
      "smtp.helo to-server": ["cl"], "smtp.mail_from to-server": ["<a@x>"], "smtp.rcpt_to to-server": ["<b@y>", "<c@y>"], "email.from to-server": ["A <a@x>"], "email.to to-server": ["b@y"],
      "email.subject to-server": ["Hi there"], "email.url to-server": ["evil.com/x"], "file.data to-server": ["MZHello World", "<a=1>softline\r\n..dot\r\n"],
      "file.name to-server": ["a.exe", "q.html"],
    });
    expect(transactions[0]?.numbers).toMatchObject({ "file.size to-server": [13, 22] });
    expect([transactions.length, heldBytes]).toEqual([2, 0]);
  });

  test.each([
    ["Subject: x\r\nContent-Transfer-Encoding: base64\r\nContent-Type: application/zip; name=z.zip\r\n\r\nTVpIZWxs\r\nbyBXb3JsZA==\r\n.\r\n", ["MZHello World"], ["z.zip"]],
    ['Subject: x\r\nContent-Type: text/plain; name="t.txt"\r\n\r\nline one\r\nline two\r\n.\r\n', ["line one\r\nline two"], ["t.txt"]], ["Subject: x\r\n\r\nbody\r\n..dotted\r\n.\r\n", undefined, undefined],
    ["Content-Type: message/rfc822\r\n\r\nSubject: y\r\nContent-Type: a/b; name=i\r\n\r\ninner\r\n.\r\n", ["inner"], ["i"]],
  ])("%j has files", (mail, data, names) => {
    const { buffers } = play(mailOf(mail)).transactions[0] ?? {};
    expect([buffers?.get("file.data to-server"), buffers?.get("file.name to-server")]).toEqual([data, names]);
  });

  test("is followed by another one, which is a transaction of its own", () => {
    const second: readonly Said[] = [[">", "MAIL FROM:<z@x>\r\n"], ["<", "250 ok\r\n"], [">", "DATA\r\n"], ["<", "354 go\r\n"], [">", "Subject: two\r\n\r\nsecond\r\n.\r\n"]];
    const { transactions } = play([...mailOf("Subject: one\r\n\r\nfirst\r\n.\r\n"), ...second]);
    expect(transactions.map(({ buffers }) => [buffers.get("email.subject to-server"), buffers.get("smtp.mail_from to-server")])).toEqual([[["one"], ["<a@x>"]], [["two"], ["<z@x>"]]]);
  });

  test("in pieces (BDAT) is read as one", () => {
    const { buffers } = play([...BEGINNING.slice(0, -2), [">", "BDAT 45\r\nContent-Type: a/b; name=x\r\nSubject: s\r\n\r\nab\r\n"], ["<", "250 ok\r\n"], [">", "BDAT 4 LAST\r\ncdef"], ["<", "250 ok\r\n"]]).transactions[0] ?? {};
    expect(buffers?.get("email.subject to-server")).toEqual(["s"]);
  });

  test("that the server refuses is none", () => {
    const { transactions } = play([...BEGINNING.slice(0, -1), ["<", "554 no\r\n"], [">", "RSET\r\nMAIL FROM:<q@x>\r\n"]]);
    expect(transactions[0]?.events).toEqual(["data_command_rejected"]);
    expect(transactions[1]?.buffers.get("smtp.mail_from to-server")).toEqual(["<q@x>"]);
  });

  test("keeps to its bounds, whatever is attached", () => {
    const attached = `Content-Type: a/b; name=big\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${"QUJD".repeat(19)}\r\n`.repeat(30_000)}.\r\n`;
    const { transactions, peakBytes, heldBytes, changes } = play(mailOf(attached));
    expect(transactions[0]?.buffers.get("file.data to-server")?.[0]?.length).toBe(100 * 1024);
    expect([peakBytes < 300_000, heldBytes, changes < 20]).toEqual([true, 0, true]);
    expect(transactions[0]?.numbers).toMatchObject({ "file.size to-server": [30_000 * 57] });
  });
});

test("STARTTLS gives the connection to TLS, where the server agrees", () => {
  expect(play([["<", "220 mx\r\n"], [">", "EHLO x\r\n"], ["<", "250 STARTTLS\r\n"], [">", "STARTTLS\r\n"], ["<", "220 go\r\n"], [">", "\x16\x03\x01"]]).switches).toEqual(["tls"]);
  const refused = play([["<", "220 mx\r\n"], [">", "STARTTLS\r\n"], ["<", "454 no\r\n"], [">", "HELO y\r\n"]]);
  expect([refused.switches, refused.transactions[0]?.events]).toEqual([[], ["tls_rejected"]]);
});

test("lines of a login are in nothing that is seen", () => {
  const { transactions } = play([["<", "220 mx\r\n"], [">", "AUTH LOGIN\r\n"], ["<", "334 VXNlcg==\r\n"], [">", "c2VjcmV0\r\n"], ["<", "334 UGFzcw==\r\n"], [">", "MAIL FROM:<secret>\r\n"], ["<", "235 ok\r\n"], [">", "MAIL FROM:<a@b>\r\n"]]);
  expect(JSON.stringify(transactions.map(({ buffers }) => [...buffers]))).not.toContain("secret");
  expect(transactions[0]?.buffers.get("smtp.mail_from to-server")).toEqual(["<a@b>"]);
});

test("any bytes, however they are cut, throw nothing and hold nothing in the end", () => {
  const piece = fc.constantFrom("EHLO x\r\n", "DATA\r\n", "354 go\r\n", "--BB\r\n", "--BB--\r\n", MAIL, ".\r\n", "BDAT 30 LAST\r\n", "RSET\r\n", "STARTTLS\r\n", "220 x\r\n", "AUTH PLAIN\r\n", "x".repeat(5000), "\n", "334\r\n");
  const said = fc.array(fc.tuple(fc.constantFrom(">" as const, "<" as const), fc.oneof(piece, fc.uint8Array({ maxLength: 60 }))), { maxLength: 25 });
  fc.assert(fc.property(said, fc.integer({ min: 1, max: 300 }), (turns, size) => {
    expect(play(turns, { size }).heldBytes).toBe(0);
  }), { numRuns: 150 });
  const whole = play(mailOf(MAIL));
  for (const size of [1, 2, 5, 33]) expect(play(mailOf(MAIL), { size }).transactions).toEqual(whole.transactions);
});
