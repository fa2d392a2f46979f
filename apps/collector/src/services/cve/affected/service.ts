import {
  AFFECTED_CVE_SORT_FIELDS, type AffectedCve, type AffectedCvesExportQuery, type AffectedCvesQuery, type AffectedDevice, type CveStats, type DeviceCve, type List,
} from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { RawBuilder } from "kysely";
import { EXPORT_ROWS, formatCsvLine, toLine } from "../../../gateway/csv/csv.ts";
import { notFound, requireSite } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import { AFFECTED_COLUMNS } from "./csv.ts";
import { devicesWith } from "./store/devices-with.ts";
import { COUNTED, type MatchFilter, type MatchQuery } from "./store/filter.ts";
import { toAffectedCve, toAffectedDevice, toDeviceCve } from "./records.ts";
import type { AffectedStore, CveOrder } from "./store/affected.ts";

/** What concerns a tenant's devices. A site or device that the tenant does not have is NOT_FOUND. */
export interface AffectedService {
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, query: AffectedCvesQuery): Promise<List<AffectedCve>>;
  /** Every match of the list as CSV, some hundreds at a time. @throws ApiError NOT_FOUND. */
  exportCsv(tenantId: string, query: AffectedCvesExportQuery): Promise<AsyncGenerator<string>>;
  /** @throws ApiError NOT_FOUND. */
  stats(tenantId: string, siteId: string | undefined): Promise<CveStats>;
  /** Devices for which a CVE counts. */
  devicesOf(tenantId: string, cveId: string): Promise<{ readonly devices: readonly AffectedDevice[]; readonly total: number }>;
  /** A query of the ids of devices for which a CVE of one of these severities counts. */
  devicesWith(tenantId: string, severities: MatchQuery["severity"]): Promise<RawBuilder<unknown>>;
  /** CVEs of a device, and of each of its services, as `tcp/22`, how many count. */
  cvesOf(tenantId: string, deviceId: string): Promise<{ readonly cves: readonly DeviceCve[]; readonly counted: ReadonlyMap<string, number> }>;
}

/** Places of a CVE in a list, and in its own record. */
const MAX_LISTED = 20;
const MAX_IN_RECORD = 100;
/** CVEs whose matches an export reads one after the other. */
const EXPORTED_AT_ONCE = 100;

/** @param deps.loaded What is in the CVE database; null while there is none. */
export function createAffectedService({ store, clock, loaded }: {
  readonly store: AffectedStore;
  readonly clock: Pick<Clock, "now">;
  readonly loaded: () => { readonly entries: number; readonly builtAt: string } | null;
}): AffectedService {
  const filterOf = async (tenantId: string, query: MatchQuery): Promise<MatchFilter> => {
    const now = toInstant(clock.now());
    return { tenantId, now, plan: await store.plan(tenantId, now), query };
  };
  const checked = async (tenantId: string, query: MatchQuery): Promise<MatchFilter> => {
    await requireSite(store, tenantId, query.site_id);
    if (query.device_id !== undefined && !(await store.deviceExists(tenantId, query.device_id))) throw notFound("device");
    return filterOf(tenantId, query);
  };

  return {
    async list(tenantId, query) {
      const { page, per_page: perPage, cursor, sort } = query;
      const filter = await checked(tenantId, query);
      if (cursor !== undefined && !(await store.isKnown(cursor))) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
      const rows = await store.cves(filter, { ...orderOf(sort), from: cursor ?? (page - 1) * perPage, limit: perPage + 1 });
      const shown = rows.slice(0, perPage);
      const [matches, total] = await Promise.all([store.matches(filter, shown.map(({ cve_id: id }) => id), MAX_LISTED), store.count(filter)]);
      const next = rows.length > perPage ? (shown.at(-1)?.cve_id ?? null) : null;
      return {
        data: shown.map((row) => toAffectedCve(row, matches.get(row.cve_id), filter.plan)),
        meta: { page, per_page: perPage, total, next_cursor: next },
      };
    },

    async exportCsv(tenantId, query) {
      return exportPages(store, await checked(tenantId, query), orderOf(query.sort));
    },

    async stats(tenantId, siteId) {
      const filter = await checked(tenantId, { ...COUNTED, ...(siteId !== undefined && { site_id: siteId }) });
      const rows = await store.bySeverity(filter);
      const countOf = (severity: string) => rows.find((row) => row.severity === severity)?.cves ?? 0;
      const facts = loaded();
      return {
        total_matched: rows.reduce((sum, { cves }) => sum + cves, 0),
        by_severity: { critical: countOf("critical"), high: countOf("high"), medium: countOf("medium"), low: countOf("low") },
        known_exploited: rows.reduce((sum, { exploited }) => sum + exploited, 0), affected_devices: await store.countDevices(filter),
        last_db_update: facts?.builtAt ?? null, db_total_cves: facts?.entries ?? 0,
      };
    },

    async devicesOf(tenantId, cveId) {
      const filter = await filterOf(tenantId, COUNTED);
      const found = (await store.matches(filter, [cveId], MAX_IN_RECORD)).get(cveId);
      return { devices: (found?.rows ?? []).map((row) => toAffectedDevice(row, filter.plan)), total: found?.devices ?? 0 };
    },

    devicesWith: async (tenantId, severity) => devicesWith(await filterOf(tenantId, { ...COUNTED, severity })),

    async cvesOf(tenantId, deviceId) {
      const filter = await filterOf(tenantId, { status: ["open", "suppressed", "patched-by-distribution"], confidence: ["confirmed", "likely", "possible"], device_id: deviceId });
      const { rows, counted } = await store.ofDevice(filter);
      return { counted, cves: rows.map(({ cve, match }) => toDeviceCve(cve, match, filter.plan)) };
    },
  };
}

function orderOf(sort: AffectedCvesExportQuery["sort"]): Pick<CveOrder, "field" | "descending"> {
  const field = AFFECTED_CVE_SORT_FIELDS.find((one) => sort === one || sort === `-${one}`) ?? "risk";
  return { field, descending: sort.startsWith("-") };
}

async function* exportPages(store: AffectedStore, filter: MatchFilter, order: Pick<CveOrder, "field" | "descending">): AsyncGenerator<string> {
  yield formatCsvLine(Object.keys(AFFECTED_COLUMNS));
  for (let from: number | string = 0; ;) {
    const cves = await store.cves(filter, { ...order, from, limit: EXPORTED_AT_ONCE });
    for (const cve of cves) {
      const { mitre_techniques: techniques } = toAffectedCve(cve, undefined, filter.plan);
      for (let after: string | null = ""; after !== null;) {
        const rows = await store.matchesAfter(filter, cve.cve_id, after, EXPORT_ROWS);
        yield rows.map((row) => toLine(AFFECTED_COLUMNS, {
          ...toDeviceCve(cve, row, filter.plan), ...toAffectedDevice(row, filter.plan), mitre_techniques: techniques,
        })).join("");
        after = rows.length === EXPORT_ROWS ? (rows.at(-1)?.place.id ?? null) : null;
      }
    }
    const last = cves.at(-1);
    if (last === undefined || cves.length < EXPORTED_AT_ONCE) return;
    from = last.cve_id;
  }
}
