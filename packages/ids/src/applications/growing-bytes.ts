/** Bytes that are kept as they come. */

const MIN_CAPACITY = 256;

/** A run of bytes that grows at its end, up to a bound. */
export class GrowingBytes {
  #bytes: Uint8Array;
  #length = 0;
  #view: Uint8Array | null = null;
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

  /** All of them; the same view as long as nothing is added. Good for ever: what is added later does not change it. */
  get view(): Uint8Array {
    this.#view ??= this.#bytes.subarray(0, this.#length);
    return this.#view;
  }

  /** Puts a copy of `bytes` from `from` to `to` at the end. @returns Whether all had room. */
  add(bytes: Uint8Array, from = 0, to = bytes.length): boolean {
    const count = Math.min(to - from, this.room);
    if (count <= 0) return to <= from;
    if (this.#length + count > this.#bytes.length) this.#grow(this.#length + count);
    // A loop of ours is faster than a call for the few bytes of a line.
    if (count < 32) for (let index = 0; index < count; index += 1) this.#bytes[this.#length + index] = bytes[from + index] as number;
    else this.#bytes.set(bytes.subarray(from, from + count), this.#length);
    this.#length += count;
    this.#view = null;
    return count === to - from;
  }

  /** Forgets them all; views that were handed out stay good. */
  clear(): void {
    this.#hold(-this.#bytes.length);
    this.#bytes = NOTHING;
    this.#length = 0;
    this.#view = null;
  }

  #grow(needed: number): void {
    const capacity = Math.min(this.#maxBytes, Math.max(MIN_CAPACITY, needed, this.#bytes.length * 2));
    const grown = new Uint8Array(capacity);
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#hold(capacity - this.#bytes.length);
    this.#bytes = grown;
  }
}

const NOTHING = new Uint8Array(0);
