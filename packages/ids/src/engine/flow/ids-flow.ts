/** One flow under inspection: its packets, its streams, and what its application says. A class, as there is one for each flow. */

import { TCP_FLAG } from "@lanthorn/packets";
import type { FlowKey, FlowWatch, WatchedPacket } from "@lanthorn/traffic";
import type { Direction } from "../../applications/application.ts";
import { payloadOf } from "../inspect/packet-buffers.ts";
import type { PayloadLender } from "../inspect/subject.ts";
import { classOf } from "../rule-base/rule-base.ts";
import { ApplicationRun } from "./application-run.ts";
import type { FlowContext } from "./context.ts";
import { createFlowState, type FlowState, isEstablished, sideOf } from "./flow-state.ts";
import { attemptScope } from "./packet-rules.ts";
import { StreamPair } from "./stream-pair.ts";
import { advanceSession } from "./tcp-session.ts";
import type { TransactionOwner } from "./transaction-inspector.ts";

/** A flow while it lasts. */
export class IdsFlow implements FlowWatch, PayloadLender, TransactionOwner {
  readonly #context: FlowContext;
  readonly #key: () => FlowKey;
  #state: FlowState;
  #application: ApplicationRun | null = null;
  /** Made with the first byte of an open connection: half-open ones have none, and those that are over. */
  #streams: StreamPair | null = null;
  /** Its connection has ended: what is left of it in the flow table is small. */
  #isOver = false;
  #lastFrame = 0;
  /** Directions in which rules about the recognition were tried. */
  #announced = 0;
  /** Bytes went by before there were rules: streams begin with what comes now. */
  #isLate = false;

  /** @param first The packet that opened it; it is given to `packet` too. */
  constructor(context: FlowContext, first: WatchedPacket, key: () => FlowKey) {
    this.#context = context;
    this.#key = key;
    this.#state = createFlowState(first, key);
    this.#openApplication(first);
  }

