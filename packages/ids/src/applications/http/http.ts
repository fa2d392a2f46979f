/** HTTP/1 for rules: both directions of a connection as transactions with Suricata's buffers. @see RFC 9112 */
import type { Application, ApplicationLimits, ApplicationOutput, ApplicationParser, CreateApplication, Direction, FirstBytes, RecognitionVerdict } from "../application.ts";
import type { Coding } from "../inflate/content-decoder.ts";
import { HttpBody } from "./body/body.ts";
import { HTTP_BUFFERS } from "./buffers.ts";
import { latin1 } from "./bytes.ts";
import { HTTP_EVENTS } from "./events.ts";
import { joinedValue } from "./head/fields.ts";
import { type Framing, framingOfRequest, framingOfResponse, includesWord } from "./body/framing.ts";
import { HTTP_STAGE, type HttpMessage } from "./message.ts";
import { HttpSide, type SideOwner } from "./side.ts";
import { isKnownMethod, mayBeginRequest, mayBeginResponse } from "./head/start-line.ts";
import { HttpTransaction, isNewProtocol } from "./transaction.ts";

/** Suricata's `minimal-inspect-size` of requests and responses. */
const MIN_INSPECTED = { "to-server": 32 * 1024, "to-client": 40 * 1024 } as const;
/** Codings one in the other; Suricata's default is 2. */
const MAX_LAYERS = 3;
const LINE_FEED = 0x0a;

