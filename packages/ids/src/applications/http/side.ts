/** One direction of a connection: which of its bytes are lines, fields and bodies of which message. */
import type { Direction } from "../application.ts";
import type { HttpBody } from "./body/body.ts";
import { BodyReader } from "./body/body-reader.ts";
import type { Framing } from "./body/framing.ts";
import { LineSplitter } from "./head/line-splitter.ts";
import { HTTP_STAGE, type HttpMessage } from "./message.ts";

/** What a side asks of its connection. */
export interface SideOwner {
  /** Bytes between messages, of which there is one at least. @returns Where a message begins: at `from`, or the end of what was taken. */
  between(direction: Direction, bytes: Uint8Array, from: number): number;
  /** A message begins. */
  begin(direction: Direction): HttpMessage;
  /** The first line is there. @returns Whether fields follow; else the next line is tried. */
  onLine(direction: Direction, message: HttpMessage, from: number, to: number): boolean;
  /** All fields are there. @returns How the body ends; `null` where this side cannot be understood, `again` where another first line follows. */
  onHead(direction: Direction, message: HttpMessage): Framing | "again" | null;
  /** Where the body's bytes go. */
  bodyOf(direction: Direction, message: HttpMessage): HttpBody;
  /** There is more of the body to look at. */
  onBody(direction: Direction): void;
  /** Nothing more of the message comes. */
  onOver(direction: Direction): void;
  /** An event, named without `request_` or `response_`, unless it has a name of its own. */
  onFault(direction: Direction, fault: string): void;
}

type State = "between" | "line" | "fields" | "body" | "trailers" | "lost";

/** Suricata's `headers-limit`. */
const MAX_LINES = 1024;

/** One side. */
export class HttpSide {
  readonly #owner: SideOwner;
  readonly #direction: Direction;
  readonly #lines: LineSplitter;
  #state: State = "between";
  #message: HttpMessage | null = null;
  #body: BodyReader | null = null;

  constructor(direction: Direction, owner: SideOwner) {
    this.#direction = direction;
    this.#owner = owner;
    this.#lines = new LineSplitter(this.#isResponse);
  }

  get #isResponse(): boolean {
    return this.#direction === "to-client";
  }

  /** Its bytes are not read any more. */
  get isLost(): boolean {
    return this.#state === "lost";
  }

  /** Reads no more. */
  lose(): void {
    this.#state = "lost";
  }

  /** Reads the next bytes. */
  read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && this.#state !== "lost") at = this.#step(bytes, at);
  }

  /** Bytes are missing. Inside a body it is known what follows. */
  gap(octets: number): void {
    if (this.#state === "between") this.#state = "lost";
    else if (this.#state !== "body" || this.#body?.skip(octets) !== true) this.#lose();
    else if (this.#body.state === "over") this.#over();
  }

  /** The connection is over. */
  end(): void {
    const message = this.#message;
    if (!message || this.#state === "lost" || this.#state === "between") return;
    // A first line without an end may be content, as in HTTP/0.9.
    const { length } = message.head;
    if (this.#state === "line" && length > this.#lines.from) this.#owner.onLine(this.#direction, message, this.#lines.from, length);
    this.#over();
  }

  #step(bytes: Uint8Array, at: number): number {
    if (this.#state === "body") return this.#readBody(bytes, at);
    if (this.#state !== "between") return this.#readLine(bytes, at);
    const from = this.#owner.between(this.#direction, bytes, at);
    // The hook may have ended this side.
    if (from > at || this.#state !== "between") return from;
    this.#message = this.#owner.begin(this.#direction);
    this.#state = "line";
    this.#lines.begin(this.#message.head);
    return from;
  }

  #readLine(bytes: Uint8Array, at: number): number {
    const message = this.#message as HttpMessage;
    const kind = this.#lines.read(message.head, bytes, at);
    const next = this.#lines.at;
    if (kind === null) {
      if (this.#lines.isTooLong(message.head)) this.#cutLine(message);
      return next;
    }
    const { from, to } = this.#lines;
    if (this.#state === "line") {
      if (kind === "line" && this.#owner.onLine(this.#direction, message, from, to)) this.#state = "fields";
      else if (this.#isResponse && message.stage === HTTP_STAGE.begun) message.head.clear();
    } else if (kind === "line") {
      message.addLine(from, to);
      if (message.lineCount > MAX_LINES) this.#fail("too_many_headers");
    } else this.#endFields(message);
    this.#lines.begin(message.head);
    return next;
  }

  /** A line without an end is an attack, or content without a head. */
  #cutLine(message: HttpMessage): void {
    const isContent = this.#isResponse && this.#state === "line" && !this.#owner.onLine(this.#direction, message, this.#lines.from, message.head.length);
    if (!isContent) this.#fail("field_too_long");
    else message.head.clear();
    this.#lines.begin(message.head);
  }

  #endFields(message: HttpMessage): void {
    message.endLines();
    for (const fault of message.fields.faults) this.#owner.onFault(this.#direction, fault);
    if (this.#state === "trailers") {
      this.#over();
      return;
    }
    const framing = this.#owner.onHead(this.#direction, message);
    if (framing === "again") this.#state = "line";
    else if (framing === null) {
      message.refuse();
      message.reach(HTTP_STAGE.fields);
      this.#lose();
    } else {
      message.reach(HTTP_STAGE.head);
      this.#beginBody(message, framing);
    }
  }

  #beginBody(message: HttpMessage, framing: Framing): void {
    if (framing.kind === "none") {
      this.#over();
      return;
    }
    const body = this.#owner.bodyOf(this.#direction, message);
    this.#body = new BodyReader(framing, this.#isResponse ? "response" : "request", {
      sink: (bytes) => {
        if (body.add(bytes)) this.#owner.onBody(this.#direction);
      },
      onFault: (fault) => this.#owner.onFault(this.#direction, fault),
    });
    this.#state = "body";
  }

  #readBody(bytes: Uint8Array, at: number): number {
    const body = this.#body as BodyReader;
    const next = body.read(bytes, at);
    if (body.state === "over") this.#over();
    else if (body.state === "broken") this.#lose();
    else if (body.state === "trailer") {
      this.#state = "trailers";
      this.#lines.begin((this.#message as HttpMessage).head);
    }
    return next;
  }

  #fail(fault: string): void {
    if (this.#message) this.#owner.onFault(this.#direction, fault);
    this.#lose();
  }

  #lose(): void {
    const message = this.#message;
    this.#over();
    this.#state = "lost";
    // What is there of the body can be looked at, as nothing more comes.
    if (message?.body?.finish() === true) this.#owner.onBody(this.#direction);
  }

  #over(): void {
    this.#message = null;
    this.#body = null;
    this.#state = "between";
    this.#owner.onOver(this.#direction);
  }
}
