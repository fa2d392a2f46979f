/** What rules remember between packets: flowbits, xbits, hostbits and flowint. */

/** `flowbits`: a bit of the flow. `names` has more than one where any of them will do. */
export interface FlowBit {
  readonly kind: "flow-bit";
  readonly operation: "set" | "unset" | "toggle" | "is-set" | "is-not-set";
  readonly names: readonly string[];
}

/** `xbits` and `hostbits`: a bit of a host, or of a pair of hosts, for some time. */
export interface HostBit {
  readonly kind: "host-bit";
  readonly operation: "set" | "unset" | "toggle" | "is-set" | "is-not-set";
  readonly name: string;
  readonly track: "source" | "destination" | "pair" | "both" | "transaction";
  /** 0 for no end. */
  readonly seconds: number;
}

/** `flowint`: a number of the flow, of 32 bits. What is not set is not there, and no comparison with it holds. */
export interface FlowNumber {
  readonly kind: "flow-number";
  readonly name: string;
  readonly operation: "set" | "add" | "subtract" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "is-set" | "is-not-set";
  /** A number, or the name of another of the flow; `null` for `is-set` and `is-not-set`. */
  readonly value: number | string | null;
}

/** What one keyword asks of, or changes in, what rules remember. */
export type StateCondition = FlowBit | HostBit | FlowNumber;