class HttpConnection implements ApplicationParser, SideOwner {
  readonly #output: ApplicationOutput;
  readonly #limits: ApplicationLimits;
  /** Whose response has not ended, in the order of the requests. */
  readonly #open: HttpTransaction[] = [];
  readonly #sides: Readonly<Record<Direction, HttpSide>>;
  /** The transaction whose message is being read, or was read last in this call. */
  readonly #current: Record<Direction, HttpTransaction | null> = { "to-server": null, "to-client": null };
  /** The message of `current` has ended in this call: what follows it and is no message is taken for more of its body. */
  readonly #isEnded: Record<Direction, boolean> = { "to-server": false, "to-client": false };
  readonly #isChanged: Record<Direction, boolean> = { "to-server": false, "to-client": false };
  #isTunnel = false;
  #held = 0;
  readonly #hold = (octets: number): void => {
    this.#held += octets;
    this.#output.hold(octets);
  };

  constructor(output: ApplicationOutput, limits: ApplicationLimits) {
    this.#output = output;
    this.#limits = limits;
    this.#sides = { "to-server": new HttpSide("to-server", this), "to-client": new HttpSide("to-client", this) };
  }

  bytes(direction: Direction, bytes: Uint8Array): void {
    if (this.#isTunnel) return;
    this.#sides[direction].read(bytes);
    this.#settle(direction);
    if (!this.#isTunnel) return;
    this.end();
    this.#output.onSwitch("any");
  }

  gap(direction: Direction, octets: number): void {
    if (this.#isTunnel) return;
    this.#sides[direction].gap(octets);
    this.#settle(direction);
  }

  end(): void {
    for (const direction of ["to-server", "to-client"] as const) {
      this.#sides[direction].end();
      this.#settle(direction);
    }
    for (const transaction of this.#open.splice(0)) this.#close(transaction);
  }

  /** Reports what has changed, and transactions that are whole. */
  #settle(direction: Direction): void {
    const transaction = this.#current[direction];
    if (!transaction) return;
    const isEnded = this.#isEnded[direction];
    const message = transaction.messageOf(direction);
    if (isEnded) {
      message.body?.finish();
      message.reach(HTTP_STAGE.done);
      this.#current[direction] = null;
      this.#isEnded[direction] = false;
    }
    if (isEnded || this.#isChanged[direction]) {
      this.#isChanged[direction] = false;
      this.#output.onChange(transaction, direction);
    }
    if (isEnded && transaction.request.stage === HTTP_STAGE.done && transaction.response.stage === HTTP_STAGE.done) this.#remove(transaction);
  }

  #remove(transaction: HttpTransaction): void {
    const index = this.#open.indexOf(transaction);
    if (index < 0) return;
    this.#open.splice(index, 1);
    this.#close(transaction);
  }

  #close(transaction: HttpTransaction): void {
    this.#output.onEnd(transaction);
    transaction.forget();
  }

  #add(): HttpTransaction {
    while (this.#open.length > 0 && (this.#open.length >= this.#limits.transactionsPerFlow || this.#held > this.#limits.bytesPerFlow)) {
      const oldest = this.#open.find((open) => open !== this.#current["to-server"] && open !== this.#current["to-client"]);
      if (!oldest) break;
      this.#remove(oldest);
    }
    const transaction = new HttpTransaction(this.#hold);
    this.#open.push(transaction);
    return transaction;
  }

  begin(direction: Direction): HttpMessage {
    this.#settle(direction);
    const transaction = direction === "to-server" ? this.#add() : this.#nextAnswered();
    this.#current[direction] = transaction;
    return transaction.messageOf(direction);
  }

  onHead(direction: Direction, message: HttpMessage): Framing | "again" | null {
    this.#isChanged[direction] = true;
    return direction === "to-server" ? this.#onRequest(message) : this.#onResponse(message);
  }

  onBody(direction: Direction): void {
    this.#isChanged[direction] = true;
  }

  onOver(direction: Direction): void {
    this.#isEnded[direction] = true;
  }

  onFault(direction: Direction, fault: string): void {
    const of = direction === "to-server" ? "request" : "response";
    const name = fault === "field_folding" ? `invalid_${of}_field_folding` : fault === "chunk_len" ? `invalid_${of}_chunk_len` : OWN_NAMES.has(fault) ? fault : `${of}_${fault}`;
    this.#current[direction]?.events.add(name);
  }

  /** The transaction that the next response belongs to; a new one where no request waits for it. */
  #nextAnswered(): HttpTransaction {
    const waiting = this.#open.find(({ response }) => response.stage === HTTP_STAGE.begun && response.body === null);
    if (waiting) return waiting;
    const transaction = this.#add();
    transaction.request.reach(HTTP_STAGE.done);
    transaction.events.add("unable_to_match_response_to_request");
    return transaction;
  }

  /** @returns Where a message begins. */
  between(direction: Direction, bytes: Uint8Array, from: number): number {
    if (this.#isTunnel) return bytes.length;
    const previous = this.#isEnded[direction] ? this.#current[direction] : null;
    if (previous && !(direction === "to-server" ? mayBeginRequest(bytes, from) : mayBeginResponse(bytes, from))) {
      const lineFeed = bytes.indexOf(LINE_FEED, from);
      const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
      const message = previous.messageOf(direction);
      this.bodyOf(direction, message).add(bytes.subarray(from, end));
      if (direction === "to-server" && end > from + 2) previous.events.add("request_body_unexpected");
      return end;
    }
    let at = from;
    while (at < bytes.length && (bytes[at] === 0x0d || bytes[at] === LINE_FEED)) at += 1;
    return at;
  }

  onLine(direction: Direction, message: HttpMessage, from: number, to: number): boolean {
    const { view } = message.head;
    if (isOnlySpace(view.subarray(from, to))) return false;
    if (direction === "to-client" && !mayBeginResponse(view, from, to)) {
      // A line that is no status line is content, unless one comes after it.
      if (view[from] !== 0x20 && view[from] !== 0x09) this.bodyOf(direction, message).add(view.subarray(from));
      return false;
    }
    message.body?.clear();
    message.body = null;
    message.setLine(from, to);
    this.#isChanged[direction] = true;
    const transaction = this.#current[direction] as HttpTransaction;
    if (direction === "to-server") {
      for (const fault of transaction.requestLine.faults) transaction.events.add(fault);
    } else {
      const { protocol, status } = transaction.statusLine;
      if (!/^HTTP\/\d\.\d+$/.test(latin1(protocol))) transaction.events.add("response_invalid_protocol");
      if (!/^[1-9]\d\d$/.test(latin1(status))) transaction.events.add("response_invalid_status");
    }
    return true;
  }

  #onRequest(message: HttpMessage): Framing | null {
    const transaction = this.#current["to-server"] as HttpTransaction;
    for (const fault of transaction.host.faults) transaction.events.add(fault);
    const authorization = joinedValue(message.fields, "authorization");
    if (authorization && !/^(?:basic|bearer|digest)/i.test(latin1(authorization.subarray(0, 8)))) transaction.events.add("request_auth_unrecognized");
    const { framing, faults } = framingOfRequest(message.fields);
    for (const fault of faults) transaction.events.add(fault);
    if (latin1(transaction.requestLine.method) === "CONNECT") message.hold();
    return framing;
  }

  #onResponse(message: HttpMessage): Framing | "again" | null {
    const transaction = this.#current["to-client"] as HttpTransaction;
    const { protocol, status } = transaction.statusLine;
    const code = /^\d{3}$/.test(latin1(status)) ? Number(latin1(status)) : 0;
    const method = transaction.request.stage === HTTP_STAGE.begun ? "" : latin1(transaction.requestLine.method);
    const { framing, faults } = framingOfResponse({ fields: message.fields, status: code, isToHead: method === "HEAD", isOld: !isNewProtocol(protocol) });
    for (const fault of faults) transaction.events.add(fault);
    if (framing?.kind === "none" && code === 100) return "again";
    if (method === "CONNECT" && !(code >= 200 && code < 300)) this.#refuseTunnel(transaction);
    if ((method === "CONNECT" && code >= 200 && code < 300) || (framing?.kind === "none" && code === 101)) {
      this.#isTunnel = true;
      return NO_BODY;
    }
    return framing;
  }

  #refuseTunnel(transaction: HttpTransaction): void {
    transaction.request.release();
    transaction.request.reach(HTTP_STAGE.done);
    this.#output.onChange(transaction, "to-server");
  }

  bodyOf(direction: Direction, message: HttpMessage): HttpBody {
    const transaction = this.#current[direction] as HttpTransaction;
    message.body ??= new HttpBody({
      maxBytes: this.#limits.bodyBytes,
      minBytes: MIN_INSPECTED[direction],
      codings: message.stage === HTTP_STAGE.begun ? [] : this.#codingsOf(transaction, message),
      hold: this.#hold,
      onFault: (fault) => transaction.events.add(fault),
    });
    return message.body;
  }

  /** Codings by the words in the field, whatever is around them. */
  #codingsOf(transaction: HttpTransaction, message: HttpMessage): readonly Coding[] {
    const value = joinedValue(message.fields, "content-encoding");
    if (!value) return [];
    const codings: Coding[] = [];
    for (const item of splitList(value)) {
      const coding = includesWord(item, "gzip") ? "gzip" : includesWord(item, "deflate") ? "deflate" : null;
      if (!/^(?:x-)?(?:gzip|deflate)$/i.test(latin1(item).trim())) transaction.events.add("abnormal_ce_header");
      if (coding && codings.length === MAX_LAYERS) transaction.events.add("too_many_encoding_layers");
      else if (coding) codings.push(coding);
    }
    return codings;
  }
}

