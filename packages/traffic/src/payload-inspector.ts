/** One flow under inspection. A class, and a small one: there is one for each of a hundred thousand flows. */
import { TCP_FLAG } from "@lanthorn/packets";
import type { FlowInspector } from "./flow-inspector.ts";
import type { InspectorContext } from "./inspector-context.ts";
import { DATAGRAM_PARSERS, STREAM_PARSERS } from "./parsers.ts";
import type { DatagramParser } from "./protocols/stream-parser.ts";
import { recognizeDatagram } from "./recognition/recognize-datagram.ts";
import { recognizeStream } from "./recognition/recognize-stream.ts";
import type { HolderWorth, MemoryHolder } from "./streams/memory.ts";
import { MAX_ATTEMPTS, TcpConversation } from "./tcp-conversation.ts";

/** Datagrams of a flow that are looked at before it is given up. */
const MAX_DATAGRAM_ATTEMPTS = 6;

const UNKNOWN = -1;

/**
 * One TCP connection, or one flow of datagrams. What is needed to put a connection in order is made at the first segment that some protocol
 * may begin with: most connections that are joined late, and all that nobody knows, never get there.
 */
export class PayloadInspector<Flow> implements FlowInspector, MemoryHolder {
  service = "";
  isDone = false;
  /** Of datagrams. */
  heldBytes = 0;
  readonly #context: InspectorContext<Flow>;
  readonly #flow: Flow;
  #conversation: TcpConversation<Flow> | null = null;
  #datagrams: DatagramParser | null = null;
  /** Segments or datagrams that were looked at in vain. */
  #attempts = 0;
  /** Sequence numbers of the first bytes, by the SYNs. */
  #first0 = UNKNOWN;
  #first1 = UNKNOWN;
  /** Sides that have begun with what no protocol begins with. */
  #isOver0 = false;
  #isOver1 = false;

  get worth(): HolderWorth {
    return this.service === "" ? "open" : "whole";
  }

  constructor(context: InspectorContext<Flow>, flow: Flow) {
    this.#context = context;
    this.#flow = flow;
  }

  segment(side: 0 | 1, sequence: number, acknowledgment: number, flags: number, payload: Uint8Array, at: number): void {
    if (this.isDone) return;
    if (this.#conversation === null && !this.#begin(side, sequence, flags, payload)) return;
    const conversation = this.#conversation;
    if (conversation === null) return;
    conversation.segment(side, sequence, acknowledgment, flags, payload, at);
    this.service = conversation.service;
  }

  datagram(side: 0 | 1, payload: Uint8Array, at: number): void {
    if (this.isDone || payload.length === 0) return;
    if (this.#datagrams === null) {
      const service = recognizeDatagram(payload);
      const create = service === "" ? undefined : DATAGRAM_PARSERS.get(service);
      if (!create) {
        this.#attempts += 1;
        if (this.#attempts >= MAX_DATAGRAM_ATTEMPTS) this.#giveUp();
        return;
      }
      const { counts, onMessage } = this.#context;
      this.service = service;
      counts.recognized += 1;
      this.#datagrams = create((message) => {
        counts.messages += 1;
        onMessage(this.#flow, message);
      }, (octets) => this.#hold(octets), (units, now) => this.#pay(units, now));
    }
    this.#datagrams.read(side, payload, at);
    if (this.#datagrams.isOver) this.end();
    if (this.#context.memory.isOver) this.#context.memory.shrink();
  }

  end(): void {
    this.#conversation?.end();
    this.isDone = true;
    this.#datagrams = null;
    if (this.heldBytes > 0) this.#context.memory.remove(this, this.heldBytes);
  }

  /** Gives up a flow of datagrams; a connection is its own holder. */
  release(): void {
    this.end();
  }

  /** @returns Whether the segment is to be put in its place: a protocol may begin with it, or something is missing before it. */
  #begin(side: 0 | 1, sequence: number, flags: number, payload: Uint8Array): boolean {
    const isSyn = (flags & TCP_FLAG.syn) !== 0;
    const begin = isSyn ? (sequence + 1) >>> 0 : sequence;
    if (isSyn && side === 0) this.#first0 = begin;
    if (isSyn && side === 1) this.#first1 = begin;
    if (payload.length === 0 || (side === 0 ? this.#isOver0 : this.#isOver1)) return false;
    const first = side === 0 ? this.#first0 : this.#first1;
    const answer = first === UNKNOWN || first === begin ? recognizeStream(payload) : "more";
    if (answer === "") this.#miss(side, first !== UNKNOWN);
    else if (answer !== "more" && !STREAM_PARSERS.has(answer)) {
      this.service = answer;
      this.#context.counts.recognized += 1;
      this.isDone = true;
    } else {
      this.#conversation = new TcpConversation(this.#context, this.#flow, [
        { first: this.#first0, isOver: this.#isOver0 }, { first: this.#first1, isOver: this.#isOver1 },
      ], (service) => {
        this.service = service;
        this.isDone = true;
        this.#conversation = null;
      });
      return true;
    }
    return false;
  }

  /** A connection that was seen from its SYN cannot begin anew. */
  #miss(side: 0 | 1, isFromBegin: boolean): void {
    this.#attempts += 1;
    if (isFromBegin && side === 0) this.#isOver0 = true;
    if (isFromBegin && side === 1) this.#isOver1 = true;
    if ((this.#isOver0 && this.#isOver1) || this.#attempts >= MAX_ATTEMPTS) this.#giveUp();
  }

  #hold(octets: number): void {
    if (octets > 0) this.#context.memory.add(this, octets);
    else if (octets < 0) this.#context.memory.remove(this, -octets);
  }

  #pay(units: number, at: number): boolean {
    const { spare, counts } = this.#context;
    const isPaid = spare.cover({ credit: -units }, at);
    if (!isPaid) counts.tooCostly += 1;
    return isPaid;
  }

  #giveUp(): void {
    this.#context.counts.unrecognized += 1;
    this.isDone = true;
  }
}
