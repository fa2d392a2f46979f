/** Lines of a head, as libhtp ends them: those of requests at LF, those of responses at LF, CR LF, LF CR and CR too. */
import type { GrowingBytes } from "../../growing-bytes.ts";
import { isBlank } from "../bytes.ts";

/** `blank` ends the fields; `null` where the line goes on. */
export type LineKind = "blank" | "line" | null;

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Suricata's `meta-field-limit`. */
const MAX_LINE_BYTES = 18_432;

/** One side's lines, put into the head of its message. */
export class LineSplitter {
  readonly #isLenient: boolean;
  /** Where the line begins in the head. */
  from = 0;
  /** Where its content ends, when it is there. */
  to = 0;
  /** Where reading stopped. */
  at = 0;
  /** What the line ends with so far: the next byte may belong to it. */
  #end: "" | "cr" | "lf" = "";

  /** @param isLenient As responses. */
  constructor(isLenient: boolean) {
    this.#isLenient = isLenient;
  }

  /** A line begins at the end of `head`. */
  begin(head: GrowingBytes): void {
    this.from = head.length;
    this.#end = "";
  }

  /** The line is longer than any may be. */
  isTooLong(head: GrowingBytes): boolean {
    return head.length - this.from > MAX_LINE_BYTES || head.room === 0;
  }

  /** Takes bytes from `from` on up to the end of the line, and says in `at` where it stopped. */
  read(head: GrowingBytes, bytes: Uint8Array, from: number): LineKind {
    if (this.#isLenient) return this.#readLenient(head, bytes, from);
    const end = bytes.indexOf(LINE_FEED, from);
    this.at = end < 0 ? bytes.length : end + 1;
    head.add(bytes, from, this.at);
    if (end < 0) return null;
    this.to = head.length - 1;
    return this.to === this.from || (this.to === this.from + 1 && head.view[this.from] === RETURN) ? "blank" : "line";
  }

  #readLenient(head: GrowingBytes, bytes: Uint8Array, from: number): LineKind {
    this.at = from;
    while (this.at < bytes.length) {
      const kind = this.#end === "" ? this.#readContent(head, bytes) : this.#end === "cr" ? this.#readAfterReturn(head, bytes) : this.#readAfterLineFeed(head, bytes);
      if (kind !== null) return kind;
    }
    return null;
  }

  #readContent(head: GrowingBytes, bytes: Uint8Array): LineKind {
    const from = this.at;
    let end = from;
    while (end < bytes.length && bytes[end] !== LINE_FEED && bytes[end] !== RETURN) end += 1;
    const begun = head.length;
    // Nearly all lines end with both.
    const hasBoth = bytes[end] === RETURN && bytes[end + 1] === LINE_FEED;
    this.at = Math.min(hasBoth ? end + 2 : end + 1, bytes.length);
    head.add(bytes, from, this.at);
    this.to = Math.min(begun + end - from, head.length);
    if (hasBoth) return this.to === this.from ? "blank" : "line";
    if (end === bytes.length) return null;
    this.#end = bytes[end] === RETURN ? "cr" : "lf";
    return this.#end === "lf" && this.to === this.from ? "blank" : null;
  }

  #readAfterReturn(head: GrowingBytes, bytes: Uint8Array): LineKind {
    const byte = bytes[this.at];
    if (byte !== RETURN && byte !== LINE_FEED) return "line";
    this.#take(head, bytes);
    if (byte === RETURN) return null;
    return head.length - 2 === this.from ? "blank" : "line";
  }

  /** One space alone in a line ends the fields, except before an empty line. */
  #readAfterLineFeed(head: GrowingBytes, bytes: Uint8Array): LineKind {
    const byte = bytes[this.at];
    const isWhite = this.to === this.from + 1 && isBlank(head.view[this.from]);
    if (byte === RETURN) this.#take(head, bytes);
    return isWhite && byte !== LINE_FEED && byte !== RETURN ? "blank" : "line";
  }

  #take(head: GrowingBytes, bytes: Uint8Array): void {
    head.add(bytes, this.at, this.at + 1);
    this.at += 1;
  }
}
