/** Bytes for tests, written as they are printed. Neither built nor exported. */

/** @param hex Pairs of digits; blanks, line ends and colons between them count for nothing. */
export function fromHex(hex: string): Uint8Array {
  const digits = hex.replaceAll(/[\s:]/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error(`not pairs of hex digits: ${hex}`);
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** One array after another. */
export function joinBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
