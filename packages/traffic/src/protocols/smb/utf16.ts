/** @returns Text of little-endian UTF-16, without what is behind its last whole character. */
export function utf16(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf16le");
}
