import type { EventData, Severity } from "@lanthorn/contract";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import type { NewEvent } from "../../../../events/log.ts";
import type { deviceOf, OpenCve, ReportRow } from "./report-store.ts";

/** Where CVEs are open. */
interface ReportPlace {
  readonly row: Pick<ReportRow, "product">;
  readonly device: NonNullable<Awaited<ReturnType<typeof deviceOf>>>;
  readonly now: string;
}

/** Events, and CVEs of an alert, at a time: who is interested in the others reads the list. */
const MAX_CVES = 10;
const MAX_TECHNIQUES = 16;
const MAX_SERVICE = 128;
const MAX_CPE = 512;
const MAX_RANGE = 255;
const MAX_PRODUCT = 255;

/** One event for each of the gravest CVEs; each says how many others there are. */
export function foundEvents(fresh: readonly OpenCve[], place: ReportPlace): readonly NewEvent[] {
  const worst = fresh.slice(0, MAX_CVES);
  return worst.map((cve) => toEvent("vuln_found", {
    ...factsOf(cve), ip: place.device.ip, product: place.row.product.slice(0, MAX_PRODUCT), others: fresh.length - worst.length,
  } satisfies EventData<"vuln_found">, place));
}

/** How a product of a device is now, for its alert. */
export function stateEvent(open: readonly OpenCve[], place: ReportPlace): NewEvent {
  const techniques = new Set(open.slice(0, MAX_CVES).flatMap((cve) => Techniques.parse(parseJson(cve.techniques))));
  return toEvent("vuln_state", {
    state: open.length === 0 ? "cleared" : "open", product: place.row.product.slice(0, MAX_PRODUCT), ip: place.device.ip,
    severity: gravest(open.map(severityOf)), count: open.length, known_exploited: open.filter(({ is_kev: isKev }) => isKev === 1).length,
    cves: open.slice(0, MAX_CVES).map(factsOf), mitre_techniques: [...techniques].slice(0, MAX_TECHNIQUES),
  } satisfies EventData<"vuln_state">, place);
}

const Techniques = z.array(z.string()).catch([]);

function factsOf(cve: OpenCve) {
  const { cve_id, score, epss, port, service, cpe, version_range: range } = cve;
  return {
    cve_id, severity: severityOf(cve), cvss_score: score, known_exploited: cve.is_kev === 1, epss, matched_service: service.slice(0, MAX_SERVICE), matched_port: port,
    cpe: cpe.slice(0, MAX_CPE), range: range.slice(0, MAX_RANGE),
  };
}

/** What is known to be exploited is critical, whatever its score. */
function severityOf({ is_kev: isKev, severity }: Pick<OpenCve, "is_kev" | "severity">): Severity {
  if (isKev === 1) return "critical";
  return severity === "critical" || severity === "high" || severity === "medium" || severity === "low" ? severity : "info";
}

const ORDER: readonly Severity[] = ["critical", "high", "medium", "low"];

function gravest(severities: readonly Severity[]): Severity {
  return ORDER.find((severity) => severities.includes(severity)) ?? "info";
}

function toEvent(type: "vuln_found" | "vuln_state", data: object, { device, now }: ReportPlace): NewEvent {
  return { type, siteId: device.site_id, probeId: null, deviceId: device.id, queueId: null, probeSeq: null, occurredAt: now, receivedAt: now, data };
}
