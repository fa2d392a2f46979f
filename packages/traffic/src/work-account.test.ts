/** What bytes of a few kinds make the parsers do, counted: the cost of a byte is bounded, whatever a sender sends. */
import { TCP_FLAG } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createInspection } from "./inspector.ts";
import { play, turn } from "./testing/conversation.ts";
import { createSpareWork, earn, FIRST_CREDIT, MESSAGE_COST, STEP_COST } from "./work-account.ts";

const SEGMENT_BYTES = 1460;
const SEGMENTS = 200;

/** Plays the same line again and again, in whole segments, behind a beginning that names the protocol. */
function flood(first: string, line: string, spareWork = 0) {
  const inspection = createInspection<null>({ limits: { spareWork }, onMessage: () => undefined });
  const inspector = inspection.open(null);
  const payload = new Uint8Array(Buffer.from(line.repeat(Math.ceil((SEGMENT_BYTES * SEGMENTS) / line.length)), "latin1"));
  let sequence = 100;
  const say = (bytes: Uint8Array) => {
    inspector.segment(0, sequence, 0, TCP_FLAG.ack, bytes, 0);
    sequence += bytes.length;
  };
  inspector.segment(0, 99, 0, TCP_FLAG.syn, new Uint8Array(0), 0);
  say(new Uint8Array(Buffer.from(first, "latin1")));
  for (let at = 0; at < payload.length; at += SEGMENT_BYTES) say(payload.subarray(at, at + SEGMENT_BYTES));
  const { service } = inspector;
  return { ...inspection.counters(), service, octets: sequence - 100 };
}

const QUESTION = "\0\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x02\0\x01";
const SMB = `\0\0\0\x40\xfeSMB${"\0".repeat(60)}`;

describe("a sender of messages of a few bytes", () => {
  test.each([
    ["smtp", "EHLO x\r\n", "x\n"], ["smtp", "EHLO x\r\n", "NOOP\n"], ["smtp", "220 x ESMTP\r\n", "250\n"], ["smtp", "220 x ESMTP\r\n220-\r\n", "x\n"], ["ftp", "220 FTP\r\n", "200\n"],
    ["http", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.0\n\n"], ["http", "HTTP/1.1 204 x\r\n\r\n", "HTTP/1.1 204\n\n"], ["dns", QUESTION, "\0\x0c\0\x07\x01\0\0\0\0\0\0\0\0\0"],
    ["smb", SMB, "\x85\0\0\0"],
  ])("gets no more of %s (%j, %j) than its bytes pay for, and is counted", (service, first, line) => {
    const { messages, octets, service: found, steps, tooCostly } = flood(first, line);
    expect(found).toBe(service);
    expect(tooCostly).toBe(1);
    expect(steps).toBeGreaterThan(0);
    expect(steps * STEP_COST + messages * MESSAGE_COST).toBeLessThan(octets + SEGMENTS * 64 + 64 + FIRST_CREDIT + MESSAGE_COST);
    // The flood itself is hardly read.
    expect(steps).toBeLessThan(octets / line.length / 20);
  });

  test("of heads that are nothing but short fields is given up", () => {
    const { messages, tooCostly } = flood("GET / HTTP/1.1\r\n\r\n", `GET / HTTP/1.0\n${"a:\n".repeat(470)}\n`);
    expect(tooCostly).toBe(1);
    expect(messages).toBeLessThan(5);
  });

  test.each([
    ["newlines in HTTP", "GET / HTTP/1.1\r\n\r\n", "\r\n"], ["newlines in SMTP", "EHLO x\r\n", "\n"], ["newlines of a server", "220 x ESMTP\r\n", "\r\n"],
    ["chunks of a byte", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "1\nx\n"],
  ])("may send %s for as long as it likes: they are passed over at once", (_, first, line) => {
    const { steps, tooCostly } = flood(first, line);
    expect(tooCostly).toBe(0);
    expect(steps).toBeGreaterThan(SEGMENTS / 2);
    expect(steps).toBeLessThan(SEGMENTS * 3);
  });

  test("of hellos has a few of them decoded", () => {
    const hello = new Uint8Array(Buffer.from(`160301002d010000290303${"00".repeat(32)}00000213010100`, "hex"));
    expect(play([turn(0, hello)]).messages).toHaveLength(1);
    expect(play([turn(0, new Uint8Array(Buffer.concat(Array.from({ length: 100 }, () => hello))))]).messages).toHaveLength(4);
  });
});

describe("whoever says what it must", () => {
  test("is read to its end: mails to many in one connection, with commands sent at once", () => {
    const [mails, recipients] = [100, 50];
    const mail = [
      turn(0, `MAIL FROM:<a@b.example>\r\n${"RCPT TO:<c@d.example>\r\n".repeat(recipients)}DATA\r\n`),
      turn(1, `${"250 ok\r\n".repeat(recipients + 1)}354 go\r\n`), turn(0, "hello\r\n.\r\n"), turn(1, "250 ok\r\n"),
    ];
    const { counters, messages } = play([turn(1, "220 x ESMTP\r\n"), turn(0, "EHLO x\r\n"), turn(1, "250 PIPELINING\r\n"), ...Array.from({ length: mails }, () => mail).flat()]);
    expect(counters.tooCostly).toBe(0);
    expect(messages).toHaveLength(3 + mails * (2 * recipients + 5));
  });

  test("is read behind chunks and newlines", () => {
    const chunks = `POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(5000)}0\r\n\r\n`;
    const { messages } = play([turn(0, `${chunks}${"\r\n".repeat(5000)}GET /2 HTTP/1.1\r\n\r\n`)], {}, { spareWork: 0 });
    expect(messages).toMatchObject([{ target: "/1" }, { target: "/2" }]);
  });
});

describe("what is spare", () => {
  test("comes with time, is bounded, and is everybody's", () => {
    const spare = createSpareWork(1000);
    const [one, other] = [{ credit: -600 }, { credit: -600 }];
    expect([spare.cover(one, 0), one.credit]).toEqual([true, 0]);
    expect([spare.cover(other, 0), other.credit]).toEqual([false, -600]);
    expect(spare.cover(other, 200_000)).toBe(true);
    expect(spare.cover({ credit: -1001 }, 100e6)).toBe(false);
    // An older file is read.
    expect(spare.cover({ credit: -1000 }, 5)).toBe(true);
    expect(spare.cover({ credit: -1 }, 5)).toBe(false);
  });

  test("is not needed while bytes pay, and what they pay is bounded", () => {
    const side = { credit: 0 };
    for (let index = 0; index < 100; index += 1) earn(side, 60_000);
    expect(side.credit).toBe(16 * 1024);
  });
});
