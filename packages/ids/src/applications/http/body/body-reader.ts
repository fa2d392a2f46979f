/** A body without its chunks, as it comes. @see RFC 9112 sections 6 and 7.1 */
import { hexValue, isSpace } from "../bytes.ts";
import type { Framing } from "./framing.ts";

type State = "size" | "digits" | "extension" | "data" | "data-end" | "trailer" | "over" | "broken";

const MAX_CHUNK_BYTES = 2 ** 31;
const LINE_FEED = 0x0a;

/** One body. Bytes go in, those of the content come out. */
export class BodyReader {
  #state: State;
  #left: number;
  readonly #isChunked: boolean;
  readonly #isLenient: boolean;
  readonly #sink: (bytes: Uint8Array) => void;
  readonly #onFault: (fault: "chunk_extension" | "chunk_len") => void;

  /** @param of What is no chunk of a response is taken for content until the connection closes; what is none of a request breaks it. */
  constructor(framing: Framing, of: "request" | "response", { sink, onFault }: { readonly sink: (bytes: Uint8Array) => void; readonly onFault: (fault: "chunk_extension" | "chunk_len") => void }) {
    this.#isChunked = framing.kind === "chunked";
    this.#isLenient = of === "response";
    this.#state = this.#isChunked ? "size" : framing.kind === "none" ? "over" : "data";
    this.#left = framing.kind === "length" ? framing.octets : framing.kind === "close" ? Number.POSITIVE_INFINITY : 0;
    this.#sink = sink;
    this.#onFault = onFault;
  }

  /** `reading`, or why no more is taken: fields follow, it has ended, or it cannot be understood. */
  get state(): "reading" | "trailer" | "over" | "broken" {
    const state = this.#state;
    return state === "trailer" || state === "over" || state === "broken" ? state : "reading";
  }

  /** @returns Where it stopped to read. */
  read(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && this.state === "reading") at = this.#state === "data" ? this.#readData(bytes, at) : this.#readLine(bytes, at);
    return at;
  }

  /** Bytes are missing. @returns Whether it is clear what follows. */
  skip(octets: number): boolean {
    if (this.#state !== "data" || octets > this.#left) return false;
    this.#take(octets);
    return true;
  }

  #readData(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#sink(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    this.#take(end - at);
    return end;
  }

  #take(octets: number): void {
    this.#left -= octets;
    if (this.#left === 0) this.#state = this.#isChunked ? "data-end" : "over";
  }

  /** One byte of a line between chunks, or all up to its end. */
  #readLine(bytes: Uint8Array, at: number): number {
    if (this.#state === "data-end" || this.#state === "extension") {
      const end = bytes.indexOf(LINE_FEED, at);
      if (end < 0) return bytes.length;
      this.#state = this.#state === "data-end" ? "size" : this.#afterSize();
      return end + 1;
    }
    const digit = hexValue(bytes[at]);
    if (digit >= 0) {
      this.#left = (this.#state === "size" ? 0 : this.#left * 16) + digit;
      this.#state = "digits";
      if (this.#left > MAX_CHUNK_BYTES) this.#fail();
      return at + 1;
    }
    if (this.#state === "digits") {
      if (bytes[at] !== LINE_FEED && !isSpace(bytes[at])) this.#onFault("chunk_extension");
      this.#state = bytes[at] === LINE_FEED ? this.#afterSize() : "extension";
      return at + 1;
    }
    if (isSpace(bytes[at])) return at + 1;
    this.#fail();
    return at;
  }

  #afterSize(): State {
    return this.#left === 0 ? "trailer" : "data";
  }

  #fail(): void {
    this.#onFault("chunk_len");
    this.#state = this.#isLenient ? "data" : "broken";
    this.#left = Number.POSITIVE_INFINITY;
  }
}
