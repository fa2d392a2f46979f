/** Text of protocols whose bytes are characters: ISO 8859-1, so that no byte is lost. */

/** @returns One character a byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** @returns Whether `bytes` begins with the characters of `text`. */
export function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.length < text.length) return false;
  for (let at = 0; at < text.length; at += 1) if (bytes[at] !== text.charCodeAt(at)) return false;
  return true;
}

/** @returns Whether `bytes`, as far as they go, are the beginning of `text`. */
export function mayStartWith(bytes: Uint8Array, text: string): boolean {
  const length = Math.min(bytes.length, text.length);
  for (let at = 0; at < length; at += 1) if (bytes[at] !== text.charCodeAt(at)) return false;
  return true;
}

/** In bytes as in numbers: two, four or more digits of hexadecimal a value. */
export function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
