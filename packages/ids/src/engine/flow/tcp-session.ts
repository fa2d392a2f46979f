/** A TCP connection as Suricata follows it by default: from its handshake, or not at all. */

import { TCP_FLAG } from "@lanthorn/packets";
import type { Direction } from "../../applications/application.ts";

/** How far a handshake is. `none` for a connection that was joined late, of which no stream is made. */
export type SessionStage = "new" | "none" | "syn" | "syn-ack" | "open";

/** Sequence numbers of one direction. */
export interface SessionSide {
  /** Of its SYN; -1 where none was seen. */
  initial: number;
  /** Behind the last byte that was sent. */
  next: number;
}

/** One connection. */
export interface TcpSession {
  stage: SessionStage;
  isOpen: boolean;
  readonly toServer: SessionSide;
  readonly toClient: SessionSide;
}

/** A segment of it. */
export interface SessionSegment {
  readonly sequence: number;
  readonly acknowledgment: number;
  readonly flags: number;
}

/** What counts as a connection beside one with its handshake. */
export interface SessionRules {
  readonly isMidstream: boolean;
  readonly isOneSided: boolean;
}

/** Moves the connection on. @param payloadBytes Of the segment. @returns Whether the segment belongs to its streams. */
export function advanceSession(session: TcpSession, direction: Direction, segment: SessionSegment, payloadBytes: number, rules: SessionRules): boolean {
  const { flags } = segment;
  const side = direction === "to-server" ? session.toServer : session.toClient;
  const isSyn = (flags & TCP_FLAG.syn) !== 0;
  const isAck = (flags & TCP_FLAG.ack) !== 0;
  if (session.stage === "new") session.stage = begin(segment, rules);
  if (session.stage === "none") return false;
  if (isSyn) noteSyn(session, direction, segment, isAck);
  else if ((session.stage === "syn-ack" || isUnanswered(session, direction, rules)) && isAck && (flags & TCP_FLAG.rst) === 0) open(session, direction, segment);
  if (session.stage === "open" || isSyn) noteSent(side, segment, payloadBytes, isSyn);
  if (session.stage === "open") session.isOpen = true;
  return session.stage === "open" || (isSyn && side.initial >= 0);
}

function begin({ flags }: SessionSegment, { isMidstream }: SessionRules): SessionStage {
  if ((flags & (TCP_FLAG.syn | TCP_FLAG.ack)) === TCP_FLAG.syn) return "syn";
  return isMidstream && (flags & TCP_FLAG.rst) === 0 ? "open" : "none";
}

/** The client goes on behind its SYN, and the server's answer was not seen. */
function isUnanswered({ stage }: TcpSession, direction: Direction, { isOneSided }: SessionRules): boolean {
  return isOneSided && stage === "syn" && direction === "to-server";
}

function noteSyn(session: TcpSession, direction: Direction, { sequence, acknowledgment }: SessionSegment, isAck: boolean): void {
  const { toServer, toClient } = session;
  if (direction === "to-server" && !isAck) {
    if (session.stage === "syn") toServer.initial = sequence;
    return;
  }
  if (direction !== "to-client" || session.stage === "open") return;
  // An answer to another SYN is none.
  if (isAck && acknowledgment !== ((toServer.initial + 1) >>> 0) && !isWithin(acknowledgment, toServer)) return;
  toClient.initial = sequence;
  session.stage = "syn-ack";
}

/** Of TCP Fast Open the SYN has bytes of its own, which may be acknowledged with it. */
function isWithin(acknowledgment: number, { initial, next }: SessionSide): boolean {
  return ((acknowledgment - initial) >>> 0) <= ((next - initial) >>> 0);
}

function open(session: TcpSession, direction: Direction, { acknowledgment }: SessionSegment): void {
  const peer = direction === "to-server" ? session.toClient : session.toServer;
  if (peer.initial >= 0 && direction === "to-server" && acknowledgment !== ((peer.initial + 1) >>> 0) && ((acknowledgment - peer.initial) >>> 0) > MAX_WINDOW) return;
  session.stage = "open";
  session.isOpen = true;
}

/** @see RFC 7323 section 2.3 */
const MAX_WINDOW = 0x4000_0000;

function noteSent(side: SessionSide, { sequence, flags }: SessionSegment, payloadBytes: number, isSyn: boolean): void {
  const control = (isSyn ? 1 : 0) + ((flags & TCP_FLAG.fin) !== 0 ? 1 : 0);
  const end = (sequence + payloadBytes + control) >>> 0;
  if (isSyn || ((end - side.next) >>> 0) < MAX_WINDOW) side.next = end;
}