  #openApplication({ isTcp, protocol }: WatchedPacket): void {
    if (!isTcp && protocol !== UDP) return;
    this.#application = new ApplicationRun(this.#context, this.#state, this);
  }

  /** A SYN with another number behind a connection that is over, or of which nothing was said: another connection between the same ports. */
  #isAnother({ isTcp, flags, sequence }: WatchedPacket): boolean {
    const { stage, toServer } = this.#state;
    if (!isTcp || (flags & (TCP_FLAG.syn | TCP_FLAG.ack | TCP_FLAG.rst)) !== TCP_FLAG.syn) return false;
    return (stage === "open" || stage === "none") && toServer.initial !== sequence && (this.#streams === null || this.#streams.isOver);
  }

  #beginAnother(packet: WatchedPacket): void {
    this.#application?.end(this.#state.lastAt);
    this.#streams = null;
    this.#isOver = false;
    this.#announced = 0;
    this.#isLate = false;
    this.#state = createFlowState(packet, this.#key);
    this.#openApplication(packet);
  }

  packet(packet: WatchedPacket): void {
    const { evaluator, work } = this.#context;
    if (this.#isAnother(packet)) this.#beginAnother(packet);
    const state = this.#state;
    const direction: Direction = packet.isFromOriginator === state.isClientOriginator ? "to-server" : "to-client";
    const side = sideOf(state, direction);
    side.packets += 1;
    side.octets += packet.ipBytes;
    state.lastAt = packet.at;
    this.#lastFrame = packet.frameNumber;
    work.packets += 1;
    const payload = payloadOf(packet);
    const wasEstablished = isEstablished(state);
    const isOfStream = state.isTcp && advanceSession(state, direction, packet, payload.length, this.#context.limits);
    if (state.isPassed || evaluator.base.rules.length === 0) {
      this.#isLate ||= payload.length > 0;
      return;
    }
    evaluator.begin();
    const { subject } = evaluator;
    subject.flow = state;
    subject.at = packet.at;
    subject.frameNumber = packet.frameNumber;
    subject.packet = packet;
    subject.transaction = null;
    subject.direction = direction;
    subject.isEstablished = wasEstablished;
    subject.payload = payload.length > 0 ? payload : null;
    if (side.packets === 1 || !HAVE_FLOWS.has(packet.protocol)) this.#inspectAddresses();
    this.#inspectPacket(packet, direction, payload, isOfStream);
    this.#inspectProtocol();
    this.#announce(direction);
    if (packet.isTcp) {
      if (isOfStream) this.#giveToStreams(packet, direction, payload);
    } else if (payload.length > 0) this.#application?.datagram(direction, payload, packet.at);
    this.#leave();
  }

  end(): void {
    if (this.#streams === null && this.#application === null) return;
    const { evaluator } = this.#context;
    evaluator.begin();
    this.#streams?.finish(this.#state.lastAt);
    this.#application?.end(this.#state.lastAt);
    for (const direction of ["to-server", "to-client"] as const) if (sideOf(this.#state, direction).packets > 0) this.#announce(direction);
    this.#leave();
    this.#streams = null;
    this.#application = null;
    this.#isOver = true;
  }

  /** Rules about what was recognized, once each way. */
  #announce(direction: Direction): void {
    const { evaluator } = this.#context;
    const bit = direction === "to-server" ? 1 : 2;
    if (this.#state.application === "" || (this.#announced & bit) !== 0) return;
    this.#announced |= bit;
    if (evaluator.base.recognitions.length === 0) return;
    this.focus(direction);
    for (const place of evaluator.base.recognitions) evaluator.attempt(place);
  }

  #inspectAddresses(): void {
    const { evaluator } = this.#context;
    for (const place of evaluator.base.addresses) evaluator.attempt(place);
  }

  #inspectPacket(packet: WatchedPacket, direction: Direction, payload: Uint8Array, isOfStream: boolean): void {
    const { evaluator } = this.#context;
    const base = evaluator.base;
    attemptScope(evaluator, base.packets[classOf(packet.protocol)][direction], payload);
    // What belongs to no stream is looked at as if it were one.
    if (packet.isTcp && !isOfStream && payload.length > 0) attemptScope(evaluator, base.streams[direction], payload);
  }

  #giveToStreams(packet: WatchedPacket, direction: Direction, payload: Uint8Array): void {
    if (this.#streams === null) {
      if (payload.length === 0 || this.#isOver || this.#application === null) return;
      this.#streams = new StreamPair(this.#context, this.#state, this.#application, { flow: this, isLate: this.#isLate });
    }
    this.#streams.segment(packet, direction, payload);
    if (this.#streams.isEnded) this.end();
  }

  /** Rules about the protocol alone, with each packet from the one on which it is known. */
  #inspectProtocol(): void {
    const { evaluator } = this.#context;
    const { application } = this.#state;
    const places = application === "" ? undefined : evaluator.base.protocols.get(application);
    if (places !== undefined) for (const place of places) evaluator.attempt(place);
  }

  /** A packet of the other direction is not of it. */
  focus(direction: Direction): void {
    const { subject } = this.#context.evaluator;
    if (subject.flow !== this.#state || subject.at !== this.#state.lastAt) {
      subject.flow = this.#state;
      subject.at = this.#state.lastAt;
      subject.frameNumber = this.#lastFrame;
      subject.packet = null;
    }
    const { packet } = subject;
    if (packet !== null && (packet.isFromOriginator === this.#state.isClientOriginator) !== (direction === "to-server")) subject.packet = null;
    subject.direction = direction;
    subject.isEstablished = isEstablished(this.#state);
    subject.borrowPayload(this);
  }

  endMessage(direction: Direction): void {
    this.#streams?.endMessage(direction);
  }

  payloadIn(direction: Direction): Uint8Array | null {
    const { packet } = this.#context.evaluator.subject;
    return this.#streams?.chunkOf(direction) ?? (packet === null ? null : payloadOf(packet));
  }

  #leave(): void {
    const { evaluator, memory } = this.#context;
    const { subject } = evaluator;
    subject.flow = null;
    subject.packet = null;
    subject.transaction = null;
    subject.payload = null;
    if (memory.isOver) memory.shrink();
  }
}

const UDP = 17;
/** Of these protocols Suricata follows flows: ICMP, TCP, UDP, ICMPv6, SCTP. */
const HAVE_FLOWS: ReadonlySet<number> = new Set([1, 6, UDP, 58, 132]);
