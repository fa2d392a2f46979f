/** MD4, which OpenSSL does not give any more, and of which NTLM makes its keys. @see RFC 1320 */

const ROUNDS = [
  { mix: (x: number, y: number, z: number) => x & y | ~x & z, add: 0, order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], turns: [3, 7, 11, 19] },
  { mix: (x: number, y: number, z: number) => x & y | x & z | y & z, add: 0x5a82_7999, order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], turns: [3, 5, 9, 13] },
  { mix: (x: number, y: number, z: number) => x ^ y ^ z, add: 0x6ed9_eba1, order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], turns: [3, 9, 11, 15] },
] as const;
const BLOCK_OCTETS = 64;

/** @returns Sixteen octets. */
export function md4(message: Uint8Array): Buffer {
  const blocks = Math.ceil((message.length + 9) / BLOCK_OCTETS);
  const padded = Buffer.alloc(blocks * BLOCK_OCTETS);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeUInt32LE(message.length * 8 >>> 0, padded.length - 8);
  let state = [0x6745_2301, 0xefcd_ab89 | 0, 0x98ba_dcfe | 0, 0x1032_5476];
  for (let at = 0; at < padded.length; at += BLOCK_OCTETS) state = addBlock(state, padded, at);
  const digest = Buffer.alloc(16);
  for (const [index, word] of state.entries()) digest.writeInt32LE(word | 0, index * 4);
  return digest;
}

function addBlock(state: readonly number[], bytes: Buffer, at: number): number[] {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (const { mix, add, order, turns } of ROUNDS) {
    for (const [index, word] of order.entries()) {
      const sum = a + mix(b, c, d) + bytes.readUInt32LE(at + word * 4) + add | 0;
      const turn = turns[index % 4] ?? 0;
      [a, b, c, d] = [d, sum << turn | sum >>> 32 - turn, b, c];
    }
  }
  return [a, b, c, d].map((word, index) => word + (state[index] ?? 0) | 0);
}
