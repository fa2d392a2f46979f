import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCapture } from "./capture-file.ts";
import { MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { createPcapWriter } from "./pcap.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";

const LITTLE_MICROSECONDS = fromHex(`
  d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000
  78563412 40420f00 03000000 3c000000 aabbcc
`);

const frames = fc.array(
  fc.record({
    seconds: fc.integer({ min: 0, max: 0xffff_ffff }),
    nanoseconds: fc.integer({ min: 0, max: 999_999_999 }),
    bytes: fc.uint8Array({ maxLength: 80 }),
    originalLength: fc.integer({ min: 80, max: 0xffff_ffff }),
  }),
  { maxLength: 8 },
);

describe("reading", () => {
  test("gives time, both lengths, link type and bytes of a record", () => {
    const file = LITTLE_MICROSECONDS.slice();
    file.set([0x3f, 0x42, 0x0f, 0x00], 28);
    expect(readCapture(file)).toEqual({
      records: [
        {
          seconds: 0x12345678,
          nanoseconds: 999_999_000,
          originalLength: 60,
          bytes: fromHex("aabbcc"),
          linkType: 1,
          interfaceId: 0,
          section: 0,
        },
      ],
      malformed: null,
    });
  });

  test("a fraction of a whole second and more is carried over", () => {
    const [record] = readCapture(LITTLE_MICROSECONDS).records;
    expect(record).toMatchObject({ seconds: 0x12345679, nanoseconds: 0 });
  });

  test("leaves the frame check sequence bits out of the link type", () => {
    const file = LITTLE_MICROSECONDS.slice();
    file[23] = 0x24;
    expect(readCapture(file).records[0]?.linkType).toBe(1);
  });

  test("a file without records is complete, one without a whole header is truncated", () => {
    expect(readCapture(LITTLE_MICROSECONDS.subarray(0, 24))).toEqual({ records: [], malformed: null });
    expect(readCapture(LITTLE_MICROSECONDS.subarray(0, 23)).malformed).toEqual({ ok: false, code: "truncated", layer: "pcap", offset: 23 });
  });

  test.each([[2, 5], [3, 0], [1, 4]])("version %d.%d is refused", (major, minor) => {
    const file = LITTLE_MICROSECONDS.with(4, major).with(6, minor);
    expect(readCapture(file).malformed).toEqual({ ok: false, code: "bad-value", layer: "pcap", offset: 4 });
  });

  /** The same record with its two lengths the other way round. */
  const originalFirst = LITTLE_MICROSECONDS.with(32, 0x3c).with(36, 3);

  test.each([[0, originalFirst], [1, originalFirst], [2, originalFirst], [3, originalFirst], [3, LITTLE_MICROSECONDS]])(
    "version 2.%d is read whichever length comes first", (minor, file) => {
      expect(readCapture(file.with(6, minor))).toMatchObject({
        records: [{ seconds: 0x12345679, originalLength: 60, bytes: fromHex("aabbcc"), linkType: 1 }], malformed: null,
      });
    },
  );

  test("a record of version 2.2 that claims more than the maximum is malformed where that length stands", () => {
    const file = joinBytes(originalFirst.with(6, 2), fromHex("00000000 00000000 01000400 01000400"));
    expect(readCapture(file).malformed).toMatchObject({ code: "bad-value", offset: originalFirst.length + 12 });
  });

  test("a record that claims more than the maximum is malformed where its length stands", () => {
    const claim = fromHex("00000000 00000000 01000400 01000400");
    const file = joinBytes(LITTLE_MICROSECONDS, claim);
    const { records, malformed } = readCapture(file);
    expect(records).toHaveLength(1);
    expect(malformed).toEqual({ ok: false, code: "bad-value", layer: "pcap", offset: LITTLE_MICROSECONDS.length + 8 });
  });
});

describe("writing", () => {
  test.each(["big", "little"] as const)("frames come back exactly from a %s-endian file in nanoseconds", (byteOrder) => {
    const comesBack = fc.property(frames, (frames) => {
      const writer = createPcapWriter({ linkType: 113, byteOrder });
      const read = readCapture(joinBytes(writer.header(), ...frames.map((frame) => writer.record(frame))));
      expect(read).toEqual({ records: frames.map((frame) => ({ ...frame, linkType: 113, interfaceId: 0, section: 0 })), malformed: null });
    });
    fc.assert(comesBack);
  });

  test.each(["big", "little"] as const)("microseconds are rounded down in a %s-endian file", (byteOrder) => {
    const writer = createPcapWriter({ linkType: 1, byteOrder, resolution: "microseconds" });
    const record = writer.record({ seconds: 5, nanoseconds: 1_999, bytes: new Uint8Array(1) });
    expect(readCapture(joinBytes(writer.header(), record)).records[0]).toMatchObject({ seconds: 5, nanoseconds: 1_000 });
  });

  test("a frame is cut at the snap length and keeps its length on the wire", () => {
    const writer = createPcapWriter({ linkType: 1, snapLength: 4 });
    const record = writer.record({ seconds: 0, nanoseconds: 0, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6) });
    const read = readCapture(joinBytes(writer.header(), record));
    expect(read.records[0]).toMatchObject({ bytes: Uint8Array.of(1, 2, 3, 4), originalLength: 6 });
  });

  test("no snap length makes a file that the reader refuses", () => {
    const writer = createPcapWriter({ linkType: 1, snapLength: 10_000_000 });
    const record = writer.record({ seconds: 0, nanoseconds: 0, bytes: new Uint8Array(MAX_CAPTURE_RECORD_BYTES + 1) });
    const { records, malformed } = readCapture(joinBytes(writer.header(), record));
    expect(malformed).toBeNull();
    expect(records[0]?.bytes).toHaveLength(MAX_CAPTURE_RECORD_BYTES);
  });
});
