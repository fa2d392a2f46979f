/** Milliseconds from 1601 to 1970. */
const EPOCH_MS = 11_644_473_600_000n;

/** @param atMs Since 1970. @returns Eight octets: tenths of a microsecond since 1601. @see MS-DTYP section 2.3.3 */
export function encodeFiletime(atMs: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE((BigInt(Math.floor(atMs)) + EPOCH_MS) * 10_000n);
  return bytes;
}
