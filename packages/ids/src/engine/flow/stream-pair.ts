/** Both directions of a TCP connection, put in order, looked at in chunks, and handed to the application. */

import { TCP_FLAG } from "@lanthorn/packets";
import {
  acceptAcknowledgment, acceptSegment, createTcpStream, dropHeld, flushStream, type HolderWorth, type MemoryHolder, type StreamOutput, type StreamSegment, type TcpStream, type WatchedPacket,
} from "@lanthorn/traffic";
import type { Direction } from "../../applications/application.ts";
import type { ApplicationRun } from "./application-run.ts";
import type { FlowContext } from "./context.ts";
import { type FlowState, sideOf } from "./flow-state.ts";
import { attemptScope, findPlaces } from "./packet-rules.ts";
import { RawStream } from "./raw-stream.ts";
import type { TransactionOwner } from "./transaction-inspector.ts";

/** One connection's streams cost so much before they hold a byte. */
const STREAMS_BYTES = 1500;
const CONTROL = TCP_FLAG.syn | TCP_FLAG.rst | TCP_FLAG.fin;
/** What waits is looked at after this long, though little has come. */
const LOOK_MICROSECONDS = 1e6;

interface Side {
  readonly direction: Direction;
  readonly stream: TcpStream;
  readonly raw: RawStream;
}

/** The streams of one connection. */
export class StreamPair implements StreamOutput, MemoryHolder {
  heldBytes = 0;
  readonly #context: FlowContext;
  readonly #state: FlowState;
  readonly #application: ApplicationRun;
  readonly #flow: TransactionOwner;
  readonly #sides: readonly [Side, Side];
  #isOver = false;

  constructor(context: FlowContext, state: FlowState, application: ApplicationRun, { flow, isLate }: { readonly flow: TransactionOwner; readonly isLate: boolean }) {
    this.#context = context;
    this.#state = state;
    this.#application = application;
    this.#flow = flow;
    this.#sides = [startSide(state, "to-server", isLate), startSide(state, "to-client", isLate)];
    context.memory.add(this, STREAMS_BYTES);
    application.account = this;
  }

  get worth(): HolderWorth {
    return this.#state.application === "" || this.#state.application === "failed" ? "open" : "whole";
  }

  /** Both sides have ended, or one was reset. */
  get isEnded(): boolean {
    return !this.#isOver && this.#sides[0].stream.isEnded && this.#sides[1].stream.isEnded;
  }

  /** It was ended, and has given its memory back. */
  get isOver(): boolean {
    return this.#isOver;
  }