const NO_BODY: Framing = { kind: "none" };

/** Events whose names do not begin with the message's. */
const OWN_NAMES: ReadonlySet<string> = new Set(["compression_bomb", "gzip_decompression_failed"]);

function isOnlySpace(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

function splitList(value: Uint8Array): readonly Uint8Array[] {
  const items: Uint8Array[] = [];
  let from = 0;
  for (let at = value.indexOf(0x2c); at >= 0; at = value.indexOf(0x2c, from)) {
    items.push(value.subarray(from, at));
    from = at + 1;
  }
  return [...items, value.subarray(from)].slice(0, 32);
}

const createHttp: CreateApplication = (output, limits) => new HttpConnection(output, limits);

/** @returns Whether one side speaks HTTP: a method and white space, in either case, or a version. */
function recognize({ direction, bytes }: FirstBytes): RecognitionVerdict {
  const text = latin1(bytes.subarray(0, MAX_FIRST_WORD)).toUpperCase();
  if (direction === "to-client") return /^HTTP\/[01]\./.test(text) ? "yes" : "HTTP/1.".startsWith(text.slice(0, 7)) ? "more" : "no";
  const method = /^[A-Z-]+/.exec(text)?.[0] ?? "";
  if (method.length === text.length) return isKnownMethod(method, true) ? "more" : "no";
  return isKnownMethod(method, false) && /^[ \t]/.test(text.slice(method.length)) ? "yes" : "no";
}

const MAX_FIRST_WORD = 20;

/** HTTP/1. */
export const HTTP_APPLICATION: Application = {
  name: "http",
  transports: ["tcp"],
  create: createHttp,
  buffers: HTTP_BUFFERS,
  numbers: new Map([["http.urilen", { stage: HTTP_STAGE.line, grows: false }], ["file.size", { stage: HTTP_STAGE.done, grows: false }]]),
  words: new Map(),
  events: HTTP_EVENTS,
  service: "http",
  recognize,
};
