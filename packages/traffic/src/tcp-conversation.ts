/** A TCP connection whose protocol is known, or may soon be: its streams, what waits, and its parser. A class for its speed. */
import { TCP_FLAG } from "@lanthorn/packets";
import type { InspectorContext } from "./inspector-context.ts";
import { STREAM_PARSERS } from "./parsers.ts";
import type { StreamParser } from "./protocols/stream-parser.ts";
import { MAX_RECOGNITION_BYTES, recognizeStream } from "./recognition/recognize-stream.ts";
import { appendPending, createSideBuffer, dropPending, type SideBuffer } from "./side-buffer.ts";
import type { HolderWorth, MemoryHolder } from "./streams/memory.ts";
import {
  acceptAcknowledgment, acceptSegment, createTcpStream, dropHeld, flushStream, type StreamOutput, type TcpStream,
} from "./streams/tcp-stream.ts";
import type { TrafficMessage } from "./traffic-message.ts";
import { earn, MESSAGE_COST, STEP_COST } from "./work-account.ts";

/** A connection that was joined late is tried at the beginning of so many segments of a side; one that was seen from its SYN once. */
export const MAX_ATTEMPTS = 8;

/** What a conversation costs before it holds a byte: streams, buffers and parser, measured with V8. */
const CONVERSATION_BYTES = 3500;

const CONTROL_FLAGS = TCP_FLAG.syn | TCP_FLAG.fin | TCP_FLAG.rst;
const NO_BYTES = new Uint8Array(0);

/** What is known of a connection before its first bytes are of interest, for each side. */
export interface ConversationStart {
  /** Sequence number of the first byte, by the SYN; -1 where it was not seen. */
  readonly first: number;
  /** It has said what no protocol begins with. */
  readonly isOver: boolean;
}

/** One TCP connection. */
export class TcpConversation<Flow> implements StreamOutput, MemoryHolder {
  service = "";
  isDone = false;
  heldBytes = 0;
  readonly #context: InspectorContext<Flow>;
  readonly #flow: Flow;
  readonly #onDone: (service: string) => void;
  readonly #streams: readonly [TcpStream, TcpStream];
  readonly #sides: readonly [SideBuffer, SideBuffer];
  #parser: StreamParser | null = null;
  #hasGap = false;
  #at = 0;

  /** @param onDone Is called once, when nothing more is wanted or its memory is needed for others. */
  constructor(context: InspectorContext<Flow>, flow: Flow, start: readonly [ConversationStart, ConversationStart], onDone: (service: string) => void) {
    this.#context = context;
    this.#flow = flow;
    this.#onDone = onDone;
    this.#streams = [startStream(0, start[0]), startStream(1, start[1])];
    this.#sides = [createSideBuffer(0), createSideBuffer(1)];
    for (const side of [0, 1] as const) this.#sides[side].isOver = start[side].isOver;
    context.memory.add(this, CONVERSATION_BYTES);
  }

