/** X.509 certificates, as far as inspection asks. @see RFC 5280 section 4.1, RFC 5246 section 7.4.2 */
import { createHash } from "node:crypto";
import { decodeObjectIdentifier, decodeUtf8, formatIp, readAll, Reader, readTlv, type Tlv } from "@lanthorn/packets";
import { latin1 } from "../latin1.ts";

/** One certificate of a chain. */
export interface TlsCertificate {
  /** A view. */
  readonly der: Uint8Array;
  /** Of `der`, in hexadecimal. */
  readonly sha256: string;
  /** In the order of the certificate: `C=US, O=Example, CN=example.com`. Empty where it cannot be read, as the rest. */
  readonly subject: string;
  readonly issuer: string;
  /** In hexadecimal, as many digits as it has bytes; without the zero that keeps it positive. */
  readonly serialNumber: string;
  /** Seconds since 1970; null where it cannot be read. */
  readonly notBefore: number | null;
  readonly notAfter: number | null;
  /** Alternative names of the subject: DNS names, and addresses as text. */
  readonly names: readonly string[];
}

const MAX_CERTIFICATES = 16;
const MAX_NAMES = 100;
const MAX_ATTRIBUTES = 32;
const MAX_VALUE_BYTES = 256;

const TAG = {
  integer: 0x02, objectIdentifier: 0x06, octetString: 0x04, sequence: 0x30, version: 0xa0, extensions: 0xa3, utcTime: 0x17, generalizedTime: 0x18,
  bmpString: 0x1e, utf8String: 0x0c, dnsName: 0x82, ipAddress: 0x87,
} as const;

const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";

/** @see RFC 4514 section 3, and the words of RFC 4519 and PKCS #9 that others use */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "street", "2.5.4.10": "O",
  "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.42": "GN", "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
  "1.2.840.113549.1.9.1": "emailAddress",
};

/** @param body Of the Certificate message of TLS 1.2 and before. @returns The certificates that are whole, at most 16. */
export function decodeCertificateChain(body: Uint8Array): readonly TlsCertificate[] {
  const reader = new Reader(body);
  reader.limit(reader.u24());
  const certificates: TlsCertificate[] = [];
  while (reader.remaining > 0 && certificates.length < MAX_CERTIFICATES) {
    const der = reader.take(reader.u24());
    if (reader.failed || der.length === 0) break;
    certificates.push(decodeCertificate(der));
  }
  return certificates;
}

/** @returns What the certificate says; its hash even where nothing else can be read. */
export function decodeCertificate(der: Uint8Array): TlsCertificate {
  const sha256 = createHash("sha256").update(der).digest("hex");
  const unread = { der, sha256, subject: "", issuer: "", serialNumber: "", notBefore: null, notAfter: null, names: [] };
  const whole = readTlv(der);
  const signed = whole && whole.tag === TAG.sequence ? readTlv(whole.value) : null;
  if (!signed || signed.tag !== TAG.sequence) return unread;
  const parts = readAll(signed.value);
  const [serial, , issuer, validity, subject] = parts[0]?.tag === TAG.version ? parts.slice(1) : parts;
  if (!serial || serial.tag !== TAG.integer || !issuer || !validity || !subject) return unread;
  const [notBefore, notAfter] = readAll(validity.value);
  return {
    ...unread,
    subject: nameText(subject),
    issuer: nameText(issuer),
    serialNumber: serialText(serial.value),
    notBefore: notBefore ? readTime(notBefore) : null,
    notAfter: notAfter ? readTime(notAfter) : null,
    names: alternativeNames(parts.find(({ tag }) => tag === TAG.extensions)),
  };
}

function serialText(value: Uint8Array): string {
  const digits = Buffer.from(value.subarray(0, 64)).toString("hex");
  return digits.length > 2 && digits.startsWith("00") ? digits.slice(2) : digits;
}

/** Relative names with several attributes are listed as if they were several. */
function nameText(name: Tlv): string {
  const attributes = readAll(name.value).flatMap((set) => readAll(set.value)).slice(0, MAX_ATTRIBUTES);
  return attributes.flatMap((attribute) => {
    const [type, value] = readAll(attribute.value);
    if (!type || !value || type.tag !== TAG.objectIdentifier) return [];
    const oid = decodeObjectIdentifier(type.value);
    return [`${ATTRIBUTES[oid] ?? oid}=${stringText(value)}`];
  }).join(", ");
}

function stringText({ tag, value }: Tlv): string {
  const bytes = value.subarray(0, MAX_VALUE_BYTES);
  if (tag === TAG.utf8String) return decodeUtf8(bytes);
  if (tag !== TAG.bmpString) return latin1(bytes);
  let text = "";
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(((bytes[at] as number) << 8) | (bytes[at + 1] as number));
  return text;
}

const TIME = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?Z$/;

/** @see RFC 5280 section 4.1.2.5: years of two digits are from 1950 to 2049 */
function readTime({ tag, value }: Tlv): number | null {
  if (tag !== TAG.utcTime && tag !== TAG.generalizedTime) return null;
  const [found, year = "", month, day, hour, minute, second = "0"] = TIME.exec(latin1(value.subarray(0, 32))) ?? [];
  if (!found || (year.length === 2) !== (tag === TAG.utcTime)) return null;
  const fullYear = year.length === 4 ? Number(year) : Number(year) + (Number(year) < 50 ? 2000 : 1900);
  const milliseconds = Date.UTC(fullYear, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const date = new Date(milliseconds);
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day) ? milliseconds / 1000 : null;
}

function alternativeNames(extensions: Tlv | undefined): readonly string[] {
  const list = extensions ? readTlv(extensions.value) : null;
  for (const extension of list ? readAll(list.value) : []) {
    const parts = readAll(extension.value);
    const [type] = parts;
    const value = parts.at(-1);
    if (!type || value?.tag !== TAG.octetString || decodeObjectIdentifier(type.value) !== SUBJECT_ALTERNATIVE_NAME) continue;
    const names = readTlv(value.value);
    return names ? readAll(names.value).slice(0, MAX_NAMES).flatMap(nameOf) : [];
  }
  return [];
}

function nameOf({ tag, value }: Tlv): string[] {
  if (tag === TAG.dnsName) return [latin1(value.subarray(0, 255))];
  return tag === TAG.ipAddress && (value.length === 4 || value.length === 16) ? [formatIp(value)] : [];
}
