/** ClientHello. @see RFC 8446 section 4.1.2, RFC 5246 section 7.4.1.2, RFC 6066 section 3 */
import { Reader } from "@lanthorn/packets";
import { latin1 } from "../latin1.ts";
import { isGrease, readAlpn, readExtensions, readNumbers, TLS_EXTENSION, type TlsExtension } from "./hello-extensions.ts";
import { ja3OfClient } from "./ja3.ts";
import { ja4OfClient } from "./ja4.ts";

/** What a client offers. Lists are in its order, random values (RFC 8701) among them. */
export interface TlsClientHello {
  /** `legacy_version`: 0x0303 since TLS 1.2. */
  readonly legacyVersion: number;
  /** The highest version offered, as 0x0304. */
  readonly version: number;
  readonly cipherSuites: readonly number[];
  /** Types of extensions. */
  readonly extensions: readonly number[];
  readonly supportedGroups: readonly number[];
  readonly ecPointFormats: readonly number[];
  readonly signatureAlgorithms: readonly number[];
  /** As it was sent, or null. */
  readonly serverName: string | null;
  readonly alpn: readonly string[];
  /** What it asks for is encrypted; the name in clear is the front's. RFC 9849. */
  readonly hasEncryptedClientHello: boolean;
  /** MD5 of `ja3Text` in hexadecimal. @see https://github.com/salesforce/ja3 */
  readonly ja3: string;
  readonly ja3Text: string;
  /** @see https://github.com/FoxIO-LLC/ja4/blob/main/technical_details/JA4.md */
  readonly ja4: string;
}

const RANDOM_LENGTH = 32;
const HOST_NAME = 0;

/**
 * @param body Behind the four bytes of the handshake header.
 * @param transport JA4 says over what it came.
 * @returns null where it is not whole.
 */
export function decodeClientHello(body: Uint8Array, transport: "quic" | "tcp"): TlsClientHello | null {
  const reader = new Reader(body);
  const legacyVersion = reader.u16();
  reader.skip(RANDOM_LENGTH);
  reader.skip(reader.u8());
  const cipherSuites = readNumbers(new Reader(reader.take(reader.u16())));
  reader.skip(reader.u8());
  if (reader.failed) return null;
  const extensions = readExtensions(reader);
  if (!extensions) return null;
  const dataOf = (type: number) => extensions.find((one) => one.type === type)?.data;
  const alpnNames = readIf(dataOf(TLS_EXTENSION.alpn), readAlpn);
  const version = highestVersion(legacyVersion, dataOf(TLS_EXTENSION.supportedVersions));
  const types = extensions.map(({ type }) => type);
  const supportedGroups = readIf(dataOf(TLS_EXTENSION.supportedGroups), readNumberList);
  const ecPointFormats = readIf(dataOf(TLS_EXTENSION.ecPointFormats), (list) => [...list.take(list.u8())]);
  const signatureAlgorithms = readIf(dataOf(TLS_EXTENSION.signatureAlgorithms), readNumberList);
  const serverName = readServerName(extensions);
  const { ja3, ja3Text } = ja3OfClient({ legacyVersion, cipherSuites, extensions: types, supportedGroups, ecPointFormats });
  // Written out: what is spread has a shape of its own for V8 each time.
  return {
    legacyVersion, version, cipherSuites, extensions: types, supportedGroups, ecPointFormats, signatureAlgorithms, serverName, alpn: alpnNames.map(latin1),
    hasEncryptedClientHello: dataOf(TLS_EXTENSION.encryptedClientHello) !== undefined, ja3, ja3Text,
    ja4: ja4OfClient({ version, cipherSuites, extensions: types, signatureAlgorithms, serverName, firstAlpn: alpnNames[0] ?? null }, transport),
  };
}

function readIf<T>(data: Uint8Array | undefined, read: (reader: Reader) => T[]): T[] {
  return data ? read(new Reader(data)) : [];
}

function readNumberList(reader: Reader): number[] {
  return readNumbers(new Reader(reader.take(reader.u16())));
}

function highestVersion(legacyVersion: number, data: Uint8Array | undefined): number {
  if (!data) return legacyVersion;
  const reader = new Reader(data);
  const versions = readNumbers(new Reader(reader.take(reader.u8()))).filter((version) => !isGrease(version));
  return versions.length > 0 ? Math.max(...versions) : legacyVersion;
}

function readServerName(extensions: readonly TlsExtension[]): string | null {
  const data = extensions.find(({ type }) => type === TLS_EXTENSION.serverName)?.data;
  if (!data) return null;
  const reader = new Reader(data);
  reader.skip(2);
  const type = reader.u8();
  const name = reader.take(reader.u16());
  return reader.failed || type !== HOST_NAME ? null : latin1(name.subarray(0, 255));
}
