import { TCP_FLAG } from "@lanthorn/packets";
import type { Flow } from "./flow.ts";
import { type FlowSide, TCP_STATE } from "./flow-side.ts";
import type { PacketFacts } from "./packet-facts.ts";

/** Zeek's history of a connection: a letter for each kind of packet, in the order of the first of it; capitals are the originator's. */

const SYN_FIN_RST = TCP_FLAG.syn | TCP_FLAG.fin | TCP_FLAG.rst;

/** Each letter's bit, and the responder's letter. */
const BITS = { S: 1, H: 2, A: 4, D: 8, F: 16, R: 32, Q: 64, I: 128 } as const;
type Letter = keyof typeof BITS;

/** Adds the letter of a TCP segment, where this end has none of it yet. */
export function noteSegment(flow: Flow, side: FlowSide, { flags, payloadBytes }: PacketFacts): void {
  switch (flags & SYN_FIN_RST) {
    case 0:
      if (payloadBytes > 0) note(flow, side, "D");
      else if ((flags & TCP_FLAG.ack) !== 0) note(flow, side, "A");
      return;
    case TCP_FLAG.syn:
      note(flow, side, (flags & TCP_FLAG.ack) === 0 ? "S" : "H");
      return;
    case TCP_FLAG.fin:
      note(flow, side, "F");
      return;
    case TCP_FLAG.rst:
      note(flow, side, "R");
      return;
    default:
      note(flow, side, (flags & TCP_FLAG.fin) !== 0 && (flags & TCP_FLAG.rst) !== 0 ? "I" : "Q");
  }
}

/** Adds D, of a datagram. */
export function noteDatagram(flow: Flow, side: FlowSide): void {
  note(flow, side, "D");
}

/** Adds T, for the 1st, 10th, 100th … retransmission. */
export function noteRetransmission(flow: Flow, side: FlowSide): void {
  side.retransmissions += 1;
  if (isPowerOfTen(side.retransmissions)) add(flow, side, "T");
}

/** Adds G, for the 1st, 10th, 100th … gap. */
export function noteGap(flow: Flow, side: FlowSide): void {
  side.gaps += 1;
  if (isPowerOfTen(side.gaps)) add(flow, side, "G");
}

/** Adds W, for the 1st, 10th, 100th … window of zero: who has ended or was reset announces none. */
export function noteZeroWindow(flow: Flow, side: FlowSide, peer: FlowSide, flags: number): void {
  if ((flags & TCP_FLAG.rst) !== 0 || peer.state === TCP_STATE.closed || side.state === TCP_STATE.reset) return;
  side.zeroWindows += 1;
  if (isPowerOfTen(side.zeroWindows)) add(flow, side, "W");
}

function note(flow: Flow, side: FlowSide, letter: Letter): void {
  const bit = BITS[letter];
  if ((side.historyBits & bit) !== 0) return;
  side.historyBits |= bit;
  add(flow, side, letter);
}

function add(flow: Flow, side: FlowSide, letter: string): void {
  flow.history += side === flow.originator ? letter : letter.toLowerCase();
}

function isPowerOfTen(count: number): boolean {
  return count === 1 || count === 10 || count === 100 || count === 1000 || count === 10_000 || count === 100_000 || count === 1_000_000;
}
