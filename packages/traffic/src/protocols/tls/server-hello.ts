/** ServerHello. @see RFC 8446 section 4.1.3, RFC 5246 section 7.4.1.3 */
import { Reader } from "@lanthorn/packets";
import { latin1 } from "../latin1.ts";
import { readAlpn, readExtensions, TLS_EXTENSION } from "./hello-extensions.ts";
import { ja3OfServer } from "./ja3.ts";

/** What a server chose. */
export interface TlsServerHello {
  readonly legacyVersion: number;
  /** The version that is spoken, as 0x0304. */
  readonly version: number;
  readonly cipherSuite: number;
  /** Types of extensions, in wire order. */
  readonly extensions: readonly number[];
  /** Null where it is encrypted (TLS 1.3) or nothing was chosen. */
  readonly alpn: string | null;
  /** It asks for another ClientHello. RFC 8446 section 4.1.4. */
  readonly isHelloRetryRequest: boolean;
  /** JA3S: MD5 of `ja3sText` in hexadecimal. */
  readonly ja3s: string;
  readonly ja3sText: string;
}

/** The random of a HelloRetryRequest: SHA-256 of that word. RFC 8446 section 4.1.3. */
const RETRY_RANDOM = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";

/** @param body Behind the four bytes of the handshake header. @returns null where it is not whole. */
export function decodeServerHello(body: Uint8Array): TlsServerHello | null {
  const reader = new Reader(body);
  const legacyVersion = reader.u16();
  const random = reader.take(32);
  reader.skip(reader.u8());
  const cipherSuite = reader.u16();
  reader.skip(1);
  if (reader.failed) return null;
  const extensions = readExtensions(reader);
  if (!extensions) return null;
  const dataOf = (type: number) => extensions.find((one) => one.type === type)?.data;
  const versionData = dataOf(TLS_EXTENSION.supportedVersions);
  const alpnData = dataOf(TLS_EXTENSION.alpn);
  const [alpn] = alpnData ? readAlpn(new Reader(alpnData)) : [];
  const types = extensions.map(({ type }) => type);
  return {
    legacyVersion,
    version: versionData?.length === 2 ? new Reader(versionData).u16() : legacyVersion,
    cipherSuite,
    extensions: types,
    alpn: alpn ? latin1(alpn) : null,
    isHelloRetryRequest: Buffer.from(random).toString("hex") === RETRY_RANDOM,
    ...ja3OfServer({ legacyVersion, cipherSuite, extensions: types }),
  };
}
