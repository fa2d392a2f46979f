import { type ProbeCoverageRecord, ProbeHealth, type SiteCoverage } from "@lanthorn/contract";
import { requireSite } from "../../gateway/errors.ts";
import { detectorsOf, factsOf } from "./judge-coverage.ts";
import type { GuardedProbe, GuardsStore } from "./store.ts";

/** What a site's probes can see, by their last reports. */
export interface CoverageService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  read(tenantId: string, siteId: string): Promise<SiteCoverage>;
}

/** @param store Keeps the last report of each probe. */
export function createCoverageService(store: Pick<GuardsStore, "siteExists" | "probes">): CoverageService {
  return {
    async read(tenantId, siteId) {
      await requireSite(store, tenantId, siteId);
      return { site_id: siteId, probes: (await store.probes(siteId)).map(toCoverage) };
    },
  };
}

function toCoverage({ id, name, presence, health }: GuardedProbe): ProbeCoverageRecord {
  const report = health === null ? undefined : ProbeHealth.safeParse(JSON.parse(health)).data;
  const { coverage, guards } = report ?? {};
  return {
    probe_id: id, name, is_online: presence === "online", reported_at: report && coverage ? report.at : null,
    facts: coverage && report ? factsOf(coverage, report.interface.networks ?? []) : [],
    detectors: guards ? detectorsOf(coverage, guards) : [],
  };
}
