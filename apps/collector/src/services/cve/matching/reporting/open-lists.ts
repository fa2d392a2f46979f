import type { Severity } from "@lanthorn/contract";
import type { Kysely } from "kysely";
import type { Schema } from "../../../../db/schema.ts";
import { createRecent } from "../recent.ts";
import { MAX_OPEN, type OpenCve, openOfSoftware, type ReportedService } from "./report-store.ts";

/** What is open, as far as it is reported. */
export interface OpenList {
  readonly count: number;
  readonly knownExploited: number;
  readonly severity: Severity;
  /** The gravest first. */
  readonly worst: readonly OpenCve[];
  /** Ids of all, as a JSON list. */
  readonly ids: string;
}

/** CVEs of an event or alert: who is interested in the others reads the list. */
const MAX_WORST = 10;
/** Characters of all lists together: those of some ten thousand pieces of software. */
const MAX_CHARACTERS = 32_000_000;
/** Of one of the worst, about. */
const CHARACTERS_OF_CVE = 300;
const GRAVEST_FIRST: readonly Severity[] = ["critical", "high", "medium", "low"];

/** What is known to be exploited is critical, whatever its score. */
export function severityOf({ is_kev: isKev, severity }: Pick<OpenCve, "is_kev" | "severity">): Severity {
  return isKev === 1 ? "critical" : GRAVEST_FIRST.find((one) => one === severity) ?? "info";
}

/** @param open The gravest first. */
export function listOpen(open: readonly OpenCve[]): OpenList {
  const severities = new Set(open.map(severityOf));
  return {
    count: open.length, knownExploited: open.filter(({ is_kev: isKev }) => isKev === 1).length, severity: GRAVEST_FIRST.find((one) => severities.has(one)) ?? "info",
    worst: open.slice(0, MAX_WORST), ids: JSON.stringify(open.map(({ cve_id: id }) => id)),
  };
}

/** Lists of what is open of software, each read once, whatever runs it. */
export interface OpenLists {
  /**
   * @param services Where a product runs on a device.
   * @param facts By which version of the CVE database what is shown of CVEs was finished.
   * @returns Null where it is not one piece of software that was judged to the end: then the matches are to be read.
   */
  of(db: Kysely<Schema>, services: readonly ReportedService[], facts: string): Promise<OpenList | null>;
}

/** Keeps the lists that were used last. Software that is judged again has another list. */
export function createOpenLists(): OpenLists {
  const lists = createRecent<OpenList>(MAX_CHARACTERS);
  return {
    async of(db, services, facts) {
      const [first] = services;
      if (first === undefined) return listOpen([]);
      const { software_id: id, lineage, generation, judged_at: judgedAt, is_reported: isReported, service, port } = first;
      if (lineage === "" || isReported === 0 || services.some(({ software_id: other }) => other !== id)) return null;
      const key = [id, lineage, generation, judgedAt, facts].join(" ");
      let list = lists.get(key);
      if (list === undefined) {
        list = listOpen(await openOfSoftware(db, id));
        lists.set(key, list, list.ids.length + list.worst.length * CHARACTERS_OF_CVE);
      }
      return list.count * services.length > MAX_OPEN ? null : { ...list, worst: list.worst.map((cve) => ({ ...cve, service, port })) };
    },
  };
}
