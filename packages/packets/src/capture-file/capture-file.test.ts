import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCaptureReader, readCapture } from "./capture-file.ts";
import { type CaptureRecord, MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { createPcapWriter } from "./pcap.ts";
import { createPcapngWriter } from "./pcapng-writer.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { everyTruncation, seededMutations } from "../testing/hostile.ts";

const FRAMES = [60, 0, 61, 1500, 7].map((length, index) => ({
  seconds: 1_700_000_000 + index,
  nanoseconds: index,
  bytes: Uint8Array.from({ length }, (_, at) => at + index),
  interfaceId: index % 2,
}));

const pcap = createPcapWriter({ linkType: 1 });
const pcapng = createPcapngWriter({ interfaces: [{ linkType: 1, name: "lan0" }, { linkType: 1 }], byteOrder: "big" });
/** The parts of a file; it is complete after each of them. */
const FILES = {
  pcap: [pcap.header(), ...FRAMES.map((frame) => pcap.record(frame))],
  pcapng: [
    pcapng.header().subarray(0, 28),
    pcapng.header().subarray(28, 68),
    pcapng.header().subarray(68),
    ...FRAMES.map((frame) => pcapng.record(frame)),
    fromHex("00000bad 00000014 0102030405060708 00000014"),
  ],
};

/** Reads a file in pieces of the given sizes, over and over. */
function readInPieces(file: Uint8Array, sizes: readonly number[]) {
  const reader = createCaptureReader();
  const records: CaptureRecord[] = [];
  for (let at = 0, turn = 0; at < file.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    records.push(...reader.push(file.slice(at, at + size)).records);
    at += size;
  }
  return { records, malformed: reader.end() };
}

describe.each(["pcap", "pcapng"] as const)("a %s file", (format) => {
  const parts = FILES[format];
  const file = joinBytes(...parts);

  test("is recognised and read whole", () => {
    const { records, malformed } = readCapture(file);
    expect(malformed).toBeNull();
    expect(records.map(({ bytes }) => bytes)).toEqual(FRAMES.map(({ bytes }) => bytes));
  });

  test("gives the same records however it is cut into chunks", () => {
    const whole = readCapture(file);
    expect(readInPieces(file, [1])).toEqual(whole);
    const sameInPieces = fc.property(fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 5 }), (sizes) => {
      expect(readInPieces(file, [...sizes, 1])).toEqual(whole);
    });
    fc.assert(sameInPieces);
  });

  test("cut anywhere gives every record before the cut, and is truncated but between two parts", () => {
    const whole = readCapture(file).records;
    const codes: Record<number, string | undefined> = {};
    for (const cut of everyTruncation(file)) {
      const { records, malformed } = readCapture(cut);
      expect(records).toEqual(whole.slice(0, records.length));
      codes[cut.length] = malformed?.code;
    }
    const ends = new Set(parts.map((_, index) => joinBytes(...parts.slice(0, index + 1)).length));
    const expected = Object.keys(codes).map((length) => (ends.has(Number(length)) ? undefined : "truncated"));
    expect(Object.values(codes)).toEqual(expected);
  });

  test("damaged anywhere ends in a result, the same in one piece and in many", () => {
    for (const damaged of seededMutations(file, 20_000, 5)) {
      const whole = readCapture(damaged);
      if (damaged.length % 16 !== 0) continue;
      expect(readInPieces(damaged, [7, 300])).toEqual(whole);
    }
  });

  test("gives nothing more after a malformed place", () => {
    const reader = createCaptureReader();
    const broken = joinBytes(file.subarray(0, file.length - 20), fromHex(`ffffffff00000001${"ff".repeat(32)}`));
    const { malformed } = reader.push(broken);
    expect(malformed?.code).toBe("bad-value");
    expect(reader.push(file)).toEqual({ records: [], malformed });
    expect(reader.end()).toEqual(malformed);
  });
});

test("what is no capture file is refused at its first byte, an empty one is truncated", () => {
  expect(readCapture(fromHex("7f454c46 00000000")).malformed).toEqual({ ok: false, code: "bad-value", layer: "capture-file", offset: 0 });
  expect(readCapture(new Uint8Array(0)).malformed).toEqual({ ok: false, code: "truncated", layer: "capture-file", offset: 0 });
});

test("the longest record comes whole out of single bytes", () => {
  const reader = createCaptureReader();
  reader.push(joinBytes(pcap.header(), fromHex("00000000 00000000 00000400 00000400")));
  let early = 0;
  for (let sent = 1; sent < MAX_CAPTURE_RECORD_BYTES; sent += 1) early += reader.push(Uint8Array.of(1)).records.length;
  expect(early).toBe(0);
  expect(reader.push(Uint8Array.of(2)).records).toMatchObject([{ originalLength: MAX_CAPTURE_RECORD_BYTES }]);
  expect(reader.end()).toBeNull();
});

test("records are views on the chunk, without a copy", () => {
  const file = joinBytes(...FILES.pcap);
  const [first] = readCapture(file).records;
  expect(first?.bytes.buffer).toBe(file.buffer);
});
