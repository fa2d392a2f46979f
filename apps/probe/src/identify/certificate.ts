import type { TLSSocket } from "node:tls";

/** What a certificate says of its owner. Whether anybody should believe it is not asked. */
export interface TlsCertificate {
  /** SHA-256 of the certificate's DER, 64 lower-case digits. */
  readonly sha256: string;
  /** As `CN=nas,O=Synology Inc.`, in the certificate's order. */
  readonly subject: string;
  readonly issuer: string;
  readonly commonName: string;
  readonly names: readonly string[];
  /** As OpenSSL writes it: `Nov 20 22:00:00 2026 GMT`. */
  readonly validFrom: string;
  readonly validTo: string;
  /** Hexadecimal, upper case. */
  readonly serial: string;
  /** As `RSA 2048` or `prime256v1`; empty where neither. */
  readonly key: string;
  readonly isSelfSigned: boolean;
  /** The subject as directories write it, with the most particular first and separators escaped. @see RFC 4514 section 2 */
  readonly subjectText: string;
  readonly issuerText: string;
}

const MAX_NAMES = 32;
const MAX_NAME_LENGTH = 1024;

/** @returns Null without one, as in anonymous ciphers, for which Node gives an empty object. */
export function readCertificate(socket: Pick<TLSSocket, "getPeerCertificate">): TlsCertificate | null {
  const certificate = socket.getPeerCertificate() as Partial<ReturnType<TLSSocket["getPeerCertificate"]>>;
  if (certificate.fingerprint256 === undefined) return null;
  const names = (certificate.subjectaltname ?? "").split(", ").flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? []);
  const [subject, issuer] = [writeName(certificate.subject), writeName(certificate.issuer)];
  return {
    sha256: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    subject,
    issuer,
    commonName: textsOf(certificate.subject?.CN)[0] ?? "",
    names: names.slice(0, MAX_NAMES),
    validFrom: certificate.valid_from ?? "",
    validTo: certificate.valid_to ?? "",
    serial: certificate.serialNumber ?? "",
    key: certificate.asn1Curve ?? (certificate.modulus === undefined ? "" : `RSA ${certificate.bits}`),
    isSelfSigned: subject === issuer,
    subjectText: writeDirectoryName(certificate.subject),
    issuerText: writeDirectoryName(certificate.issuer),
  };
}

function writeName(name: object | undefined): string {
  return Object.entries(name ?? {}).map(([key, value]) => `${key}=${textsOf(value)[0] ?? ""}`).join(",").slice(0, MAX_NAME_LENGTH);
}

function writeDirectoryName(name: object | undefined): string {
  const quote = (text: string) => text.replaceAll(/[,+"\\<>;]/g, (letter) => `\\${letter}`);
  const parts = Object.entries(name ?? {}).flatMap(([key, value]) => textsOf(value).map((text) => `${key}=${quote(text)}`));
  return parts.toReversed().join(",").slice(0, MAX_NAME_LENGTH);
}

/** Node gives an array where a name has an attribute more than once. */
function textsOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((text): text is string => typeof text === "string");
}
