import { type Malformed, truncated } from "./decoded.ts";

/** Shared by every failed `take`, so that a hostile frame allocates nothing. */
const NO_BYTES = new Uint8Array(0);

/**
 * Reads bytes from front to back and never past the end. A read that does not fit gives 0 (or no bytes), moves nothing,
 * and sets `failed` for good: a decoder reads a whole header, then asks once.
 *
 * Big-endian unless the name says otherwise. The bytes are not copied, and stay the caller's.
 */
export class Reader {
  readonly bytes: Uint8Array;
  /** Index in `bytes` of the next byte to be read. */
  offset: number;
  /** Index in `bytes` after the last byte that may be read. */
  end: number;
  /** True once a read did not fit. */
  failed = false;
  /** Where the first read that did not fit began. */
  failedAt = 0;

  /** @param end Clamped to the length of `bytes`. */
  constructor(bytes: Uint8Array, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.end = end < bytes.length ? end : bytes.length;
    this.offset = offset;
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  u8(): number {
    const at = this.offset;
    if (at >= this.end) return this.fail();
    this.offset = at + 1;
    return this.bytes[at] as number;
  }

  u16(): number {
    const at = this.offset;
    if (at + 2 > this.end) return this.fail();
    this.offset = at + 2;
    return ((this.bytes[at] as number) << 8) | (this.bytes[at + 1] as number);
  }

  u24(): number {
    const at = this.offset;
    if (at + 3 > this.end) return this.fail();
    this.offset = at + 3;
    return ((this.bytes[at] as number) << 16) | ((this.bytes[at + 1] as number) << 8) | (this.bytes[at + 2] as number);
  }

  u32(): number {
    const at = this.offset;
    if (at + 4 > this.end) return this.fail();
    this.offset = at + 4;
    const { bytes } = this;
    const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    return ((high << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0;
  }

  u16le(): number {
    const value = this.u16();
    return ((value & 0xff) << 8) | (value >>> 8);
  }

  u32le(): number {
    const value = this.u32();
    return (((value & 0xff) << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24)) >>> 0;
  }

  /** The next `length` bytes as a view. A negative length fails as one that is too long does. */
  take(length: number): Uint8Array {
    const at = this.offset;
    if (!(length >= 0) || at + length > this.end) {
      this.fail();
      return NO_BYTES;
    }
    this.offset = at + length;
    return this.bytes.subarray(at, at + length);
  }

  /** Everything up to the end, as a view. */
  rest(): Uint8Array {
    return this.take(this.remaining);
  }

  skip(length: number): void {
    if (!(length >= 0) || this.offset + length > this.end) this.fail();
    else this.offset += length;
  }

  /** Moves to an absolute index of `bytes`; fails outside of [0, end]. */
  seek(offset: number): void {
    if (!(offset >= 0) || offset > this.end) this.fail();
    else this.offset = offset;
  }

  /** Forgets what lies beyond the next `length` bytes: padding, another message. Fails when there are fewer. */
  limit(length: number): void {
    if (!(length >= 0) || this.offset + length > this.end) this.fail();
    else this.end = this.offset + length;
  }

  /** The failure as a result; call it when `failed`. */
  malformed(layer: string): Malformed {
    return truncated(layer, this.failedAt);
  }

  private fail(): 0 {
    if (!this.failed) {
      this.failed = true;
      this.failedAt = this.offset;
    }
    return 0;
  }
}
