/** How numbers and checksums are written into frames. */

/** Sixteen bits, big-endian; higher bits of `value` are ignored. Writing past the end does nothing. */
export function putWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

/** Thirty-two bits. */
export function putWords(bytes: Uint8Array, at: number, value: number): void {
  putWord(bytes, at, value >>> 16);
  putWord(bytes, at + 2, value & 0xffff);
}

/** Sixteen bits, big-endian. The caller has checked that both bytes are there. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** Bytes as the sum of sixteen-bit words, a last odd one filled up by zero. */
export function sumOfWords(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] as number) << 8) | (bytes[at + 1] ?? 0);
  return sum;
}

/** The Internet checksum of a sum of words. @see RFC 1071 */
export function checksumOf(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + (folded >>> 16);
  return ~folded & 0xffff;
}
