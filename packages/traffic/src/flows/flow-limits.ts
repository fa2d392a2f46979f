/** How many flows are kept, and for how long. Times are packet time. */
export interface FlowLimits {
  /** One more ends the one that was seen least recently. About 800 bytes each, and what is read of its payload. */
  readonly maxFlows: number;
  /** A TCP connection of which only one side has been heard, and no byte. */
  readonly openingSeconds: number;
  readonly tcpIdleSeconds: number;
  /** After both FINs or a reset, for what is still under way. */
  readonly closedSeconds: number;
  readonly udpIdleSeconds: number;
  /** ICMP and all others. */
  readonly otherIdleSeconds: number;
  /** A flow that goes on for longer is recorded in parts. */
  readonly activeSeconds: number;
}

/** Zeek's times, but for a half-open connection, whose SYN is repeated for up to a minute, and for parts, which Zeek has not. */
export const FLOW_LIMITS: FlowLimits = {
  maxFlows: 32_768, openingSeconds: 60, tcpIdleSeconds: 300, closedSeconds: 5, udpIdleSeconds: 60, otherIdleSeconds: 60, activeSeconds: 1800,
};
