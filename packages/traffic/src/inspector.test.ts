import { TCP_FLAG } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { seededMutations, seededRandom } from "../../packets/src/testing/hostile.ts";
import { createInspection } from "./inspector.ts";
import { play, playSegments, segmentsOf, turn } from "./testing/conversation.ts";
import { playDatagrams } from "./testing/datagrams.ts";

const NOTHING = new Uint8Array(0);
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

describe("recognition", () => {
  test.each([
    ["tls", Buffer.from("1603010200010001fc0303", "hex").toString("latin1")], ["http", "GET / HTTP/1.1\r\n"], ["http", "HTTP/1.1 200 OK\r\n"], ["http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["ssh", "SSH-2.0-x\r\n"], ["smtp", "220 x ESMTP y\r\n"], ["smtp", "ehlo x\r\n"], ["ftp", "220 ProFTPD Server (FTP)\r\n"], ["pop3", "+OK ready\r\n"], ["imap", "* OK ready\r\n"],
    ["smb", "\0\0\x00\x90\xfeSMB@\0"], ["dns", "\x00\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x02\0\x01"],
  ])("finds %s in the first bytes of either side, on any port", (service, first) => {
    expect(play([turn(0, first)]).service).toBe(service);
    expect(play([turn(1, first)]).service).toBe(service);
    expect(play([turn(0, first)], { size: 1 }).service).toBe(service);
  });

  test.each([
    "GET the milk\r\n", "HELLO there\r\n", "220 7 apples\r\n", "SSX-2.0\r\n", "\x16\x03\x09\0\x20\x01", "\0\0\0\0", "\x17\x03\x03\0\0", "HTTP is fun", "RTSP/1.0 200 OK\r\n", "OPTIONS sip:a@b SIP/2.0\r\n",
  ])("finds nothing in %j", (first) => {
    const { service, counters, messages } = play([turn(0, first), turn(1, "\xff\xfe\xfd\xfc")]);
    expect([service, messages.length, counters.heldBytes]).toEqual(["", 0, 0]);
  });

  test("gives a connection up that nobody knows, after one segment of each side", () => {
    const inspection = createInspection<null>({ onMessage: () => expect.fail("said something") });
    const inspector = inspection.open(null);
    inspector.segment(0, 99, 0, TCP_FLAG.syn, NOTHING, 0);
    inspector.segment(1, 499, 100, TCP_FLAG.syn | TCP_FLAG.ack, NOTHING, 0);
    inspector.segment(0, 100, 500, TCP_FLAG.ack, bytes("\xaa\xbb\xcc"), 0);
    expect(inspector.isDone).toBe(false);
    inspector.segment(1, 500, 103, TCP_FLAG.ack, bytes("\xdd\xee"), 0);
    expect([inspector.isDone, inspector.service, inspection.counters().unrecognized, inspection.counters().heldBytes]).toEqual([true, "", 1, 0]);
  });

  test("knows a connection of TLS that it joined late, and wants nothing of it", () => {
    const { service, isDone, messages } = play([turn(0, "\x17\x03\x03\0\x20".padEnd(37, "x")), turn(1, "\x17\x03\x03\0\x20".padEnd(37, "x"))], { isMidstream: true });
    expect([service, isDone, messages.length]).toEqual(["tls", true, 0]);
  });

  test("waits for the beginning that comes late", () => {
    const segments = segmentsOf([turn(0, "GET /late HTTP/1.1\r\n"), turn(0, "Host: x\r\n\r\n")]);
    const [syn, synAck, ack, first, second, ...rest] = segments;
    if (!syn || !synAck || !ack || !first || !second) throw new Error("too few segments");
    expect(playSegments([syn, synAck, ack, second, first, ...rest]).messages).toMatchObject([{ kind: "request", target: "/late", host: "x" }]);
  });
});

describe("memory", () => {
  const limits = { total: 512 * 1024 };

  test("stays within its bound, however many connections wait", () => {
    const inspection = createInspection<number>({ limits, onMessage: () => undefined });
    let peak = 0;
    const inspectors = Array.from({ length: 2000 }, (_, index) => {
      const inspector = inspection.open(index);
      inspector.segment(0, 99, 0, TCP_FLAG.syn, NOTHING, 0);
      // A head without end, a handshake without end, a hole that is never filled.
      const first = [bytes(`GET /${"x".repeat(900)}`), bytes(`\x16\x03\x01\x3f\xff\x01\x00\x80\x00${"x".repeat(900)}`)][index % 3];
      inspector.segment(0, first ? 100 : 150, 0, TCP_FLAG.ack, first ?? bytes("later".repeat(200)), 0);
      peak = Math.max(peak, inspection.counters().heldBytes);
      return inspector;
    });
    expect(peak).toBeLessThanOrEqual(limits.total);
    expect(peak).toBeGreaterThan(limits.total / 2);
    expect(inspection.counters().evictions).toBeGreaterThan(1000);
    expect(inspectors.filter(({ isDone }) => isDone).length).toBe(inspection.counters().evictions);
    for (const inspector of inspectors) inspector.end();
    expect(inspection.counters().heldBytes).toBe(0);
  });

  test("takes first what is not recognized, then what has gaps, and of those the oldest", () => {
    const ended: string[] = [];
    const inspection = createInspection<string>({ limits: { total: 40_000 }, onMessage: () => undefined });
    const open = (name: string, payload: string, at: number) => {
      const inspector = inspection.open(name);
      inspector.segment(0, 99, 0, TCP_FLAG.syn, NOTHING, at);
      inspector.segment(0, 100, 0, TCP_FLAG.ack, bytes(payload), at);
      return [name, inspector] as const;
    };
    const whole = open("whole", "GET / HTTP/1.1\r\n\r\n", 1);
    const unknown = open("unknown", "GE", 2);
    const partial = open("partial", "GET / HTTP/1.1\r\n\r\n", 3);
    partial[1].segment(0, 150, 0, TCP_FLAG.ack, bytes("x"), 3);
    partial[1].segment(1, 500, 151, TCP_FLAG.ack, NOTHING, 3);
    for (let at = 4; at < 60 && ended.length < 3; at += 1) {
      open(`later ${at}`, "GET / HTTP/1.1\r\n\r\n", at);
      for (const [name, { isDone }] of [whole, unknown, partial]) if (isDone && !ended.includes(name)) ended.push(name);
    }
    expect(ended).toEqual(["unknown", "partial", "whole"]);
  });

  test("of requests that are never answered is bounded", () => {
    const inspection = createInspection<null>({ onMessage: () => undefined });
    const inspector = inspection.open(null);
    let sequence = 100;
    for (let index = 0; index < 500; index += 1) {
      const payload = bytes(`GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`);
      inspector.segment(0, sequence, 0, TCP_FLAG.ack, payload, 0);
      sequence += payload.length;
    }
    expect(inspection.counters().messages).toBe(500);
    expect(inspection.counters().heldBytes).toBeLessThan(100_000);
  });
});

test("random segments of any kind throw nothing, and leave nothing behind", () => {
  const random = seededRandom(17);
  const seeds = ["GET / HTTP/1.1\r\nContent-Length: 20\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "SSH-2.0-x\r\n\0\0\0\x0c\x0a\x14", "220 x ESMTP FTP\r\n", "EHLO x\r\nDATA\r\n",
    "USER x\r\nPASS y\r\n", "\x16\x03\x01\x00\x04\x01\x00\x00\x00", "\0\0\x00\x44\xfeSMB@\0".padEnd(72, "\0"), "\x00\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x02\0\x01", "CONNECT a:1 HTTP/1.1\r\n\r\n"].map(bytes);
  const inspection = createInspection<null>({ limits: { total: 256 * 1024, httpBody: 64 }, onMessage: () => undefined });
  for (let round = 0; round < 1500; round += 1) {
    const inspector = inspection.open(null);
    const sample = seeds[round % seeds.length] as Uint8Array;
    const [first, second] = [random(2) === 0 ? 0xffff_fff0 : 100, 300];
    for (const damaged of seededMutations(sample, 12, round + 1)) {
      const side = random(3) === 0 ? 1 : 0;
      const flags = [TCP_FLAG.ack, TCP_FLAG.ack, TCP_FLAG.ack, TCP_FLAG.syn, TCP_FLAG.fin, TCP_FLAG.rst, 0][random(40) % 7] ?? 0;
      inspector.segment(side, ((side === 0 ? first : second) + random(150)) >>> 0, random(500), random(4) === 0 ? flags : TCP_FLAG.ack, damaged, round);
    }
    inspector.end();
    expect(inspection.counters().heldBytes).toBe(0);
    playDatagrams([{ side: 0, bytes: sample }]);
  }
});
