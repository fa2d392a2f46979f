/** `base64_decode`. */

/** Bounds what a rule has decoded at once. */
const MAX_ENCODED_BYTES = 65_536;
const BLANKS = new Set([0x09, 0x0a, 0x0d, 0x20]);

/**
 * @param count How many bytes are decoded; 0 for all.
 * @returns What is encoded up to the first byte that is no Base64; white space in it does not count.
 */
export function decodeBase64(buffer: Uint8Array, at: number, count: number): Uint8Array {
  const limit = Math.min(buffer.length, at + (count === 0 ? MAX_ENCODED_BYTES : Math.min(count, MAX_ENCODED_BYTES)));
  let end = at;
  while (end < limit && (isBase64(buffer[end] ?? 0) || BLANKS.has(buffer[end] ?? 0))) end += 1;
  return Buffer.from(Buffer.from(buffer.subarray(at, end)).toString("latin1"), "base64");
}

function isBase64(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2b || byte === 0x2f || byte === 0x3d;
}
