/** Sequence numbers are 32 bits and wrap. @see RFC 9293 section 3.4 */

/** @returns How far `a` is ahead of `b`, from −2³¹ to 2³¹−1. */
export function sequenceDistance(a: number, b: number): number {
  return (a - b) | 0;
}

/** @returns The number `octets` behind `sequence`. */
export function sequenceAfter(sequence: number, octets: number): number {
  return (sequence + octets) >>> 0;
}
