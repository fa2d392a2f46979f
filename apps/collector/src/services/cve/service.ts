import type { CveDetails, CveFound, CveSearchQuery, List } from "@lanthorn/contract";
import { type CpeMatch, openCriteria, openRecord, rangeInWords, remediesOf } from "@lanthorn/vulnerability";
import * as z from "zod";
import { CollectorError } from "../../errors.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import type { AffectedService } from "./affected/service.ts";
import type { CveReader, StoredCve } from "./database/reader.ts";
import type { FoundCve } from "./database/search/search-work.ts";
import type { SearchThread } from "./database/search/search-thread.ts";

/** Reads of the CVE database, which is the same for all tenants but for the devices that have a CVE. */
export interface CveService {
  /** @throws ApiError SERVICE_UNAVAILABLE where too many searches wait, or one takes too long. */
  search(query: CveSearchQuery): Promise<List<CveFound>>;
  /** @throws ApiError NOT_FOUND for an id that the database does not have. */
  read(tenantId: string, id: string): Promise<CveDetails>;
}

const MAX_AFFECTED = 1000;
const VENDOR_ADVISORY = "Vendor Advisory";

/** What of a stored entry of CISA's catalog is shown. */
const KevFacts = z.object({
  name: z.string(), addedOn: z.iso.date(), dueOn: z.iso.date().nullable(), requiredAction: z.string(), isUsedByRansomware: z.boolean(),
});
const Severity = z.enum(["critical", "high", "medium", "low", "none"]).nullable().catch(null);

/** @param deps.searches Searches in a thread of their own. */
export function createCveService({ reader, searches, affected }: {
  readonly reader: Pick<CveReader, "record">;
  readonly searches: Pick<SearchThread, "search">;
  readonly affected: Pick<AffectedService, "devicesOf">;
}): CveService {
  return {
    async search({ q, cvss_min: cvssMin = null, page, per_page: perPage }) {
      try {
        const { items, total } = await searches.search({ text: q, cvssMin, order: "risk", page, perPage });
        return { data: items.map(toFound), meta: { page, per_page: perPage, total, next_cursor: null } };
      } catch (error) {
        if (!(error instanceof CollectorError)) throw error;
        throw new ApiError("SERVICE_UNAVAILABLE", "the search was not answered; try again in some seconds", { cause: error });
      }
    },
    async read(tenantId, id) {
      const stored = reader.record(id.toUpperCase());
      if (stored === null) throw notFound("CVE");
      const { devices, total } = await affected.devicesOf(tenantId, stored.id);
      return { ...toDetails(stored), affected_devices: [...devices], affected_devices_total: total };
    },
  };
}

function toFound({ id, description, severity, score, published, isKev, epss }: FoundCve): CveFound {
  return {
    cve_id: id, description, severity: Severity.parse(severity), cvss_score: score, published: published?.slice(0, 10) ?? null, known_exploited: isKev, epss,
  };
}

function toDetails(stored: StoredCve): Omit<CveDetails, "affected_devices" | "affected_devices_total"> {
  const { id, metrics, references, techniques, mitigations, fixes, epss } = stored;
  const [best] = metrics;
  const kev = KevFacts.safeParse(stored.kev).data ?? null;
  return {
    ...toFound({ ...stored, id, severity: best?.severity ?? null, score: best?.score ?? null, isKev: kev !== null, epss: epss?.score ?? null }),
    rejected: stored.isRejected, last_modified: stored.lastModified, epss_percentile: epss?.percentile ?? null,
    cvss: metrics.map(({ version, vector, score, severity, source }) => ({ version, vector, score, severity, source })),
    weaknesses: [...stored.weaknesses],
    kev: kev && { name: kev.name, added_on: kev.addedOn, due_on: kev.dueOn, ransomware: kev.isUsedByRansomware },
    references: references.map(({ url, tags }) => ({ url, tags: [...tags] })),
    affected: affectedOf(stored),
    mitre_techniques: techniques.map(({ id: technique, name, tactics, provenance, source }) => ({ technique_id: technique, name, tactics: [...tactics], provenance, source })),
    remediation: {
      fixed_versions: remediesOf(openRecord({ ...stored, source: "nvd" })).map(({ product, fixed, lastAffected }) =>
        ({ product, fixed: [...fixed], last_affected: [...lastAffected] })),
      packages: fixes.map(({ distribution, package: name, release, status, fixedVersion }) =>
        ({ distribution, release, package: name, status, fixed_version: fixedVersion })),
      required_action: kev?.requiredAction ?? null,
      vendor_advisories: references.filter(({ tags }) => tags.includes(VENDOR_ADVISORY)).map(({ url }) => url),
      mitigations: mitigations.map(({ id: mitigation, name, technique, text }) => ({ mitigation_id: mitigation, name, technique_id: technique, description: text })),
    },
  };
}

/** The products of all statements, each range once. */
function affectedOf({ statements }: Pick<StoredCve, "statements">): CveDetails["affected"] {
  const matches: readonly CpeMatch[] = statements.flatMap(({ nodes }) => nodes.flatMap((node) => node.matches)).slice(0, MAX_AFFECTED);
  const seen = new Map<string, CveDetails["affected"][number]>();
  for (const match of matches) {
    const range = rangeInWords(openCriteria(match));
    seen.set(`${match.criteria} ${range} ${match.isVulnerable}`, { cpe: match.criteria, range, vulnerable: match.isVulnerable });
  }
  return [...seen.values()];
}
