import type { EventData } from "@lanthorn/contract";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import type { NewEvent } from "../../../../events/log.ts";
import { type OpenList, severityOf } from "./open-lists.ts";
import type { OpenCve, ReportedDevice, ReportRow } from "./report-store.ts";

/** Where CVEs are open. */
interface ReportPlace {
  readonly row: Pick<ReportRow, "product">;
  readonly device: ReportedDevice;
  readonly now: string;
}

const MAX_TECHNIQUES = 16;
const MAX_SERVICE = 128;
const MAX_CPE = 512;
const MAX_RANGE = 255;
const MAX_PRODUCT = 255;

/** One event for each of the gravest CVEs; each says how many others there are. */
export function foundEvents({ worst, count }: Pick<OpenList, "worst" | "count">, place: ReportPlace): readonly NewEvent[] {
  return worst.map((cve) => toEvent("vuln_found", {
    ...factsOf(cve), ip: place.device.ip, product: place.row.product.slice(0, MAX_PRODUCT), others: count - worst.length,
  } satisfies EventData<"vuln_found">, place));
}

/** How a product of a device is now, for its alert. */
export function stateEvent({ count, knownExploited, severity, worst }: OpenList, place: ReportPlace): NewEvent {
  const techniques = new Set(worst.flatMap((cve) => Techniques.parse(parseJson(cve.techniques))));
  return toEvent("vuln_state", {
    state: count === 0 ? "cleared" : "open", product: place.row.product.slice(0, MAX_PRODUCT), ip: place.device.ip, severity, count, known_exploited: knownExploited,
    cves: worst.map(factsOf), mitre_techniques: [...techniques].slice(0, MAX_TECHNIQUES),
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

function toEvent(type: "vuln_found" | "vuln_state", data: object, { device, now }: ReportPlace): NewEvent {
  return { type, siteId: device.site_id, probeId: null, deviceId: device.id, queueId: null, probeSeq: null, occurredAt: now, receivedAt: now, data };
}
