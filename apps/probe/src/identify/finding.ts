import { type Claim, combineClaims, type Verdict, type ClaimField } from "@lanthorn/fingerprints";
import type { TlsSession } from "./connection.ts";

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
  /** Strong identity keys: `ssh_host_key`, `tls_certificate`, `snmp_engine_id`. */
  readonly keys: readonly { readonly field: string; readonly value: string; readonly source: string }[];
  readonly tls: TlsSession | null;
}

export function toFinding(found: {
  readonly service: string;
  readonly claims: readonly Claim[];
  readonly keys: readonly { readonly field: string; readonly value: string }[];
  readonly banner: string;
  readonly tls: TlsSession | null;
}): ServiceFinding {
  const verdicts = combineClaims(found.claims);
  const source = found.service;
  const certificate = found.tls?.certificate ? [{ field: "tls_certificate", value: found.tls.certificate.sha256, source: "tls" }] : [];
  return {
    service: found.service.slice(0, 64),
    version: [verdicts.product?.value, verdicts.version?.value].filter((text) => text !== undefined).join(" ").slice(0, 255),
    banner: found.banner.slice(0, 4096),
    verdicts,
    keys: [...found.keys.map((key) => ({ ...key, source })), ...certificate],
    tls: found.tls,
  };
}
