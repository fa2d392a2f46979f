/** The Internet checksum: the ones' complement of the ones' complement sum of 16-bit words. @see RFC 1071 */

/** Who the pseudo-header says is talking to whom: two IPv4 or two IPv6 addresses. */
export interface IpEnds {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
}

/**
 * Sums 16-bit words without folding, so that sums of several stretches can be added.
 * An odd last byte counts as if a zero followed: only the last stretch may be odd.
 */
export function sumWords(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let sum = 0;
  const last = end - 1;
  for (let at = start; at < last; at += 2) sum += ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  if ((end - start) % 2 === 1) sum += (bytes[last] as number) << 8;
  return sum;
}

/** Folds a sum of words into the 16 bits that go into a header. */
export function finishChecksum(sum: number): number {
  let folded = sum;
  // Not >>> 16: the sum of a jumbo buffer has more than 32 bits.
  while (folded > 0xffff) folded = (folded % 0x10000) + Math.floor(folded / 0x10000);
  return ~folded & 0xffff;
}

/** The checksum of a stretch whose own checksum field is zero; 0 when that field is filled and right. */
export function internetChecksum(bytes: Uint8Array, start = 0, end = bytes.length): number {
  return finishChecksum(sumWords(bytes, start, end));
}

/**
 * The checksum of a UDP, TCP or ICMPv6 message with its pseudo-header; 0 when the message's own field is filled and right.
 * @param message The whole message, no padding behind it.
 * @see RFC 9293 section 3.1, RFC 8200 section 8.1
 */
export function transportChecksum(message: Uint8Array, protocol: number, ends: IpEnds): number {
  return finishChecksum(sumWords(ends.source) + sumWords(ends.destination) + protocol + message.length + sumWords(message));
}
