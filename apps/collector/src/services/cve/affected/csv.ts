import type { AffectedDevice, DeviceCve } from "@lanthorn/contract";
import type { CsvColumns } from "../../../gateway/csv/csv.ts";

/** A match with its CVE and its device. */
export type ExportedMatch = DeviceCve & Pick<AffectedDevice, "device_id" | "ip" | "hostname" | "site_id"> & { readonly mitre_techniques: readonly string[] };

/** The export of matches, a line for each. Null is empty; fixed versions are joined with commas, reasons and techniques with blanks. */
export const AFFECTED_COLUMNS: CsvColumns<ExportedMatch> = {
  cve_id: (match) => match.cve_id,
  severity: (match) => match.severity ?? "",
  cvss_score: (match) => textOf(match.cvss_score),
  known_exploited: (match) => String(match.known_exploited),
  epss: (match) => textOf(match.epss),
  published: (match) => match.published ?? "",
  status: (match) => match.status,
  confidence: (match) => match.confidence,
  device_id: (match) => match.device_id,
  ip: (match) => match.ip,
  hostname: (match) => match.hostname,
  site_id: (match) => match.site_id,
  matched_service: (match) => match.matched_service,
  matched_port: (match) => textOf(match.matched_port),
  protocol: (match) => match.protocol,
  product: (match) => match.product,
  version: (match) => match.version,
  affected_versions: (match) => match.range,
  fixed_in: (match) => match.remedies[0]?.fixed.join(", ") ?? "",
  cpe: (match) => match.cpe,
  reasons: (match) => match.reasons.join(" "),
  first_seen: (match) => match.first_seen,
  last_seen: (match) => match.last_seen,
  suppressed_because: (match) => match.suppression?.reason ?? "",
  mitre_techniques: (match) => match.mitre_techniques.join(" "),
  description: (match) => match.description,
};

function textOf(value: number | null): string {
  return value === null ? "" : String(value);
}
