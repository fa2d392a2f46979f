/** How much bytes vary. */

/** @returns Bits a byte, from 0 to 8; 0 of no bytes. */
export function shannonEntropy(bytes: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  return counts.reduce((sum, count) => (count === 0 ? sum : sum - (count / bytes.length) * Math.log2(count / bytes.length)), 0);
}
