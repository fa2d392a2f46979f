/** What both hellos have: extensions, and values that mean nothing. */
import type { Reader } from "@lanthorn/packets";

/** Types of extensions that are read. @see https://www.iana.org/assignments/tls-extensiontype-values */
export const TLS_EXTENSION = {
  serverName: 0, supportedGroups: 10, ecPointFormats: 11, signatureAlgorithms: 13, alpn: 16, supportedVersions: 43, encryptedClientHello: 0xfe0d,
} as const;

/** One extension; `data` is a view. */
export interface TlsExtension {
  readonly type: number;
  readonly data: Uint8Array;
}

const MAX_EXTENSIONS = 256;

/** Reads the extensions behind their two bytes of length; none where the hello ends before. @returns null where they are not whole. */
export function readExtensions(reader: Reader): readonly TlsExtension[] | null {
  const extensions: TlsExtension[] = [];
  if (reader.remaining === 0) return extensions;
  reader.limit(reader.u16());
  while (reader.remaining > 0 && !reader.failed && extensions.length < MAX_EXTENSIONS) {
    const type = reader.u16();
    extensions.push({ type, data: reader.take(reader.u16()) });
  }
  return reader.failed ? null : extensions;
}

/** Clients offer a hundred at most; sorting and hashing a list that fills a hello would take ten milliseconds. */
const MAX_NUMBERS = 512;

/** Reads numbers of two bytes until the reader ends, the first 512. */
export function readNumbers(reader: Reader): number[] {
  const numbers: number[] = [];
  while (reader.remaining >= 2 && numbers.length < MAX_NUMBERS) numbers.push(reader.u16());
  return numbers;
}

/** Values that clients mix in so that servers stay tolerant; they are random. @see RFC 8701 */
export function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >>> 8 === (value & 0xff);
}

/** Reads names behind one byte of length each. @see RFC 7301 section 3.1 */
export function readAlpn(reader: Reader): Uint8Array[] {
  reader.limit(reader.u16());
  const names: Uint8Array[] = [];
  while (reader.remaining > 0 && !reader.failed && names.length < 64) names.push(reader.take(reader.u8()));
  return reader.failed ? [] : names;
}
