/** Bytes that are kept as they come. */
import { giveBytes, takeBytes } from "./byte-pool.ts";

const MIN_CAPACITY = 512;
const MIN_NATIVE_BYTES = 64;
/** Behind so many there is room for all that may come, where that is not too much: rules look at long bodies, and memory that they have looked at is not used again. */
const LONG_BYTES = 32 * 1024;
const MAX_AT_ONCE = 128 * 1024;

/** A run of bytes that grows at its end, up to a bound. */
export class GrowingBytes {
  #bytes: Uint8Array;
  #length = 0;
  #view: Uint8Array | null = null;
  /** Somebody may have a view of this memory. */
  #isSeen = false;
  readonly #maxBytes: number;
  readonly #hold: (octets: number) => void;

  /**
   * @param maxBytes What comes beyond them is left out.
   * @param hold Is called with what is kept more (or less) than before.
   */
  constructor(maxBytes: number, hold: (octets: number) => void) {
    this.#bytes = NOTHING;
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /** How many there are. */
  get length(): number {
    return this.#length;
  }

  /** Bytes that may still come. */
  get room(): number {
    return this.#maxBytes - this.#length;
  }

  /** All of them; the same view as long as nothing is added. Good until `release`: what is added later does not change it. */
  get view(): Uint8Array {
    this.#view ??= this.#bytes.subarray(0, this.#length);
    this.#isSeen = true;
    return this.#view;
  }

  /** Puts a copy of `bytes` from `from` to `to` at the end. @returns Whether all had room. */
  add(bytes: Uint8Array, from = 0, to = bytes.length): boolean {
    const count = Math.min(to - from, this.room);
    if (count <= 0) return to <= from;
    const at = this.#length;
    if (at + count > this.#bytes.length) this.#grow(at + count);
    const own = this.#bytes;
    // A loop of ours is faster than a call for the few bytes of a line.
    if (count < MIN_NATIVE_BYTES) for (let index = 0; index < count; index += 1) own[at + index] = bytes[from + index] as number;
    else own.set(bytes.subarray(from, from + count), at);
    this.#length = at + count;
    this.#view = null;
    return count === to - from;
  }

  /** Forgets them all; views that were handed out stay good. */
  clear(): void {
    this.#hold(-this.#bytes.length);
    this.#bytes = NOTHING;
    this.#length = 0;
    this.#view = null;
    this.#isSeen = false;
  }

  /** Forgets them all, and lets others have the memory: no view of it is good any more. */
  release(): void {
    const bytes = this.#bytes;
    this.clear();
    giveBytes(bytes);
  }

  #grow(needed: number): void {
    const before = this.#bytes;
    const grown = takeBytes(needed > LONG_BYTES && this.#maxBytes <= MAX_AT_ONCE ? this.#maxBytes : Math.min(this.#maxBytes, Math.max(MIN_CAPACITY, needed, before.length * 2)));
    if (this.#length > 0) grown.set(before.subarray(0, this.#length));
    this.#hold(grown.length - before.length);
    this.#bytes = grown;
    if (!this.#isSeen) giveBytes(before);
    this.#isSeen = false;
  }
}

const NOTHING = new Uint8Array(0);
