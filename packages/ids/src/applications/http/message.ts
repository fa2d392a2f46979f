/** One request or response as it comes: its head in one run of bytes, its body in another. */
import { GrowingBytes } from "../growing-bytes.ts";
import type { HttpBody } from "./body/body.ts";
import { type HttpFields, linesOf, type MergedField, mergeFields, readFields } from "./head/fields.ts";

/** How far a message is. Bodies are there in part before `done`; what follows a body may still be added to the head. */
export const HTTP_STAGE = { begun: 0, line: 1, fields: 2, head: 3, done: 255 } as const;

const NO_BYTES = new Uint8Array(0);

/** First lines, fields, trailers, and what ends them. */
export const MAX_HEAD_BYTES = 128 * 1024;

/** One message. */
export class HttpMessage {
  readonly isResponse: boolean;
  /** All lines of its head, of the response that comes before another, and of its trailers. */
  readonly head: GrowingBytes;
  /** Beginning and end of each line of fields in `head`. */
  readonly #lines: number[] = [];
  #line: Uint8Array = NO_BYTES;
  /** Where the fields begin; -1 before. */
  #fieldsFrom = -1;
  #fields: HttpFields | null = null;
  #mergedFields: readonly MergedField[] | null = null;
  #fieldLines: Uint8Array | null = null;
  /** Goes up when the head has changed, or how it is looked at: what was made of it is out of date. */
  version = 0;
  stage: number = HTTP_STAGE.begun;
  body: HttpBody | null = null;
  #isRefused = false;
  /** It asks for a tunnel, and the answer is not known: it goes no further than its fields. */
  #isHeld = false;

  constructor(isResponse: boolean, hold: (octets: number) => void) {
    this.isResponse = isResponse;
    this.head = new GrowingBytes(MAX_HEAD_BYTES, hold);
  }

  /** Its fields say nothing that can be believed about its body: as a whole they are not looked at. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** How many lines of fields there are. */
  get lineCount(): number {
    return this.#lines.length / 2;
  }

  /** The first line, without its end; the same view until another takes its place. */
  get line(): Uint8Array {
    return this.#line;
  }

  /** The fields as they were sent, with the empty line; `null` before they come. */
  get rawFields(): Uint8Array | null {
    return this.#fieldsFrom < 0 || this.head.length === this.#fieldsFrom ? null : this.head.view.subarray(this.#fieldsFrom);
  }

  /** What the lines of fields say that are there. */
  get fields(): HttpFields {
    this.#fields ??= readFields(this.head.view, this.#lines, this.isResponse);
    return this.#fields;
  }

  /** The same, each name once. */
  get mergedFields(): readonly MergedField[] {
    this.#mergedFields ??= mergeFields(this.fields);
    return this.#mergedFields;
  }

  /** Name and value of each of them, a line each; empty without any. */
  get fieldLines(): Uint8Array {
    this.#fieldLines ??= linesOf(this.mergedFields);
    return this.#fieldLines;
  }

  /** The first line is in the head, from `from` to `to`; one that comes after another response takes its place. */
  setLine(from: number, to: number): void {
    this.#line = this.#trim(this.head.view.subarray(from, to));
    if (this.#fieldsFrom < 0) this.#fieldsFrom = this.head.length;
    this.#lines.length = 0;
    this.#changed();
    this.reach(HTTP_STAGE.line);
  }

  /** A line of fields is in the head. */
  addLine(from: number, to: number): void {
    this.#lines.push(from, to);
    this.#changed();
  }

  /** The empty line behind them is in the head. */
  endLines(): void {
    this.version += 1;
  }

  /** Goes on to `stage`. */
  reach(stage: number): void {
    const reached = Math.max(stage, this.stage);
    this.stage = this.#isHeld ? Math.min(reached, HTTP_STAGE.fields) : reached;
  }

  /** It is not to be believed. */
  refuse(): void {
    this.#isRefused = true;
    this.version += 1;
  }

  /** A request for a tunnel: what is in it as a whole is not looked at before the answer has come, as in Suricata. */
  hold(): void {
    this.#isHeld = true;
    this.refuse();
  }

  /** There is no tunnel: a request like others. */
  release(): void {
    this.#isHeld = false;
    this.#isRefused = false;
    this.version += 1;
  }

  /** Forgets what it holds: nobody looks at it any more. */
  forget(): void {
    this.#line = NO_BYTES;
    this.head.release();
    this.body?.release();
  }

  #changed(): void {
    this.version += 1;
    this.#fields = null;
    this.#mergedFields = null;
    this.#fieldLines = null;
  }

  /** Only what ends lines is taken away. */
  #trim(line: Uint8Array): Uint8Array {
    let end = line.length;
    while (end > 0 && (line[end - 1] === 0x0d || line[end - 1] === 0x0a)) end -= 1;
    return end === line.length ? line : line.subarray(0, end);
  }
}
