const C1 = 0xcc9e_2d51;
const C2 = 0x1b87_3593;

/**
 * MurmurHash3 in its form of 32 bits for small machines, with seed 0.
 * @returns Signed, as those who search for pictures by it write it.
 * @see MurmurHash3_x86_32 of the public domain
 */
export function murmur3(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const blocks = bytes.length >> 2;
  let hash = 0;
  for (let index = 0; index < blocks; index += 1) {
    hash ^= scramble(view.getUint32(index * 4, true));
    hash = Math.imul(rotate(hash, 13), 5) + 0xe654_6b64;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= blocks * 4; at -= 1) tail = (tail << 8) | (bytes[at] ?? 0);
  if ((bytes.length & 3) !== 0) hash ^= scramble(tail);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) | 0;
}

function scramble(block: number): number {
  return Math.imul(rotate(Math.imul(block, C1), 15), C2);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
