/** What the inspection may keep. Bytes, unless the name says otherwise. */
export interface InspectionLimits {
  /** Out-of-order segments of one direction, with what they cost beside their bytes. Above it the hole is given up. */
  readonly heldPerStream: number;
  /** What a parser may wait for on one side: a long certificate chain, a large request head. */
  readonly pendingPerSide: number;
  /** All flows together. */
  readonly total: number;
  /** What all sides together may have parsers do a second beyond what their bytes pay for, in units of `work-account.ts`. */
  readonly spareWork: number;
  /** The beginning of each HTTP body that is handed on; 0 hands on none. Bodies may hold what users typed, passwords among it. */
  readonly httpBody: number;
}

/** 24 MiB in all: a part of what the traffic process may have. */
export const INSPECTION_LIMITS: InspectionLimits = {
  heldPerStream: 256 * 1024, pendingPerSide: 128 * 1024, total: 24 * 1024 * 1024, spareWork: 1024 * 1024, httpBody: 0,
};