  get worth(): HolderWorth {
    if (this.#hasGap) return "partial";
    return this.service === "" ? "open" : "whole";
  }

  segment(side: 0 | 1, sequence: number, acknowledgment: number, flags: number, payload: Uint8Array, at: number): void {
    if (this.isDone) return;
    this.#at = at;
    const streams = this.#streams;
    const sides = this.#sides;
    const { memory, streams: context } = this.#context;
    if ((flags & TCP_FLAG.ack) !== 0 && !sides[side === 0 ? 1 : 0].isOver) {
      acceptAcknowledgment(streams[side === 0 ? 1 : 0], this, context, acknowledgment, at);
    }
    const isControl = (flags & CONTROL_FLAGS) !== 0;
    if (sides[side].isOver) {
      if ((flags & (TCP_FLAG.fin | TCP_FLAG.rst)) !== 0) streams[side].isEnded = true;
    } else if (payload.length > 0 || isControl) acceptSegment(streams[side], this, context, { sequence, flags, payload, at });
    if (isControl && ((flags & TCP_FLAG.rst) !== 0 ? streams[side].isEnded : streams[0].isEnded && streams[1].isEnded)) this.end();
    if (memory.isOver) memory.shrink();
  }

  end(): void {
    for (const stream of this.#streams) if (!this.isDone) flushStream(stream, this, this.#context.streams, this.#at);
    if (!this.isDone) this.#parser?.end(this.#at);
    this.#finish();
  }

  release(): void {
    this.end();
  }

  onHeld(octets: number): void {
    if (this.isDone) return;
    if (octets > 0) this.#context.memory.add(this, octets);
    else this.#context.memory.remove(this, -octets);
  }

  onGap(side: 0 | 1, octets: number): void {
    const buffer = this.#sides[side];
    if (buffer.isOver) return;
    this.#hasGap = true;
    if (buffer.skip >= octets && buffer.skip > 0) {
      buffer.skip -= octets;
      return;
    }
    buffer.skip = 0;
    this.#shrinkPending(buffer, buffer.length);
    buffer.needed = 1;
    buffer.scanned = 0;
    if (this.#parser !== null && !this.#parser.gap(buffer)) this.#close(buffer);
  }

  onBytes(side: 0 | 1, bytes: Uint8Array, at: number): void {
    const buffer = this.#sides[side];
    if (buffer.isOver) return;
    earn(buffer, bytes.length);
    let rest = bytes;
    if (buffer.skip > 0) {
      const skipped = Math.min(buffer.skip, bytes.length);
      buffer.skip -= skipped;
      if (skipped === bytes.length) return;
      rest = bytes.subarray(skipped);
    }
    if (buffer.pending !== null || rest.length < buffer.needed) {
      this.#keep(buffer, rest);
      if (buffer.isOver || buffer.length < buffer.needed || buffer.pending === null) return;
      const { length, pending } = buffer;
      this.#shrinkPending(buffer, this.#consume(buffer, pending.subarray(0, length), at));
      return;
    }
    const taken = this.#consume(buffer, rest, at);
    if (taken < rest.length && !buffer.isOver) this.#keep(buffer, rest.subarray(taken));
  }

  /** Lets the protocol be found, and its parser read. @returns How many bytes were taken, at most all. */
  #consume(buffer: SideBuffer, bytes: Uint8Array, at: number): number {
    let taken = 0;
    while (taken < bytes.length && !buffer.isOver) {
      const rest = taken === 0 ? bytes : bytes.subarray(taken);
      if (rest.length < buffer.needed) break;
      if (!this.#pay(buffer, at)) break;
      if (this.#parser === null && !this.#recognize(buffer, rest, at)) {
        // Either more is needed, or all of it is of no use.
        if (buffer.needed <= rest.length) taken = bytes.length;
        break;
      }
      const parser = this.#parser;
      if (parser === null) break;
      buffer.needed = 1;
      const count = parser.read(buffer, rest, at);
      if (count <= 0) {
        if (buffer.needed <= rest.length) buffer.needed = rest.length + 1;
        if (buffer.needed > parser.maxPendingBytes && !buffer.isOver) this.#tooLong(buffer);
        break;
      }
      buffer.scanned = 0;
      taken += count;
      if (taken > bytes.length) buffer.skip = taken - bytes.length;
      if (parser.releasedTo !== "") this.#pass(parser.releasedTo);
    }
    if (buffer.isOver) this.#close(buffer);
    return Math.min(taken, bytes.length);
  }

  /** Takes the cost of one step. @returns Whether the side could pay; it is over where not. */
  #pay(buffer: SideBuffer, at: number): boolean {
    const { counts, spare } = this.#context;
    buffer.credit -= STEP_COST;
    if (buffer.credit < 0 && !spare.cover(buffer, at)) {
      counts.tooCostly += 1;
      buffer.isOver = true;
      return false;
    }
    counts.steps += 1;
    return true;
  }

  /** @returns Whether a parser is there now for these bytes. */
  #recognize(buffer: SideBuffer, bytes: Uint8Array, at: number): boolean {
    const other = this.#sides[buffer.side === 0 ? 1 : 0];
    const answer = recognizeStream(bytes, other.pending?.subarray(0, other.length) ?? NO_BYTES);
    if (answer === "more" && bytes.length < MAX_RECOGNITION_BYTES) {
      buffer.needed = bytes.length + 1;
      return false;
    }
    if (answer === "" || answer === "more") {
      this.#failToRecognize(buffer, other);
      return false;
    }
    this.#begin(answer);
    // The other side was first to speak.
    if (!this.isDone && other.pending !== null) {
      other.needed = 1;
      this.#shrinkPending(other, this.#consume(other, other.pending.subarray(0, other.length), at));
    }
    return !this.isDone && !buffer.isOver;
  }

  #begin(service: string): void {
    if (this.service === "") this.#context.counts.recognized += 1;
    this.service = service;
    const create = STREAM_PARSERS.get(service);
    if (create) this.#parser = create((message) => this.#emit(message), (octets) => this.onHeld(octets), this.#context.limits);
    else this.#finish();
  }

