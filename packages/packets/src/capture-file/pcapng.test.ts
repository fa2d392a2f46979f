import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCapture } from "./capture-file.ts";
import { MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { createPcapngWriter, MIN_PADDING_OCTETS } from "./pcapng-writer.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";

const BIG_SECTION = fromHex("0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c");
const LITTLE_SECTION = fromHex("0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000");
/** Ethernet, no limit, time in microseconds as no option says otherwise. */
const BIG_INTERFACE = fromHex("00000001 00000014 0001 0000 00000000 00000014");
/** Raw IP, cut at 2 bytes, nanoseconds, ten seconds later than it says. */
const LITTLE_INTERFACE = fromHex(`
  01000000 2c000000 6500 0000 02000000
  0900 0100 09000000
  0e00 0800 0a00000000000000
  0000 0000 2c000000
`);
/** 2^32 + 1_000_001 µs: 4295 s and 967,297 µs. */
const BIG_PACKET = fromHex(`
  00000006 00000024 00000000 00000001 000f4241 00000003 0000003c aabbcc00 00000024
`);
const LITTLE_SIMPLE = fromHex("03000000 14000000 09000000 aabb0000 14000000");
const BIG_OBSOLETE = fromHex("00000002 00000024 0000 0007 00000000 00000002 00000001 00000001 dd000000 00000024");
const BIG_UNKNOWN = fromHex("00000bad 0000000c 0000000c");

const DAMAGED = { ok: false, code: "bad-value", layer: "pcapng" } as const;

describe("reading", () => {
  test("enhanced packet blocks give time, lengths, link type and bytes, without their padding", () => {
    const [record] = readCapture(joinBytes(BIG_SECTION, BIG_INTERFACE, BIG_PACKET)).records;
    expect(record).toEqual({
      seconds: 4295,
      nanoseconds: 967_297_000,
      originalLength: 60,
      bytes: fromHex("aabbcc"),
      linkType: 1,
      interfaceId: 0,
      section: 0,
    });
  });

  test("simple packet blocks are cut at the interface's snap length and have no time", () => {
    const { records, malformed } = readCapture(joinBytes(LITTLE_SECTION, LITTLE_INTERFACE, LITTLE_SIMPLE));
    expect(malformed).toBeNull();
    expect(records).toMatchObject([{ seconds: 0, nanoseconds: 0, originalLength: 9, bytes: fromHex("aabb"), linkType: 0x65 }]);
  });

  test("obsolete packet blocks are read, their count of drops is not taken for the interface", () => {
    const { records } = readCapture(joinBytes(BIG_SECTION, BIG_INTERFACE, BIG_OBSOLETE));
    expect(records).toMatchObject([{ seconds: 0, nanoseconds: 2_000, originalLength: 1, bytes: fromHex("dd"), interfaceId: 0 }]);
  });

  test("sections of both byte orders follow each other, each with interfaces of its own", () => {
    const first = [BIG_SECTION, BIG_INTERFACE, BIG_UNKNOWN, BIG_PACKET];
    const { records, malformed } = readCapture(joinBytes(...first, LITTLE_SECTION, LITTLE_INTERFACE, LITTLE_SIMPLE));
    expect(malformed).toBeNull();
    expect(records.map(({ section, linkType }) => [section, linkType])).toEqual([[0, 1], [1, 0x65]]);
  });

  test("lengths that leave out the padding are rounded up", () => {
    const unknown = fromHex("00000bad 0000000d 00000000 0000000d");
    const described = fromHex("00000001 00000019 0001 0000 00000000 0009 0001 06000000 00000019");
    const packet = fromHex("00000006 00000023 00000000 00000001 000f4241 00000003 0000003c aabbcc00 00000023");
    const { records, malformed } = readCapture(joinBytes(BIG_SECTION, unknown, described, packet, BIG_PACKET));
    expect(malformed).toBeNull();
    expect(records).toMatchObject([{ bytes: fromHex("aabbcc"), originalLength: 60 }, { bytes: fromHex("aabbcc") }]);
  });

  test.each([
    ["milliseconds", "03", { seconds: 8_589_934, nanoseconds: 595_000_000 }],
    ["halves of seconds", "81", { seconds: 4_294_967_297, nanoseconds: 500_000_000 }],
    ["2^-20 s", "94", { seconds: 8192, nanoseconds: 2_861 }],
    ["picoseconds", "0c", { seconds: 0, nanoseconds: 8_589_934 }],
    ["seconds", "00", { seconds: 8_589_934_595, nanoseconds: 0 }],
    ["10^-127 s", "7f", { seconds: 0, nanoseconds: 0 }],
  ])("time stamps in %s", (_, resolution, time) => {
    const described = fromHex(`00000001 00000020 0001 0000 00000000 0009 0001 ${resolution}000000 0000 0000 00000020`);
    const packet = fromHex("00000006 00000020 00000000 00000002 00000003 00000000 00000000 00000020");
    expect(readCapture(joinBytes(BIG_SECTION, described, packet)).records).toMatchObject([time]);
  });

  test("an offset shifts time, also to before 1970", () => {
    const described = fromHex("00000001 00000024 0001 0000 00000000 000e 0008 fffffffffffffffe 0000 0000 00000024");
    const packet = fromHex("00000006 00000020 00000000 00000000 000f4240 00000000 00000000 00000020");
    expect(readCapture(joinBytes(BIG_SECTION, described, packet)).records).toMatchObject([{ seconds: -1, nanoseconds: 0 }]);
  });

  test.each([
    ["a trailer that rounds a length which the head does not", [BIG_SECTION, fromHex("00000bad 0000000d 00000000 00000010")], 28 + 12],
    ["a block shorter than its own head", [BIG_SECTION, fromHex("00000bad 00000008")], 28 + 4],
    ["lengths that disagree", [BIG_SECTION, fromHex("00000bad 0000000c 00000010")], 28 + 8],
    ["a frame of an interface that was not described", [BIG_SECTION, BIG_PACKET], 28 + 8],
    ["a simple packet without any interface", [LITTLE_SECTION, LITTLE_SIMPLE], 28],
    ["a frame longer than its block", [BIG_SECTION, BIG_INTERFACE, BIG_PACKET.with(23, 5)], 48 + 20],
    ["options that run past the interface", [BIG_SECTION, fromHex("00000001 00000018 0001 0000 00000000 0009 00ff 00000018")], 28 + 16],
    ["an interface without a link type", [BIG_SECTION, fromHex("00000001 0000000c 0000000c")], 28 + 4],
    ["another major version", [BIG_SECTION.with(13, 2)], 12],
    ["a byte order that there is not", [BIG_SECTION.with(8, 9)], 8],
  ])("%s is malformed", (_, blocks, offset) => {
    expect(readCapture(joinBytes(...blocks)).malformed).toEqual({ ...DAMAGED, offset });
  });

  test("a frame that claims more than the maximum is malformed, whatever its block claims", () => {
    const claim = fromHex("00000006 7ffffffc 00000000 00000000 00000000 7fffff00 7fffff00");
    expect(readCapture(joinBytes(BIG_SECTION, BIG_INTERFACE, claim)).malformed).toEqual({ ...DAMAGED, offset: 48 + 20 });
  });

  test("a file that ends within a block it skips is truncated", () => {
    const { malformed } = readCapture(joinBytes(BIG_SECTION, fromHex("00000bad fffffffc")));
    expect(malformed).toEqual({ ok: false, code: "truncated", layer: "pcapng", offset: 36 });
  });
});

describe("writing", () => {
  const frames = fc.array(
    fc.record({
      seconds: fc.integer({ min: 0, max: 0xffff_ffff }),
      nanoseconds: fc.integer({ min: 0, max: 999_999_999 }),
      bytes: fc.uint8Array({ maxLength: 40 }),
      originalLength: fc.integer({ min: 40, max: 0xffff_ffff }),
      interfaceId: fc.constantFrom(0, 1),
    }),
    { maxLength: 8 },
  );

  test.each(["big", "little"] as const)("frames of two interfaces come back exactly from a %s-endian section", (byteOrder) => {
    const interfaces = [{ linkType: 1, name: "lan0" }, { linkType: 101 }];
    const comesBack = fc.property(frames, (frames) => {
      const writer = createPcapngWriter({ interfaces, byteOrder });
      const read = readCapture(joinBytes(writer.header(), ...frames.map((frame) => writer.record(frame))));
      const expected = frames.map((frame) => ({ ...frame, linkType: interfaces[frame.interfaceId]?.linkType, section: 0 }));
      expect(read).toEqual({ records: expected, malformed: null });
    });
    fc.assert(comesBack);
  });

  test("a frame is cut at its own interface's snap length", () => {
    const writer = createPcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: 1, snapLength: 2 }] });
    const record = writer.record({ seconds: 0, nanoseconds: 0, bytes: Uint8Array.of(1, 2, 3), interfaceId: 1 });
    expect(readCapture(joinBytes(writer.header(), record)).records).toMatchObject([{ bytes: Uint8Array.of(1, 2), originalLength: 3 }]);
  });

  test("no snap length makes a file that the reader refuses", () => {
    const writer = createPcapngWriter({ interfaces: [{ linkType: 1, snapLength: 10_000_000 }] });
    const record = writer.record({ seconds: 0, nanoseconds: 0, bytes: new Uint8Array(MAX_CAPTURE_RECORD_BYTES + 1) });
    const { records, malformed } = readCapture(joinBytes(writer.header(), record));
    expect(malformed).toBeNull();
    expect(records[0]?.bytes).toHaveLength(MAX_CAPTURE_RECORD_BYTES);
  });
});

