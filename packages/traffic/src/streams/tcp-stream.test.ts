import { TCP_FLAG } from "@lanthorn/packets";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptAcknowledgment, acceptSegment, createStreamCounters, createTcpStream, flushStream, type StreamOutput } from "./tcp-stream.ts";

const text = (value: string) => new Uint8Array(Buffer.from(value, "latin1"));

/** A stream whose bytes are collected as text; gaps stand as `[n]`. */
function collect(maxHeldBytes = 64 * 1024) {
  const stream = createTcpStream(0);
  const counters = createStreamCounters();
  const context = { counters, maxHeldBytes };
  let said = "";
  let held = 0;
  const output: StreamOutput = {
    onBytes: (_, bytes) => (said += Buffer.from(bytes).toString("latin1")),
    onGap: (_, octets) => (said += `[${octets}]`),
    onHeld: (octets) => (held += octets),
  };
  return {
    stream, counters,
    syn: (sequence: number, payload = "") => acceptSegment(stream, output, context, { sequence, flags: TCP_FLAG.syn, payload: text(payload), at: 0 }),
    put: (sequence: number, payload: string | Uint8Array, flags = 0) => {
      const bytes = typeof payload === "string" ? text(payload) : payload.slice();
      acceptSegment(stream, output, context, { sequence: sequence >>> 0, flags, payload: bytes, at: 0 });
      bytes.fill(0x2a);
    },
    acknowledge: (sequence: number) => acceptAcknowledgment(stream, output, context, sequence, 0),
    flush: () => flushStream(stream, output, context, 0),
    said: () => said,
    held: () => held,
  };
}

describe("a TCP stream", () => {
  test("hands over segments in order, and those before their turn later", () => {
    const stream = collect();
    stream.syn(99);
    stream.put(100, "ab");
    stream.put(104, "ef");
    stream.put(106, "gh");
    expect(stream.said()).toBe("ab");
    expect(stream.held()).toBeGreaterThan(4);
    stream.put(102, "cd");
    expect(stream.said()).toBe("abcdefgh");
    expect(stream.held()).toBe(0);
    expect(stream.counters).toMatchObject({ outOfOrder: 2, gaps: 0, conflicts: 0 });
  });

  test("takes data on the SYN, and wraps its sequence numbers", () => {
    const stream = collect();
    stream.syn(0xffff_fffd, "ab");
    stream.put(0, "cd");
    stream.put(4, "gh");
    stream.put(2, "ef");
    expect(stream.said()).toBe("abcdefgh");
  });

  test("starts in the middle with the first segment that has bytes", () => {
    const stream = collect();
    stream.put(500, "", TCP_FLAG.ack);
    stream.put(500, "xy");
    expect(stream.said()).toBe("xy");
    expect(stream.stream.isMidstream).toBe(true);
  });

  test("keeps the byte that came first, handed over or held, and counts what says otherwise", () => {
    const stream = collect();
    stream.syn(99);
    stream.put(100, "abcd");
    stream.put(100, "abcd");
    expect(stream.counters).toMatchObject({ retransmissions: 1, conflicts: 0 });
    stream.put(102, "XXef");
    expect(stream.counters).toMatchObject({ overlaps: 1, conflicts: 1 });
    stream.put(110, "kl");
    stream.put(108, "ijXX");
    expect(stream.counters.conflicts).toBe(2);
    stream.put(106, "ghYYZZmn");
    expect(stream.counters.conflicts).toBe(3);
    expect(stream.said()).toBe("abcdefghijklmn");
  });

  test("lets a keep-alive be one, whatever its byte is", () => {
    const stream = collect();
    stream.syn(99);
    stream.put(100, "abcd");
    stream.put(103, "\0");
    expect(stream.counters).toMatchObject({ retransmissions: 1, conflicts: 0 });
  });

  test("goes on behind a hole once the other side has acknowledged it", () => {
    const stream = collect();
    stream.syn(99);
    stream.put(110, "xy");
    stream.acknowledge(105);
    expect(stream.said()).toBe("");
    stream.acknowledge(112);
    expect(stream.said()).toBe("[10]xy");
    stream.acknowledge(140);
    stream.put(120, "later");
    expect(stream.said()).toBe("[10]xy[8]later");
    expect(stream.counters).toMatchObject({ gaps: 2, gapBytes: 18 });
  });

  test("gives a hole up when too much waits behind it", () => {
    const stream = collect(2000);
    stream.syn(99);
    for (let index = 0; index < 20; index += 1) stream.put(200 + index * 100, "x".repeat(100));
    expect(stream.said().startsWith("[100]xxx")).toBe(true);
    expect(stream.held()).toBe(0);
    expect(stream.said()).toHaveLength("[100]".length + 2000);
  });

  test("bounds tiny segments by their number", () => {
    const stream = collect(1024 * 1024);
    stream.syn(99);
    for (let index = 0; index < 5000; index += 1) stream.put(200 + index * 2, "x");
    expect(stream.stream.held?.length ?? 0).toBeLessThanOrEqual(512);
    expect(stream.counters.gaps).toBeGreaterThan(4000);
  });

  test("refuses what is far from its place, until the far place is the stream", () => {
    const stream = collect();
    stream.syn(99);
    stream.put(100, "ab");
    stream.put(0x7000_0000, "zz");
    stream.put(102, "cd");
    expect(stream.said()).toBe("abcd");
    expect(stream.counters.outOfWindow).toBe(1);
    for (let index = 0; index < 4; index += 1) stream.put(0x7000_0000 + index * 2, "pqrstuvw".slice(index * 2, index * 2 + 2));
    expect(stream.said().endsWith("]vw")).toBe(true);
    expect(stream.counters.outOfWindow).toBe(5);
  });

  test("ends with its FIN when all before it has come, and with a RST in its place only", () => {
    const fin = collect();
    fin.syn(99);
    fin.put(102, "cd", TCP_FLAG.fin);
    expect(fin.stream.isEnded).toBe(false);
    fin.put(100, "ab");
    expect([fin.said(), fin.stream.isEnded]).toEqual(["abcd", true]);
    const rst = collect();
    rst.syn(99);
    rst.put(0x5000_0000, "", TCP_FLAG.rst);
    expect(rst.stream.isEnded).toBe(false);
    rst.put(100, "", TCP_FLAG.rst);
    rst.put(100, "ab");
    expect([rst.said(), rst.stream.isEnded]).toEqual(["", true]);
  });

  test("says what is left, with gaps between, at the end", () => {
    const stream = collect();
    stream.syn(99);
    stream.put(102, "c");
    stream.put(105, "f");
    stream.flush();
    expect(stream.said()).toBe("[2]c[2]f");
    expect(stream.held()).toBe(0);
  });
});