  segment(packet: WatchedPacket, direction: Direction, payload: Uint8Array): void {
    if (this.#isOver) return;
    const own = this.#sides[direction === "to-server" ? 0 : 1];
    const peer = this.#sides[direction === "to-server" ? 1 : 0];
    const { streams } = this.#context;
    const { sequence, acknowledgment, flags, at } = packet;
    if ((flags & TCP_FLAG.ack) !== 0) acceptAcknowledgment(peer.stream, this, streams, acknowledgment, at);
    // Most packets are an acknowledgment and nothing else.
    if (payload.length > 0 || own.stream.finAt >= 0 || (flags & CONTROL) !== 0) acceptSegment(own.stream, this, streams, segmentOf(sequence, flags, payload, at));
    if ((flags & TCP_FLAG.rst) !== 0 && own.stream.isEnded) peer.stream.isEnded = true;
  }

  onHeld(octets: number): void {
    if (this.#isOver) return;
    if (octets > 0) this.#context.memory.add(this, octets);
    else if (octets < 0) this.#context.memory.remove(this, Math.min(-octets, this.heldBytes));
  }

  onGap(side: 0 | 1, octets: number, at: number): void {
    const { raw, direction } = this.#sides[side];
    this.#look(this.#sides[side], true, at);
    raw.clear();
    raw.total += octets;
    this.#flow.focus(direction);
    this.#application.gap(direction, octets, at);
  }

  onBytes(side: 0 | 1, bytes: Uint8Array, at: number): void {
    if (this.#isOver || this.#state.isPassed || this.#application.isEncrypted) return;
    const own = this.#sides[side];
    const peer = this.#sides[side === 0 ? 1 : 0];
    const { limits, work } = this.#context;
    if (peer.raw.isWorthLooking || at - peer.raw.inspectedAt > LOOK_MICROSECONDS) this.#look(peer, false, at);
    const allowed = Math.max(limits.streamDepth - own.raw.total, 0);
    const taken = bytes.length <= allowed ? bytes : bytes.subarray(0, allowed);
    if (taken.length < bytes.length) this.#lookBeyond(own, bytes.subarray(taken.length));
    if (taken.length === 0) return;
    work.streamOctets += taken.length;
    this.#application.recognize(own.direction, taken);
    const before = own.raw.capacity;
    own.raw.append(taken);
    this.#flow.focus(own.direction);
    this.#application.bytes(own.direction, taken, at);
    if (own.raw.isWhole) {
      this.#look(own, true, at);
      own.raw.shift();
    }
    this.onHeld(own.raw.capacity - before);
  }

  /** What is there of a direction; `null` where nothing is. */
  chunkOf(direction: Direction): Uint8Array | null {
    const { raw } = this.#sides[direction === "to-server" ? 0 : 1];
    return raw.fresh === 0 ? null : raw.chunk;
  }

  /** A message of the application is whole: what came is looked at, and the next begins a chunk of its own. */
  endMessage(direction: Direction): void {
    const side = this.#sides[direction === "to-server" ? 0 : 1];
    if (this.#isOver) return;
    this.#look(side, true, this.#state.lastAt);
    side.raw.clear();
    this.#flow.focus(direction);
  }

  /** Hands over what waits, and gives the memory back. */
  finish(at: number): void {
    if (this.#isOver) return;
    for (const { stream } of this.#sides) flushStream(stream, this, this.#context.streams, at);
    this.#application.end(at);
    for (const side of this.#sides) this.#look(side, true, at);
    this.#drop();
  }

  /** Its memory is needed for others. */
  release(): void {
    this.#context.work.evictions += 1;
    this.#application.giveUp();
    this.#drop();
  }

  /** Behind the depth segments are looked at one by one. */
  #lookBeyond({ direction }: Side, bytes: Uint8Array): void {
    this.#context.work.beyondDepth += bytes.length;
    this.#flow.focus(direction);
    const { evaluator } = this.#context;
    evaluator.subject.payload = bytes;
    attemptScope(evaluator, evaluator.base.streams[direction], bytes);
  }

  /** Holds the chunk against the rules of its direction. @param isFinal It is whole: rules that ask for what is not there, or for places, are tried too. */
  #look({ raw, direction }: Side, isFinal: boolean, seenAt: number): void {
    const { evaluator } = this.#context;
    raw.inspectedAt = seenAt;
    if (raw.fresh === 0 || (!isFinal && raw.inspected === raw.length)) return;
    this.#flow.focus(direction);
    const base = evaluator.base;
    const { bytes, overlap } = raw;
    const chunk = overlap === 0 ? bytes : raw.chunk;
    const places = findPlaces(evaluator, base.streams[direction], bytes);
    for (let at = 0; at < places.length; at += 1) {
      const place = places[at] as number;
      const rule = base.rules[place];
      if (rule === undefined || raw.matched?.has(rule.key)) continue;
      const isOfWhole = rule.isNegative || rule.isPlaced;
      if (isOfWhole && !isFinal) continue;
      evaluator.subject.payload = chunk;
      let isMatch = evaluator.attempt(place);
      if (!isMatch && !isOfWhole && overlap > 0) {
        evaluator.subject.payload = bytes;
        isMatch = evaluator.attempt(place, overlap);
      }
      if (isMatch) (raw.matched ??= new Set()).add(rule.key);
    }
    raw.inspected = raw.length;
  }

  #drop(): void {
    for (const { stream, raw } of this.#sides) {
      dropHeld(stream, this);
      stream.isEnded = true;
      raw.drop();
    }
    this.#isOver = true;
    if (this.heldBytes > 0) this.#context.memory.remove(this, this.heldBytes);
  }
}

/** One object for all: it is read during the call only. */
const SEGMENT = { sequence: 0, flags: 0, payload: new Uint8Array(0) as Uint8Array, at: 0 };

function segmentOf(sequence: number, flags: number, payload: Uint8Array, at: number): StreamSegment {
  SEGMENT.sequence = sequence;
  SEGMENT.flags = flags;
  SEGMENT.payload = payload;
  SEGMENT.at = at;
  return SEGMENT;
}

function startSide(state: FlowState, direction: Direction, isLate: boolean): Side {
  const stream = createTcpStream(direction === "to-server" ? 0 : 1);
  const initial = isLate ? -1 : sideOf(state, direction).initial;
  if (initial >= 0) {
    stream.isStarted = true;
    stream.next = (initial + 1) >>> 0;
  }
  return { direction, stream, raw: new RawStream() };
}
