/** What rules see of a body: its beginning, decoded, in steps. */
import { GrowingBytes } from "../../growing-bytes.ts";
import { type Coding, type ContentDecoder, createContentDecoder } from "../../inflate/content-decoder.ts";

/** What decides how a body is kept. */
export interface BodyOptions {
  /** What is beyond is not seen. */
  readonly maxBytes: number;
  /** Nothing is seen before so many bytes are there, or the body has ended: Suricata's `minimal-inspect-size`. */
  readonly minBytes: number;
  /** In the order in which they were put on. */
  readonly codings: readonly Coding[];
  readonly hold: (octets: number) => void;
  readonly onFault: (fault: string) => void;
}

/** Bytes that come between one look and the next: all that is there is looked at again each time. */
const STEP_BYTES = 16 * 1024;
const NONE: readonly Uint8Array[] = [];

/** One body. */
export class HttpBody {
  readonly #bytes: GrowingBytes;
  readonly #options: BodyOptions;
  readonly #decoder: ContentDecoder | null;
  #instances = NONE;
  #octets = 0;
  #isOver = false;

  constructor(options: BodyOptions) {
    this.#options = options;
    this.#bytes = new GrowingBytes(options.maxBytes, options.hold);
    const keep = (bytes: Uint8Array) => this.#keep(bytes);
    this.#decoder = options.codings.reduce<ContentDecoder | null>(
      (inner, coding) => createContentDecoder(coding, inner ? (bytes) => inner.push(bytes) : keep, options.onFault), null,
    );
  }

  /** How many bytes of content there were, as far as they were decoded. */
  get octets(): number {
    return this.#octets;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What rules may look at now: nothing, or its beginning. The same list as long as it is the same. */
  get instances(): readonly Uint8Array[] {
    return this.#instances;
  }

  /** @returns Whether there is more to look at than before. */
  add(bytes: Uint8Array): boolean {
    if (this.#decoder) this.#decoder.push(bytes);
    else this.#keep(bytes);
    const seen = this.#instances[0]?.length ?? 0;
    const { length, room } = this.#bytes;
    if (length === seen || (room > 0 && !this.#isOver && (seen === 0 ? length < this.#options.minBytes : length - seen < STEP_BYTES))) return false;
    this.#show();
    return true;
  }

  /** Nothing more comes. @returns Whether there is more to look at than before. */
  finish(): boolean {
    const isNews = !this.#isOver && this.#bytes.length > (this.#instances[0]?.length ?? 0);
    this.#isOver = true;
    if (isNews) this.#show();
    return isNews;
  }

  /** Forgets what it holds; what rules have of it stays good. */
  clear(): void {
    this.#bytes.clear();
    this.#instances = NONE;
  }

  /** Forgets what it holds, and nobody looks at it any more. */
  release(): void {
    this.#bytes.release();
    this.#instances = NONE;
  }

  #show(): void {
    this.#instances = [this.#bytes.view];
  }

  #keep(bytes: Uint8Array): boolean {
    this.#octets += bytes.length;
    this.#bytes.add(bytes);
    // Without a decoder the bytes are counted to the end.
    return this.#bytes.room > 0;
  }
}