describe("any order of segments", () => {
  const pieces = fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 120 })), { minLength: 1, maxLength: 60 });

  test("gives the same bytes, cut and repeated as you like", () => {
    fc.assert(fc.property(pieces, fc.nat(0xffff_ffff), fc.uint8Array({ minLength: 500, maxLength: 500 }), (cuts, first, bytes) => {
      const stream = collect(1024 * 1024);
      stream.syn((first - 1) >>> 0);
      for (const [at, length] of cuts) stream.put(first + at, bytes.subarray(at, at + length));
      for (let at = 0; at < bytes.length; at += 37) stream.put(first + at, bytes.subarray(at, at + 37));
      expect(stream.said()).toBe(Buffer.from(bytes).toString("latin1"));
      expect(stream.held()).toBe(0);
      expect(stream.counters).toMatchObject({ conflicts: 0, gaps: 0 });
    }), { numRuns: 300 });
  });

  test("never holds more than the bound, nor loses count, whatever comes", () => {
    const segments = fc.array(fc.record({
      sequence: fc.oneof(fc.nat(3000), fc.nat(0xffff_ffff)), length: fc.nat(200), flags: fc.constantFrom(0, 0, 0, 0, 1, 2, 4, 16), acknowledgment: fc.option(fc.nat(4000)),
    }), { maxLength: 200 });
    fc.assert(fc.property(segments, (all) => {
      const stream = collect(4096);
      for (const { sequence, length, flags, acknowledgment } of all) {
        stream.put(sequence, new Uint8Array(length).fill(0x61), flags);
        if (acknowledgment !== null) stream.acknowledge(acknowledgment);
        expect(stream.held()).toBeLessThanOrEqual(4096);
        expect(stream.held()).toBe(stream.stream.heldBytes);
      }
      stream.flush();
      expect(stream.held()).toBe(0);
    }), { numRuns: 500 });
  });
});
