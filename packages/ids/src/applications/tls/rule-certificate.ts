/** A certificate as rules see it. @see RFC 5280 section 4.1 */
import { createHash } from "node:crypto";
import { readAll, Reader, readTlv } from "@lanthorn/packets";
import { decodeCertificate } from "@lanthorn/traffic";
import { nameText } from "./certificate-name.ts";

/** The first of a chain, in Suricata's spelling. */
export interface RuleCertificate {
  readonly subject: string;
  readonly issuer: string;
  /** `00:FF:12`: the bytes as they are encoded. */
  readonly serial: string;
  /** SHA-1 of the whole, `75:1e:fd:…`. */
  readonly fingerprint: string;
  /** Seconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly alternativeNames: readonly string[];
}

const MAX_CERTIFICATES = 16;
const TAG = { integer: 0x02, sequence: 0x30, version: 0xa0 } as const;

/** @param body Of the Certificate message of TLS 1.2 and before. @returns The certificates that are whole, at most 16, as views. */
export function splitCertificates(body: Uint8Array): readonly Uint8Array[] {
  const reader = new Reader(body);
  reader.limit(reader.u24());
  const chain: Uint8Array[] = [];
  while (reader.remaining > 0 && chain.length < MAX_CERTIFICATES) {
    const der = reader.take(reader.u24());
    if (reader.failed || der.length === 0) break;
    chain.push(der);
  }
  return chain;
}

/** @returns The certificate, or the name of Suricata's event for what cannot be read. */
export function readRuleCertificate(der: Uint8Array): RuleCertificate | string {
  const whole = readTlv(der);
  const signed = whole?.tag === TAG.sequence ? readTlv(whole.value) : null;
  if (signed?.tag !== TAG.sequence) return "certificate_invalid_der";
  const parts = readAll(signed.value);
  const [serial, , issuer, validity, subject] = parts[0]?.tag === TAG.version ? parts.slice(1) : parts;
  if (serial?.tag !== TAG.integer) return "certificate_invalid_serial";
  if (issuer?.tag !== TAG.sequence) return "certificate_invalid_issuer";
  if (validity?.tag !== TAG.sequence) return "certificate_invalid_validity";
  if (subject?.tag !== TAG.sequence) return "certificate_invalid_subject";
  const { notBefore, notAfter, names } = decodeCertificate(der);
  if (notBefore === null || notAfter === null) return "certificate_invalid_date";
  const [subjectText, issuerText] = [nameText(subject), nameText(issuer)];
  // Suricata keeps them as text of C.
  if (issuerText.includes("\0")) return "certificate_invalid_issuer";
  if (subjectText.includes("\0")) return "certificate_invalid_subject";
  return {
    subject: subjectText, issuer: issuerText, serial: inPairs(Buffer.from(serial.value).toString("hex").toUpperCase()),
    fingerprint: inPairs(createHash("sha1").update(der).digest("hex")), notBefore, notAfter, alternativeNames: names,
  };
}

function inPairs(digits: string): string {
  return (digits.match(/../g) ?? []).join(":");
}
