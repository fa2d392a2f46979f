/** DEFLATE as its bytes come: whatever a byte completes comes out at once. @see RFC 1951 */
import { BitReader, NEEDS_MORE } from "./bit-reader.ts";
import { createHuffmanCode, FAST_BITS, FIXED_CODES, type HuffmanCode, MAX_CODE_BITS } from "./huffman-code.ts";

/** Takes what comes out; the view is good during the call. @returns Whether more is wanted. */
export type InflateSink = (bytes: Uint8Array) => boolean;

/** `more`: it goes on with the next bytes. `stopped`: the sink wanted no more. */
export type InflateState = "more" | "over" | "broken" | "stopped";

type Step = InflateState | "next";
type Stage = "block" | "stored-length" | "stored" | "dynamic" | "code-lengths" | "lengths" | "symbol" | "length" | "distance" | "copy";

const WINDOW_BYTES = 32_768;
const MIN_OUTPUT_BYTES = 2048;
const MAX_OUTPUT_BYTES = WINDOW_BYTES * 2;

const LENGTH_BASES = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12_289, 16_385, 24_577,
];
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const MAX_LITERALS = 286;
const END_OF_BLOCK = 256;

/** One stream. Its memory is bounded by twice the window; it gives up at the first byte that cannot be. */
export class Inflater {
  readonly #sink: InflateSink;
  #state: InflateState = "more";
  #stage: Stage = "block";
  readonly #in = new BitReader();
  #isLast = false;
  #left = 0;
  readonly #lengths = new Uint8Array(320);
  #read = 0;
  #literalCount = 0;
  #lengthCount = 0;
  #codeLengthCount = 0;
  #codeLengths: HuffmanCode = FIXED_CODES.literals;
  #literals: HuffmanCode = FIXED_CODES.literals;
  #distances: HuffmanCode = FIXED_CODES.distances;
  #symbol = 0;
  #output = new Uint8Array(MIN_OUTPUT_BYTES);
  #written = 0;
  #given = 0;

  /** @param sink Is given what comes out, in order. */
  constructor(sink: InflateSink) {
    this.#sink = sink;
  }