  #failToRecognize(buffer: SideBuffer, other: SideBuffer): void {
    buffer.attempts += 1;
    this.#shrinkPending(buffer, buffer.length);
    buffer.needed = 1;
    const isMidstream = this.#streams[buffer.side].isMidstream || this.#hasGap;
    if (isMidstream && buffer.attempts < MAX_ATTEMPTS) {
      // Nothing of this segment; the next may begin with a message.
      return;
    }
    buffer.isOver = true;
    // A side that has said nothing yet may still be recognized; what it waits with may not.
    if (other.isOver || buffer.attempts + other.attempts >= MAX_ATTEMPTS) this.#giveUp();
  }

  /** Another protocol takes over, on both sides. */
  #pass(to: "any" | "tls"): void {
    this.#parser = null;
    for (const buffer of this.#sides) {
      buffer.isOver = false;
      buffer.attempts = 0;
      buffer.needed = 1;
      buffer.scanned = 0;
    }
    if (to === "tls") this.#begin("tls");
  }

  #keep(buffer: SideBuffer, bytes: Uint8Array): void {
    const limit = Math.min(this.#parser?.maxPendingBytes ?? MAX_RECOGNITION_BYTES * 8, this.#context.limits.pendingPerSide);
    if (buffer.length + bytes.length > limit + MAX_SEGMENT_BYTES) {
      this.#tooLong(buffer);
      return;
    }
    const grown = appendPending(buffer, bytes);
    if (grown > 0) this.#context.memory.add(this, grown);
  }

  #shrinkPending(buffer: SideBuffer, count: number): void {
    const shrunk = dropPending(buffer, count);
    if (shrunk > 0) this.#context.memory.remove(this, shrunk);
  }

  #tooLong(buffer: SideBuffer): void {
    this.#context.counts.tooLong += 1;
    this.#close(buffer);
  }

  /** Nothing more of this side. */
  #close(buffer: SideBuffer): void {
    buffer.isOver = true;
    this.#shrinkPending(buffer, buffer.length);
    dropHeld(this.#streams[buffer.side], this);
    if (this.#sides[0].isOver && this.#sides[1].isOver) this.#finish();
  }

  #giveUp(): void {
    if (this.service === "") this.#context.counts.unrecognized += 1;
    this.#finish();
  }

  #finish(): void {
    if (this.isDone) return;
    this.isDone = true;
    for (const buffer of this.#sides) {
      buffer.isOver = true;
      this.#shrinkPending(buffer, buffer.length);
    }
    for (const stream of this.#streams) dropHeld(stream, this);
    this.#parser = null;
    // What the parser kept, and the conversation itself.
    this.#context.memory.remove(this, this.heldBytes);
    this.#onDone(this.service);
  }

  #emit(message: TrafficMessage): void {
    this.#context.counts.messages += 1;
    this.#sides[message.side].credit -= MESSAGE_COST;
    this.#context.onMessage(this.#flow, message);
  }
}

/** What one segment may bring, with segmentation offload: it may stand behind a message that is not whole. */
const MAX_SEGMENT_BYTES = 256 * 1024;

function startStream(side: 0 | 1, { first }: ConversationStart): TcpStream {
  const stream = createTcpStream(side);
  if (first >= 0) {
    stream.isStarted = true;
    stream.next = first;
  }
  return stream;
}
