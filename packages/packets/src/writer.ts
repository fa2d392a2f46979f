/**
 * Appends bytes to a buffer that grows by doubling. Big-endian unless the name says otherwise.
 * Numbers are cut to their width, so an encoder checks its ranges first.
 */
export class Writer {
  private bytes: Uint8Array;
  /** Bytes written so far; also the index of the next one. */
  length = 0;

  /** @param capacity Bytes to make room for at first. */
  constructor(capacity = 128) {
    this.bytes = new Uint8Array(capacity);
  }

  u8(value: number): this {
    this.reserve(1);
    this.bytes[this.length] = value;
    this.length += 1;
    return this;
  }

  u16(value: number): this {
    return this.u8(value >>> 8).u8(value);
  }

  u24(value: number): this {
    return this.u8(value >>> 16).u16(value & 0xffff);
  }

  u32(value: number): this {
    return this.u16(value >>> 16).u16(value & 0xffff);
  }

  u16le(value: number): this {
    return this.u8(value).u8(value >>> 8);
  }

  u32le(value: number): this {
    return this.u16le(value & 0xffff).u16le(value >>> 16);
  }

  /** Copies `bytes`. */
  put(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  zeros(count: number): this {
    this.reserve(count);
    this.length += count;
    return this;
  }

  /** Overwrites one byte at `offset`. */
  setU8(offset: number, value: number): this {
    this.bytes[offset] = value;
    return this;
  }

  /** Overwrites two bytes at `offset`: a length or checksum that was not known yet. */
  setU16(offset: number, value: number): this {
    this.bytes[offset] = value >>> 8;
    this.bytes[offset + 1] = value;
    return this;
  }

  /** What was written, as a view of the writer's own buffer: write nothing more afterwards. */
  finish(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + count, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}
