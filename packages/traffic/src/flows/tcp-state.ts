import { TCP_FLAG } from "@lanthorn/packets";
import { type FlowSide, TCP_STATE, type TcpState } from "./flow-side.ts";

/** Zeek's states of a TCP connection's ends, so that `state` of a record means what Zeek's conn_state does. */

const SYN_FIN_RST = TCP_FLAG.syn | TCP_FLAG.fin | TCP_FLAG.rst;

/** Moves the sender of a segment on, and its peer where the segment says something of it. */
export function advanceTcpState(side: FlowSide, peer: FlowSide, isOriginator: boolean, flags: number, length: number): void {
  switch (side.state) {
    case TCP_STATE.established:
      // Nearly every segment.
      if ((flags & SYN_FIN_RST) !== 0) advanceOpen(side, peer, flags);
      return;
    case TCP_STATE.inactive:
      advanceInactive(side, peer, isOriginator, flags, length);
      return;
    case TCP_STATE.synSent:
    case TCP_STATE.synAckSent:
      if ((flags & TCP_FLAG.rst) !== 0) set(side, TCP_STATE.reset);
      else if ((flags & TCP_FLAG.fin) !== 0) set(side, TCP_STATE.closed);
      return;
    case TCP_STATE.partial:
      advanceOpen(side, peer, flags);
      return;
    case TCP_STATE.closed:
      // A reset behind both FINs is no news.
      if ((flags & TCP_FLAG.rst) !== 0 && peer.state !== TCP_STATE.closed) set(side, TCP_STATE.reset);
      return;
    case TCP_STATE.reset:
  }
}

function set(side: FlowSide, state: TcpState): void {
  side.previousState = side.state;
  side.state = state;
}

function advanceInactive(side: FlowSide, peer: FlowSide, isOriginator: boolean, flags: number, length: number): void {
  if ((flags & TCP_FLAG.syn) !== 0) {
    if (isOriginator) set(side, (flags & TCP_FLAG.ack) !== 0 ? TCP_STATE.synAckSent : TCP_STATE.synSent);
    else {
      if (peer.state === TCP_STATE.synSent) set(peer, TCP_STATE.established);
      set(side, TCP_STATE.established);
    }
  }
  if ((flags & TCP_FLAG.fin) !== 0) set(side, TCP_STATE.closed);
  if ((flags & TCP_FLAG.rst) !== 0) set(side, TCP_STATE.reset);
  if (side.state !== TCP_STATE.inactive) return;
  // Some acknowledge a SYN before they send their own.
  if (!isOriginator && length === 0 && peer.state === TCP_STATE.synSent) return;
  // The SYN was not seen, the answer to it was.
  const isBehindSynAck = (flags & TCP_FLAG.ack) !== 0 && peer.state === TCP_STATE.established;
  set(side, isBehindSynAck ? TCP_STATE.established : TCP_STATE.partial);
}

function advanceOpen(side: FlowSide, peer: FlowSide, flags: number): void {
  if ((flags & SYN_FIN_RST) === TCP_FLAG.syn && (flags & TCP_FLAG.ack) === 0) {
    if (side.state === TCP_STATE.partial && peer.state === TCP_STATE.inactive) set(side, TCP_STATE.synSent);
  }
  if ((flags & TCP_FLAG.fin) !== 0 && (flags & TCP_FLAG.rst) === 0) {
    set(side, TCP_STATE.closed);
    // FIN and then RST is how some end in good order.
    if (peer.state === TCP_STATE.reset && peer.previousState === TCP_STATE.closed) set(peer, TCP_STATE.closed);
  }
  if ((flags & TCP_FLAG.rst) !== 0) set(side, TCP_STATE.reset);
}

/** Zeek's words for how a connection went. @see https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html, conn_state */
export type ConnectionState = "S0" | "S1" | "SF" | "REJ" | "S2" | "S3" | "RSTO" | "RSTR" | "RSTOS0" | "RSTRH" | "SH" | "SHR" | "OTH";

/** How a TCP connection went. */
export function tcpConnectionState(originator: FlowSide, responder: FlowSide): ConnectionState {
  const [from, to] = [originator.state, responder.state];
  const isFromSilent = from === TCP_STATE.inactive || from === TCP_STATE.partial;
  const isToSilent = to === TCP_STATE.inactive || to === TCP_STATE.partial;
  if (to === TCP_STATE.reset) {
    const isNothingSent = from === TCP_STATE.reset && originator.payloadBytes === 0 && responder.payloadBytes === 0;
    if (from === TCP_STATE.synSent || from === TCP_STATE.synAckSent || isNothingSent) return "REJ";
    return isFromSilent ? "RSTRH" : "RSTR";
  }
  if (from === TCP_STATE.reset) return isToSilent ? "RSTOS0" : "RSTO";
  if (from === TCP_STATE.closed) {
    if (to === TCP_STATE.closed) return "SF";
    return isToSilent ? "SH" : "S2";
  }
  if (to === TCP_STATE.closed) return isFromSilent ? "SHR" : "S3";
  if (from === TCP_STATE.synSent && to === TCP_STATE.inactive) return "S0";
  return from === TCP_STATE.established && to === TCP_STATE.established ? "S1" : "OTH";
}

/** How a conversation of datagrams went. */
export function udpConnectionState(originator: FlowSide, responder: FlowSide): ConnectionState {
  if (originator.packets > 0) return responder.packets > 0 ? "SF" : "S0";
  return responder.packets > 0 ? "SHR" : "OTH";
}
