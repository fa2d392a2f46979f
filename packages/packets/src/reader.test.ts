import { describe, expect, test } from "vitest";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

const BYTES = Uint8Array.of(0x01, 0x02, 0x83, 0x04, 0xf5, 0x06, 0x07, 0x08);

describe("Reader", () => {
  test("reads unsigned numbers in both byte orders", () => {
    expect(new Reader(BYTES).u8()).toBe(0x01);
    expect(new Reader(BYTES, 2).u16()).toBe(0x8304);
    expect(new Reader(BYTES, 2).u16le()).toBe(0x0483);
    expect(new Reader(BYTES, 4).u24()).toBe(0xf50607);
    expect(new Reader(BYTES, 4).u32()).toBe(0xf5060708);
    expect(new Reader(BYTES, 1).u32le()).toBe(0xf5048302);
  });

  test("a read past the end gives 0, moves nothing, and is remembered with its place", () => {
    const reader = new Reader(BYTES, 6);
    expect(reader.u32()).toBe(0);
    expect(reader.offset).toBe(6);
    expect(reader.u16()).toBe(0x0708);
    expect(reader.failed).toBe(true);
    expect(reader.malformed("test")).toEqual({ ok: false, code: "truncated", layer: "test", offset: 6 });
  });

  test("every kind of read fails past the end", () => {
    const reads = [
      (reader: Reader) => reader.u8(),
      (reader: Reader) => reader.u16(),
      (reader: Reader) => reader.u24(),
      (reader: Reader) => reader.u32(),
      (reader: Reader) => reader.u16le(),
      (reader: Reader) => reader.u32le(),
      (reader: Reader) => reader.take(1),
      (reader: Reader) => reader.skip(1),
      (reader: Reader) => reader.limit(1),
      (reader: Reader) => reader.seek(9),
    ];
    for (const read of reads) {
      const reader = new Reader(BYTES, 8);
      read(reader);
      expect(reader.failed).toBe(true);
    }
  });

  test("negative and unreal lengths fail instead of moving back", () => {
    for (const length of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const name of ["take", "skip", "limit", "seek"] as const) {
        const reader = new Reader(BYTES, 4);
        reader[name](length);
        expect(reader.failed).toBe(true);
        expect(reader.offset).toBe(4);
      }
    }
  });

  test("takes views, not copies", () => {
    const bytes = BYTES.slice();
    const view = new Reader(bytes).take(2);
    bytes[0] = 0x55;
    expect(view).toEqual(Uint8Array.of(0x55, 0x02));
  });

  test("a limit hides what is behind it", () => {
    const reader = new Reader(BYTES, 1);
    reader.limit(3);
    expect(reader.rest()).toEqual(Uint8Array.of(0x02, 0x83, 0x04));
    expect(reader.u8()).toBe(0);
    expect(reader.failed).toBe(true);
  });

  test("an end beyond the bytes is drawn in", () => {
    expect(new Reader(BYTES, 0, 1000).remaining).toBe(8);
  });
});

describe("Writer", () => {
  test("writes what the reader reads, growing as needed", () => {
    const writer = new Writer(1).u8(1).u16(0x203).u24(0x040506).u32(0xf7f8f9fa).u16le(0x203).u32le(0xf4050607).put(BYTES).zeros(3);
    const reader = new Reader(writer.finish());
    expect([reader.u8(), reader.u16(), reader.u24(), reader.u32(), reader.u16le(), reader.u32le()]).toEqual([
      1, 0x203, 0x040506, 0xf7f8f9fa, 0x203, 0xf4050607,
    ]);
    expect(reader.take(8)).toEqual(BYTES);
    expect(reader.rest()).toEqual(new Uint8Array(3));
  });

  test("overwrites what was left open", () => {
    expect(new Writer().zeros(4).setU16(1, 0x0203).setU8(3, 4).finish()).toEqual(Uint8Array.of(0, 2, 3, 4));
  });
});
