/** The bytes of one side of a stream, as rules without a protocol look at them: in chunks, each with the end of the one before. */
import { giveBytes, takeBytes } from "../../applications/byte-pool.ts";

/** As Suricata's `toserver-chunk-size`: a chunk is whole with the segment that makes it as long. */
const CHUNK_BYTES = 2560;
/** Of the chunk before: a content that is cut between two is found. */
const OVERLAP_BYTES = 512;
const MIN_CAPACITY = 512;
/** More than this is given back behind a chunk: segments are as long with offload. */
const MAX_KEPT_CAPACITY = 8192;

const NO_BYTES = new Uint8Array(0);

/** What was put in, and what was looked at. */
export class RawStream {
  /** Bytes that were put in, and that were missing, in all. */
  total = 0;
  /** Up to here rules have looked at it. */
  inspected = 0;
  /** When they did last, in microseconds. */
  inspectedAt = 0;
  /** Bytes at its beginning that are of the chunk before. */
  overlap = 0;
  /** Rules that have matched in this chunk, by key: none does so twice. */
  matched: Set<number> | null = null;
  #bytes: Uint8Array = NO_BYTES;
  #length = 0;

  /** Memory that it has. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Bytes of the chunk that are its own. */
  get fresh(): number {
    return this.#length - this.overlap;
  }

  /** All that there is: good until the next call. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The chunk without the end of the one before. */
  get chunk(): Uint8Array {
    return this.#bytes.subarray(this.overlap, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  get isWhole(): boolean {
    return this.fresh >= CHUNK_BYTES;
  }

  /** Enough is new to look again: so all looks together cost no more than three times the bytes. */
  get isWorthLooking(): boolean {
    const isNew = this.#length - this.inspected;
    return isNew > 0 && isNew * 2 >= this.inspected - this.overlap;
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const grown = takeBytes(Math.max(MIN_CAPACITY, length, Math.min(this.#bytes.length * 2, MAX_KEPT_CAPACITY)));
      grown.set(this.bytes);
      giveBytes(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
    this.total += bytes.length;
  }

  /** Begins the next chunk with the end of this one. */
  shift(): void {
    const kept = Math.min(this.#length, OVERLAP_BYTES);
    const tail = this.#bytes.subarray(this.#length - kept, this.#length);
    if (this.#bytes.length > MAX_KEPT_CAPACITY) {
      const shorter = takeBytes(kept);
      shorter.set(tail);
      giveBytes(this.#bytes);
      this.#bytes = shorter;
    } else this.#bytes.set(tail, 0);
    this.#begin(kept);
  }

  /** Begins the next chunk with nothing: a message ends here, or bytes are missing. */
  clear(): void {
    this.#begin(0);
  }

  /** Gives its memory back. */
  drop(): void {
    giveBytes(this.#bytes);
    this.#bytes = NO_BYTES;
    this.#begin(0);
  }

  #begin(length: number): void {
    this.#length = length;
    this.inspected = length;
    this.overlap = length;
    this.matched = null;
  }
}
