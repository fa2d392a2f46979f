import { type AnswerKind, type Claim, type ClaimField, combineClaims, readAnswer, readSoftware, type Software, type Verdict } from "@lanthorn/fingerprints";
import type { TlsSession } from "./connection.ts";

/**
 * What kind of text a service said. Those of `AnswerKind` have rules of our own, too; the others are for databases of fingerprints:
 * `http-cookie` is a field's name and value; `favicon-…` are hashes of the picture that browsers show: in hexadecimal, but for
 * `favicon-mmh3`, MurmurHash3 of its Base64 in lines as a signed number; `tls-subject` and `tls-issuer` are names as in RFC 4514;
 * `ntp-variables` is what ntpd calls them, with commas; `mdns-services` has one to a line.
 */
export type TextKind = AnswerKind
  | "http-cookie" | "favicon-mmh3" | "favicon-md5" | "favicon-sha256" | "tls-subject" | "tls-issuer" | "ntp-variables"
  | "sip-server" | "rtsp-server" | "upnp-server" | "nntp" | "ldap-root" | "mdns-services";

/** At most 1024 characters, word for word. */
export interface FindingText {
  readonly kind: TextKind;
  readonly text: string;
}

const MAX_TEXTS = 32;
const MAX_TEXT_LENGTH = 1024;

/** What a port was found to be. */
export interface ServiceFinding {
  /** At most 64 characters, as IANA or nmap call it: `ssh`, `http`; `https` and `imaps` are inside TLS. */
  readonly service: string;
  /** At most 255 characters, for people: product and version. */
  readonly version: string;
  /** At most 4096 characters of what it said. */
  readonly banner: string;
  /** What is believed of the service and its device, with sources and confidence. */
  readonly verdicts: Readonly<Partial<Record<ClaimField, Verdict>>>;
  /** The product with its version and build; null where nothing names one. */
  readonly software: Software | null;
  /** What `verdicts` come from, as it was said. */
  readonly claims: readonly Claim[];
  /** What it said word for word, at most 32 of them. */
  readonly texts: readonly FindingText[];
  /** Strong identity keys: `ssh_host_key`, `tls_certificate`, `snmp_engine_id`. */
  readonly keys: readonly { readonly field: string; readonly value: string; readonly source: string }[];
  readonly tls: TlsSession | null;
}

/** What is reported of an open port. */
export type PortFinding = Pick<ServiceFinding, "service" | "version" | "banner"> & Partial<Pick<ServiceFinding, "claims" | "keys" | "software">>;

/** Cuts every text to its limit, leaves out empty ones, and adds what the TLS certificate says. */
export function toFinding(found: {
  readonly service: string;
  readonly claims?: readonly Claim[];
  readonly texts?: readonly FindingText[];
  readonly keys?: readonly { readonly field: string; readonly value: string }[];
  readonly banner?: string;
  readonly tls?: TlsSession | null;
}): ServiceFinding {
  const { tls = null } = found;
  const claims = [...(found.claims ?? []), ...(tls?.certificate ? readAnswer("tls-subject", tls.certificate.subjectText) : [])];
  const verdicts = combineClaims(claims);
  const source = found.service;
  const certificate = tls?.certificate ? [{ field: "tls_certificate", value: tls.certificate.sha256, source: "tls" }] : [];
  return {
    service: found.service.slice(0, 64),
    version: versionText(verdicts),
    banner: (found.banner ?? "").slice(0, 4096),
    verdicts,
    software: readSoftware(claims),
    claims,
    texts: [...(found.texts ?? []), ...certificateTexts(tls)].filter(({ text }) => text !== "").slice(0, MAX_TEXTS)
      .map(({ kind, text }) => ({ kind, text: text.slice(0, MAX_TEXT_LENGTH) })),
    keys: [...(found.keys ?? []).map((key) => ({ ...key, source })), ...certificate],
    tls,
  };
}

/** A finding of which more is claimed. */
export function withClaims(finding: ServiceFinding, more: readonly Claim[]): ServiceFinding {
  if (more.length === 0) return finding;
  const claims = [...finding.claims, ...more];
  const verdicts = combineClaims(claims);
  return { ...finding, claims, verdicts, software: readSoftware(claims), version: versionText(verdicts) };
}

function versionText({ product, version }: ServiceFinding["verdicts"]): string {
  return [product?.value, version?.value].filter((text) => text !== undefined).join(" ").slice(0, 255);
}

function certificateTexts(tls: TlsSession | null): readonly FindingText[] {
  const certificate = tls?.certificate;
  return certificate ? [{ kind: "tls-subject", text: certificate.subjectText }, { kind: "tls-issuer", text: certificate.issuerText }] : [];
}
