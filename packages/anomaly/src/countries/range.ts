/**
 * Addresses in a row that are registered in one country. Of IPv4 they are numbers of 32 bits; of IPv6 only the first 48 bits count, which a
 * number has room for: registries give no less to anybody.
 */
export interface CountryRange {
  readonly family: 4 | 6;
  readonly first: number;
  /** Within. */
  readonly last: number;
  /** Two capital letters. ISO 3166-1; also `EU` and `AP`, which registries use for what is of no single country. */
  readonly country: string;
}

/** Of an IPv6 address, those that are compared. */
export const IPV6_BITS = 48;

/** @param bytes Four or sixteen. @returns The number by which ranges are compared; null for another length. */
export function numberOf(bytes: Uint8Array): { readonly family: 4 | 6; readonly number: number } | null {
  if (bytes.length !== 4 && bytes.length !== 16) return null;
  let number = 0;
  for (const byte of bytes.length === 4 ? bytes : bytes.subarray(0, IPV6_BITS / 8)) number = number * 256 + byte;
  return { family: bytes.length === 4 ? 4 : 6, number };
}