  /** Reads the next bytes. @returns Whether there can be more. */
  push(bytes: Uint8Array): InflateState {
    if (this.#state !== "more") return this.#state;
    this.#in.input = bytes;
    this.#in.at = 0;
    let step: Step = "next";
    while (step === "next") step = this.#step();
    if (this.#written > this.#given && step !== "stopped" && !this.#give()) step = "stopped";
    this.#state = step;
    return step;
  }

  #step(): Step {
    const stage = this.#stage;
    if (stage === "symbol") return this.#symbols();
    if (stage === "length") return this.#length();
    if (stage === "distance") return this.#distance();
    if (stage === "copy") return this.#copy();
    if (stage === "block") return this.#block();
    if (stage === "stored-length") return this.#storedLength();
    if (stage === "stored") return this.#stored();
    if (stage === "dynamic") return this.#dynamic();
    return stage === "code-lengths" ? this.#readCodeLengths() : this.#readLengths();
  }

  #block(): Step {
    if (!this.#in.need(3)) return "more";
    this.#isLast = this.#in.take(1) === 1;
    const type = this.#in.take(2);
    if (type === 3) return "broken";
    if (type === 0) this.#in.take(this.#in.bits & 7);
    if (type === 1) [this.#literals, this.#distances] = [FIXED_CODES.literals, FIXED_CODES.distances];
    this.#stage = type === 0 ? "stored-length" : type === 1 ? "symbol" : "dynamic";
    return "next";
  }

  #endBlock(): Step {
    this.#stage = "block";
    return this.#isLast ? "over" : "next";
  }

  #storedLength(): Step {
    if (!this.#in.need(16)) return "more";
    this.#left = this.#in.take(16);
    this.#stage = "stored";
    this.#symbol = -1;
    return "next";
  }

  #stored(): Step {
    if (this.#symbol === -1) {
      if (!this.#in.need(16)) return "more";
      if (this.#in.take(16) !== (this.#left ^ 0xffff)) return "broken";
      this.#symbol = 0;
    }
    while (this.#left > 0) {
      if (this.#written === this.#output.length && !this.#makeRoom()) return "stopped";
      if (this.#in.bits >= 8) {
        this.#output[this.#written] = this.#in.take(8);
        this.#written += 1;
        this.#left -= 1;
        continue;
      }
      const count = Math.min(this.#left, this.#in.input.length - this.#in.at, this.#output.length - this.#written);
      if (count === 0) return "more";
      this.#output.set(this.#in.input.subarray(this.#in.at, this.#in.at + count), this.#written);
      this.#in.at += count;
      this.#written += count;
      this.#left -= count;
    }
    return this.#endBlock();
  }

  #dynamic(): Step {
    if (!this.#in.need(14)) return "more";
    this.#literalCount = this.#in.take(5) + 257;
    this.#lengthCount = this.#literalCount + this.#in.take(5) + 1;
    this.#codeLengthCount = this.#in.take(4) + 4;
    if (this.#literalCount > MAX_LITERALS || this.#lengthCount - this.#literalCount > DISTANCE_BASES.length) return "broken";
    this.#lengths.fill(0);
    this.#read = 0;
    this.#stage = "code-lengths";
    return "next";
  }

  #readCodeLengths(): Step {
    while (this.#read < this.#codeLengthCount) {
      if (!this.#in.need(3)) return "more";
      this.#lengths[CODE_LENGTH_ORDER[this.#read] as number] = this.#in.take(3);
      this.#read += 1;
    }
    const code = createHuffmanCode(this.#lengths.subarray(0, CODE_LENGTH_ORDER.length), false);
    if (!code) return "broken";
    this.#codeLengths = code;
    this.#lengths.fill(0);
    this.#read = 0;
    this.#symbol = 0;
    this.#stage = "lengths";
    return "next";
  }

  #readLengths(): Step {
    while (this.#read < this.#lengthCount) {
      if (this.#symbol === 0) {
        const symbol = this.#in.decode(this.#codeLengths);
        if (symbol < 0) return symbol === NEEDS_MORE ? "more" : "broken";
        if (symbol < 16) {
          this.#lengths[this.#read] = symbol;
          this.#read += 1;
          continue;
        }
        this.#symbol = symbol;
      }
      if (!this.#in.need(this.#symbol === 16 ? 2 : this.#symbol === 17 ? 3 : 7)) return "more";
      if (!this.#repeatLength()) return "broken";
      this.#symbol = 0;
    }
    return this.#makeCodes();
  }

  #repeatLength(): boolean {
    const previous = this.#symbol === 16 ? this.#lengths[this.#read - 1] : 0;
    const count = this.#symbol === 16 ? 3 + this.#in.take(2) : this.#symbol === 17 ? 3 + this.#in.take(3) : 11 + this.#in.take(7);
    if (previous === undefined || this.#read + count > this.#lengthCount) return false;
    this.#lengths.fill(previous, this.#read, this.#read + count);
    this.#read += count;
    return true;
  }

  #makeCodes(): Step {
    if (this.#lengths[END_OF_BLOCK] === 0) return "broken";
    const literals = createHuffmanCode(this.#lengths.subarray(0, this.#literalCount), true);
    const distances = createHuffmanCode(this.#lengths.subarray(this.#literalCount, this.#lengthCount), true);
    if (!literals || !distances) return "broken";
    [this.#literals, this.#distances] = [literals, distances];
    this.#stage = "symbol";
    return "next";
  }

  #symbols(): Step {
    for (;;) {
      if (this.#written === this.#output.length && !this.#makeRoom()) return "stopped";
      this.#literalRun();
      if (this.#written === this.#output.length) continue;
      const symbol = this.#in.decode(this.#literals);
      if (symbol < 0) return symbol === NEEDS_MORE ? "more" : "broken";
      if (symbol === END_OF_BLOCK) return this.#endBlock();
      if (symbol > END_OF_BLOCK) {
        this.#symbol = symbol - END_OF_BLOCK - 1;
        this.#stage = "length";
        return this.#symbol < LENGTH_BASES.length ? "next" : "broken";
      }
      this.#output[this.#written] = symbol;
      this.#written += 1;
    }
  }

  /** Literals of short codes, the most of all symbols, without a call for each. */
  #literalRun(): void {
    const { fast } = this.#literals;
    const reader = this.#in;
    const output = this.#output;
    const { input } = reader;
    let { at, hold, bits } = reader;
    let written = this.#written;
    while (written < output.length) {
      while (bits < MAX_CODE_BITS && at < input.length) {
        hold |= (input[at] as number) << bits;
        at += 1;
        bits += 8;
      }
      const entry = fast[hold & ((1 << FAST_BITS) - 1)] as number;
      const length = entry & 15;
      if (entry === 0 || length > bits || entry >= END_OF_BLOCK * 16) break;
      hold >>>= length;
      bits -= length;
      output[written] = entry >> 4;
      written += 1;
    }
    reader.at = at;
    reader.hold = hold;
    reader.bits = bits;
    this.#written = written;
  }

  #length(): Step {
    const extra = LENGTH_BITS[this.#symbol] as number;
    if (!this.#in.need(extra)) return "more";
    this.#left = (LENGTH_BASES[this.#symbol] as number) + this.#in.take(extra);
    this.#stage = "distance";
    return "next";
  }

  #distance(): Step {
    const symbol = this.#in.decode(this.#distances);
    if (symbol < 0) return symbol === NEEDS_MORE ? "more" : "broken";
    if (symbol >= DISTANCE_BASES.length) return "broken";
    this.#symbol = symbol;
    this.#stage = "copy";
    return "next";
  }

  #copy(): Step {
    const extra = this.#symbol < 2 ? 0 : (this.#symbol >> 1) - 1;
    if (!this.#in.need(extra)) return "more";
    const distance = (DISTANCE_BASES[this.#symbol] as number) + this.#in.take(extra);
    if (distance > this.#written) return "broken";
    if (this.#output.length - this.#written < this.#left && !this.#makeRoom()) return "stopped";
    const [output, to] = [this.#output, this.#written];
    for (let index = 0; index < this.#left; index += 1) output[to + index] = output[to + index - distance] as number;
    this.#written = to + this.#left;
    this.#stage = "symbol";
    return "next";
  }

  /** Room for the longest copy at least. @returns Whether more is wanted. */
  #makeRoom(): boolean {
    if (this.#output.length < MAX_OUTPUT_BYTES) {
      const grown = new Uint8Array(this.#output.length * 2);
      grown.set(this.#output.subarray(0, this.#written));
      this.#output = grown;
      return true;
    }
    if (!this.#give()) return false;
    this.#output.copyWithin(0, this.#written - WINDOW_BYTES, this.#written);
    this.#written = WINDOW_BYTES;
    this.#given = WINDOW_BYTES;
    return true;
  }

  #give(): boolean {
    const isWanted = this.#sink(this.#output.subarray(this.#given, this.#written));
    this.#given = this.#written;
    return isWanted;
  }
}
