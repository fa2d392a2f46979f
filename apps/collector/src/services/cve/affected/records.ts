import type { AffectedCve, AffectedDevice, DeviceCve } from "@lanthorn/contract";
import * as z from "zod";
import { versionOf } from "../matching/evidence.ts";
import { type SuppressionPlan, suppressionOf } from "../suppressions/plan.ts";
import type { CveRow, MatchRow } from "./store/matches.ts";

type Status = AffectedDevice["status"];

const Texts = z.array(z.string());
const Remedies = z.array(z.object({ product: z.string(), fixed: Texts, last_affected: Texts }));
const Severity = z.enum(["critical", "high", "medium", "low", "none"]).nullable().catch(null);
const Confidence = z.enum(["confirmed", "likely", "possible"]);

/** A match of a device as the API shows it. */
export function toAffectedDevice(row: MatchRow, plan: SuppressionPlan): AffectedDevice {
  const { device_id: deviceId, ip, hostname, site_id: siteId } = row.place;
  return { device_id: deviceId, ip, hostname, site_id: siteId, ...toMatch(row, plan) };
}

/** A CVE of a device as its profile shows it. */
export function toDeviceCve(cve: CveRow, row: MatchRow, plan: SuppressionPlan): DeviceCve {
  return { ...toFacts(cve), ...toMatch(row, plan) };
}

/** A CVE with its matches as the API shows it. */
export function toAffectedCve(cve: CveRow, matches: { readonly rows: readonly MatchRow[]; readonly devices: number } | undefined, plan: SuppressionPlan): AffectedCve {
  return {
    ...toFacts(cve), affected_devices: (matches?.rows ?? []).map((row) => toAffectedDevice(row, plan)), affected_devices_total: matches?.devices ?? 0,
    references: textsOf(cve.links), mitre_techniques: textsOf(cve.techniques),
  };
}

function toFacts({ cve_id, description, severity, score, published, is_kev: isKev, epss }: CveRow): Omit<AffectedCve, "affected_devices" | "affected_devices_total" | "references" | "mitre_techniques"> {
  return {
    cve_id, description, cvss_score: score, severity: Severity.parse(severity), published: published?.slice(0, 10) ?? null, known_exploited: isKev === 1, epss,
  };
}

type Match = Omit<AffectedDevice, "device_id" | "ip" | "hostname" | "site_id">;

function toMatch({ place, judgment, firstSeen }: MatchRow, plan: SuppressionPlan): Match {
  const { service, port, protocol, product, seen_at: seenAt } = place;
  const { cve_id: cveId, cpe, version_range: range, confidence, reasons, remedies, evidence } = judgment;
  const suppression = suppressionOf(plan, { cve_id: cveId, product, device_id: place.device_id, site_id: place.site_id });
  const ends = [place.until, judgment.until].flatMap((at) => at ?? []).toSorted();
  const [end] = ends;
  const { success: isSure, data: sure } = Confidence.safeParse(confidence);
  const held = judgment.status === "open" && suppression !== null ? "suppressed" : judgment.status === "open" ? "open" : "patched-by-distribution";
  const status: Status = end === undefined ? held : "resolved";
  return {
    matched_service: service, matched_port: port, protocol: protocol === "tcp" || protocol === "udp" ? protocol : "", product,
    version: versionOf(evidence), confidence: isSure ? sure : "possible", status, cpe, range, reasons: textsOf(reasons),
    remedies: Remedies.parse(JSON.parse(remedies)), first_seen: firstSeen, last_seen: latest(firstSeen, end ?? seenAt),
    suppression: suppression && { id: suppression.id, reason: suppression.reason, created_by: suppression.created_by, expires_at: suppression.expires_at },
  };
}

/** A device that was never scanned was never seen: then it is since it is known. */
function latest(first: string, last: string): string {
  return last > first ? last : first;
}

function textsOf(json: string): string[] {
  return Texts.parse(JSON.parse(json));
}
