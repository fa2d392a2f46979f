/** Small questions about bytes of HTTP. */

/** White space as C's `isspace` has it. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

/** Space and tab. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09;
}

/** A digit's value, or -1. */
export function hexValue(byte: number | undefined): number {
  if (byte === undefined || byte < 0x30) return -1;
  if (byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** ASCII's capital letters become small ones. */
export function lowerByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/** A copy in lower case. */
export function lowered(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const lower = new Uint8Array(length);
  for (let at = 0; at < length; at += 1) lower[at] = lowerByte(bytes[at] as number);
  return lower;
}

/** The bytes as text, one character each. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** Text of Latin-1 as bytes. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** Between the name of a field and its value. */
export const COLON_SPACE = bytesOf(": ");
/** Behind each line of a head. */
export const LINE_END = bytesOf("\r\n");

const MIN_NATIVE_BYTES = 32;

/** One after the other. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (let index = 0; index < pieces.length; index += 1) length += (pieces[index] as Uint8Array).length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index] as Uint8Array;
    // A loop of ours is faster than a call for the few bytes of a name.
    if (piece.length < MIN_NATIVE_BYTES) for (let from = 0; from < piece.length; from += 1) joined[at + from] = piece[from] as number;
    else joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
