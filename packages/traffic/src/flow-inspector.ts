/** Looks into one flow. */
export interface FlowInspector {
  /**
   * Takes a TCP segment, with or without payload, in the order of capture.
   * @param acknowledgment 0 without ACK.
   * @param flags Bits of `TCP_FLAG`.
   * @param payload May be a view: what is kept is copied.
   * @param at Captured time in microseconds.
   */
  segment(side: 0 | 1, sequence: number, acknowledgment: number, flags: number, payload: Uint8Array, at: number): void;
  /** Takes the payload of a UDP datagram. */
  datagram(side: 0 | 1, payload: Uint8Array, at: number): void;
  /** The flow is over: says what is still to be said, and gives all memory back. */
  end(): void;
  /** What the flow speaks, as far as it is known: `tls`, `http`, `dns`, … or `""`. It may change: CONNECT, STARTTLS. */
  readonly service: string;
  /** Nothing more is wanted of either side: `end` it and drop it. */
  readonly isDone: boolean;
}
