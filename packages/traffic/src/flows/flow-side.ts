/** What Zeek calls the states of one end of a TCP connection. @see https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html */
export const TCP_STATE = { inactive: 0, synSent: 1, synAckSent: 2, partial: 3, established: 4, closed: 5, reset: 6 } as const;
/** One of `TCP_STATE`. */
export type TcpState = (typeof TCP_STATE)[keyof typeof TCP_STATE];

/** Most ends never have one. */
export const NO_HOLES = new Int32Array(0);

/** What one end of a flow has sent. One object serves many flows, one after the other. As in `Flow`, what each packet needs stands first. */
export class FlowSide {
  packets = 0;
  /** From the IP header on, as on the wire. */
  ipBytes = 0;
  /** The frames as on the wire, those of fragments too. */
  wireBytes = 0;
  /** TCP's by sequence numbers; the sum of payloads else. */
  payloadBytes = 0;
  /** Which letters of the history this end has. */
  historyBits = 0;
  state: TcpState = TCP_STATE.inactive;
  previousState: TcpState = TCP_STATE.inactive;
  /** TCP: whether `initial` and `next` are known, and whether by a SYN. */
  isSequenceKnown = false;
  hasSyn = false;
  hasFin = false;
  /** Sequence numbers, as signed numbers of 32 bits: of the first byte, and of the one behind the last. */
  initial = 0;
  next = 0;
  /** Ranges between `initial` and `next` that have not come: start, end, start, end. */
  holes: Int32Array = NO_HOLES;
  holeCount = 0;
  /** Frames that held a fragment other than the one that made the datagram whole, and their bytes. */
  fragmentFrames = 0;
  fragmentBytes = 0;
  /** TCP: bytes that the other end acknowledged and that were never seen. */
  missedBytes = 0;
  retransmissions = 0;
  gaps = 0;
  zeroWindows = 0;
  /** The MAC address in two halves of 24 bits; -1 without one. */
  macHigh = -1;
  macLow = -1;

  /** Ready for another flow. */
  reset(): void {
    this.resetCounts();
    this.state = TCP_STATE.inactive;
    this.previousState = TCP_STATE.inactive;
    this.isSequenceKnown = false;
    this.hasSyn = false;
    this.hasFin = false;
    this.initial = 0;
    this.next = 0;
    this.holeCount = 0;
    this.macHigh = -1;
    this.macLow = -1;
  }

  /** Counts from 0 on, as a record of them has been written. */
  resetCounts(): void {
    this.packets = 0;
    this.ipBytes = 0;
    this.wireBytes = 0;
    this.fragmentFrames = 0;
    this.fragmentBytes = 0;
    this.payloadBytes = 0;
    this.missedBytes = 0;
    this.historyBits = 0;
    this.retransmissions = 0;
    this.gaps = 0;
    this.zeroWindows = 0;
  }
}