describe("writing into memory that there is", () => {
  const writer = createPcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: 1, snapLength: 10 }] });
  const bytes = Uint8Array.from({ length: 300 }, (_, at) => at);
  const frame = (length: number) => ({ bytes, offset: 5, length, wireLength: length, seconds: 4_294_967_295, nanoseconds: 999_999_999, isOutgoing: false });

  test("gives the bytes that a record of its own has", () => {
    for (let length = 0; length <= 290; length += 1) {
      const facts = length % 3 === 0 ? {} : { comment: "x".repeat(length % 7), interfaceId: length % 2, ...(length % 5 === 0 ? { missing: length } : {}) };
      const into = new Uint8Array(1000).fill(0xee);
      const end = writer.writeRecord(into, 8, frame(length), facts);
      expect(end - 8).toBeLessThanOrEqual(writer.recordOctets(length, facts));
      const { seconds, nanoseconds, isOutgoing } = frame(length);
      expect(into.subarray(8, end)).toEqual(writer.record({ seconds, nanoseconds, isOutgoing, bytes: bytes.subarray(5, 5 + length), ...facts }));
      expect(into.subarray(end).every((octet) => octet === 0xee)).toBe(true);
    }
  });

  test("padding says nothing of what lay there, and is passed over", () => {
    const writer = createPcapngWriter({ interfaces: [{ linkType: 1 }] });
    const frame = { bytes: Uint8Array.of(1, 2, 3), seconds: 1, nanoseconds: 0 };
    for (const octets of [MIN_PADDING_OCTETS, 16, 4096]) {
      const padding = new Uint8Array(octets + 8).fill(0xee);
      writer.writePadding(padding, 4, octets);
      expect([padding.subarray(0, 4), padding.subarray(octets + 4)].map((outside) => [...new Set(outside)])).toEqual([[0xee], [0xee]]);
      expect(padding.subarray(4, octets + 4).includes(0xee)).toBe(false);
      const { records, malformed } = readCapture(joinBytes(writer.header(), writer.record(frame), padding.subarray(4, octets + 4), writer.record(frame)));
      expect([records.length, malformed]).toEqual([2, null]);
    }
  });

  test("writes nothing where it does not fit", () => {
    const into = new Uint8Array(108);
    expect(writer.writeRecord(into, 8, frame(60))).toBe(-1);
    expect(into.every((octet) => octet === 0)).toBe(true);
    expect(writer.writeRecord(into, 4, frame(60))).toBe(108);
  });

  test("comments are cut between two characters", () => {
    const record = writer.record({ seconds: 0, nanoseconds: 0, bytes: new Uint8Array(0), comment: `${"a".repeat(65_534)}€` });
    const { records, malformed } = readCapture(joinBytes(writer.header(), record));
    expect([records.length, malformed]).toEqual([1, null]);
    expect(new DataView(record.buffer).getUint16(30, true)).toBe(65_534);
  });
});
