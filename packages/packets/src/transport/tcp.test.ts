import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transportChecksum } from "../checksum.ts";
import { decodeTcp, encodeTcp, TCP_FLAG, type TcpSegment } from "./tcp.ts";
import { decodeTcpOptions, encodeTcpOptions, type TcpOption } from "./tcp-options.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { TCP_DATA, TCP_SYN } from "../testing/real-frames.ts";

const SYN = TCP_SYN.subarray(34);
const DATA = TCP_DATA.subarray(34);
const ENDS = { source: TCP_SYN.subarray(26, 30), destination: TCP_SYN.subarray(30, 34) };

const decode = (bytes: Uint8Array): TcpSegment => {
  const result = decodeTcp(bytes);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

test("a real SYN gives its fields and its options in their order", () => {
  expect(decode(SYN)).toEqual({
    sourcePort: 36_284,
    destinationPort: 7000,
    sequenceNumber: 0xad52b785,
    acknowledgmentNumber: 0,
    flags: TCP_FLAG.syn,
    window: 64_240,
    checksum: 0xd8d0,
    urgentPointer: 0,
    options: [
      { kind: "maximum-segment-size", bytes: 1460 },
      { kind: "sack-permitted" },
      { kind: "timestamps", value: 0x25dc2c5e, echoReply: 0 },
      { kind: "no-operation" },
      { kind: "window-scale", shift: 10 },
    ],
    payload: new Uint8Array(0),
  });
});

test("a real segment gives its data", () => {
  expect(decode(DATA)).toMatchObject({ flags: TCP_FLAG.psh | TCP_FLAG.ack, payload: new TextEncoder().encode("hello") });
});

test("what is encoded again is what Linux sent", () => {
  for (const bytes of [SYN, DATA]) expect(encodeTcp(decode(bytes), ENDS)).toEqual(bytes);
});

test("a header length below twenty or beyond the end is refused", () => {
  const bytes = SYN.slice();
  bytes[12] = 0x40;
  expect(decodeTcp(bytes)).toEqual({ ok: false, code: "bad-value", layer: "tcp", offset: 12 });
  bytes[12] = 0xf0;
  expect(decodeTcp(bytes)).toEqual({ ok: false, code: "truncated", layer: "tcp", offset: 20 });
});

describe("options", () => {
  test("a length below two is refused at its place in the segment", () => {
    const bytes = SYN.slice();
    bytes[25] = 1;
    expect(decodeTcp(bytes)).toEqual({ ok: false, code: "bad-value", layer: "tcp-option", offset: 25 });
  });

  test("one that runs past the header is truncated", () => {
    expect(decodeTcpOptions(fromHex("0204"))).toEqual({ ok: false, code: "truncated", layer: "tcp-option", offset: 2 });
    expect(decodeTcpOptions(fromHex("05"))).toEqual({ ok: false, code: "truncated", layer: "tcp-option", offset: 1 });
  });

  test("nothing is read behind the end of the list", () => {
    expect(decodeTcpOptions(fromHex("01 00 ff ff"))).toEqual({ ok: true, value: [{ kind: "no-operation" }] });
  });

  test("a known one with an unusual length is kept as bytes", () => {
    expect(decodeTcpOptions(fromHex("0203ff 0502"))).toEqual({
      ok: true,
      value: [
        { kind: "unknown", number: 2, data: fromHex("ff") },
        { kind: "unknown", number: 5, data: new Uint8Array(0) },
      ],
    });
  });

  test("more than forty bytes are not encoded", () => {
    const options: TcpOption[] = [{ kind: "unknown", number: 254, data: new Uint8Array(39) }];
    expect(() => encodeTcpOptions(options)).toThrow(expect.objectContaining({ code: "unencodable" }));
  });
});

const u32 = fc.nat(0xffff_ffff);
const option: fc.Arbitrary<TcpOption> = fc.oneof(
  fc.constant({ kind: "no-operation" } as const),
  fc.constant({ kind: "sack-permitted" } as const),
  fc.record({ kind: fc.constant("maximum-segment-size" as const), bytes: fc.nat(0xffff) }),
  fc.record({ kind: fc.constant("window-scale" as const), shift: fc.nat(255) }),
  fc.record({ kind: fc.constant("sack" as const), blocks: fc.array(fc.record({ left: u32, right: u32 }), { minLength: 1, maxLength: 1 }) }),
  fc.record({ kind: fc.constant("timestamps" as const), value: u32, echoReply: u32 }),
  fc.record({ kind: fc.constant("unknown" as const), number: fc.integer({ min: 9, max: 255 }), data: fc.uint8Array({ maxLength: 8 }) }),
);

test("survives a round trip, with a checksum that is right", () => {
  const segments: fc.Arbitrary<Omit<TcpSegment, "checksum">> = fc.record({
    sourcePort: fc.nat(0xffff),
    destinationPort: fc.nat(0xffff),
    sequenceNumber: u32,
    acknowledgmentNumber: u32,
    flags: fc.nat(0x1ff),
    window: fc.nat(0xffff),
    urgentPointer: fc.nat(0xffff),
    options: fc.array(option, { maxLength: 4 }),
    payload: fc.uint8Array({ maxLength: 60 }),
  });
  fc.assert(
    fc.property(segments, (segment) => {
      const bytes = encodeTcp(segment, ENDS);
      expect(decode(bytes)).toMatchObject(segment);
      expect(transportChecksum(bytes, 6, ENDS)).toBe(0);
    }),
  );
});

test("what has no encoding is refused", () => {
  const segment = { sourcePort: 1, destinationPort: 2, flags: 2 };
  for (const bad of [{ flags: 0x200 }, { sequenceNumber: -1 }, { window: 65_536 }, { destinationPort: 65_536 }, { urgentPointer: 1e9 }]) {
    expect(() => encodeTcp({ ...segment, ...bad }, ENDS)).toThrow(expect.objectContaining({ code: "unencodable" }));
  }
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeTcp, SYN, { seed: 11, shortest: SYN.length });
  expectResults(decodeTcp, DATA, { seed: 12, shortest: 32 });
});
