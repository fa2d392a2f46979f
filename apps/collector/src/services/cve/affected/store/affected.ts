import type { AFFECTED_CVE_SORT_FIELDS } from "@lanthorn/contract";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { siteExists } from "../../../../db/locks/site-exists.ts";
import { selectIn } from "../../../../db/query/select-in.ts";
import type { Schema } from "../../../../db/schema.ts";
import { planSuppressions, type SuppressionPlan } from "../../suppressions/plan.ts";
import { countAllDevices } from "./devices-of.ts";
import { allOf, COUNTED, cveConditions, hasMatch, isPlain, matchConditions, type MatchFilter, placeConditions } from "./filter.ts";
import { type CveRow, type MatchesOf, type MatchRow, readMatches } from "./matches.ts";
import { type DeviceMatches, readDeviceMatches } from "./of-device.ts";
import { type PlaceRow, placesOf } from "./places.ts";
import { readServices } from "./services-of.ts";

/** The order of a list of CVEs, and where its page begins: after so many, or after the CVE of that id. */
export interface CveOrder {
  readonly field: (typeof AFFECTED_CVE_SORT_FIELDS)[number];
  readonly descending: boolean;
  readonly from: number | string;
  readonly limit: number;
}

/** Reads of what concerns a tenant's devices. */
export interface AffectedStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  deviceExists(tenantId: string, deviceId: string): Promise<boolean>;
  /** Suppressions of a tenant that have not expired. */
  plan(tenantId: string, now: string): Promise<SuppressionPlan>;
  /** Whether a CVE was ever shown. */
  isKnown(cveId: string): Promise<boolean>;
  cves(filter: MatchFilter, order: CveOrder): Promise<readonly CveRow[]>;
  count(filter: MatchFilter): Promise<number>;
  /** Of each CVE its first matches, and how many devices they are of. */
  matches(filter: MatchFilter, cveIds: readonly string[], limit: number): Promise<MatchesOf>;
  /** All matches of a CVE in the order of their ids. @param after The last one that was read; empty for none. */
  matchesAfter(filter: MatchFilter, cveId: string, after: string, limit: number): Promise<readonly MatchRow[]>;
  /** CVEs of the device that the filter names. */
  ofDevice(filter: MatchFilter): Promise<DeviceMatches>;
  bySeverity(filter: MatchFilter): Promise<readonly { readonly severity: string | null; readonly cves: number; readonly exploited: number }[]>;
  countDevices(filter: MatchFilter): Promise<number>;
}

/** Services whose CVEs are looked up in some milliseconds. */
const MAX_SPARSE = 1000;
/** CVEs in a device's profile. */
const MAX_OF_DEVICE = 200;

/** Each orders all CVEs together with `number`. What is unknown is the lowest. */
const SORT_COLUMNS: Readonly<Record<CveOrder["field"], RawBuilder<unknown>>> = {
  risk: sql`c.risk`, cvss_score: sql`coalesce(c.score, -1)`, epss: sql`coalesce(c.epss, -1)`, published: sql`coalesce(c.published, '')`, cve_id: sql`c.number`,
};

/** @param deps.reads The main database, which is not written. */
export function createAffectedStore({ reads }: { readonly reads: Kysely<Schema> }): AffectedStore {
  const wanted = async (filter: MatchFilter) => sql`from matched_cves c where ${allOf([...cveConditions(filter), hasMatch(filter, await isSparse(reads, filter))])}`;

  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    deviceExists: async (tenantId, deviceId) =>
      (await reads.selectFrom("devices").select("id").where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst()) !== undefined,
    plan: async (tenantId, now) => planSuppressions(await reads.selectFrom("cve_suppressions").selectAll().where("tenant_id", "=", tenantId)
      .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).orderBy("id").execute()),
    isKnown: async (cveId) => (await reads.selectFrom("matched_cves").select("cve_id").where("cve_id", "=", cveId).executeTakeFirst()) !== undefined,

    async cves(filter, { field, descending, from, limit }) {
      const [column, direction] = [SORT_COLUMNS[field], descending ? sql`desc` : sql`asc`];
      const after = typeof from === "number" ? sql``
        : sql` and (${column}, c.number) ${descending ? sql`<` : sql`>`} (select ${column}, c.number from matched_cves c where c.cve_id = ${from})`;
      const { rows } = await sql<{ readonly cve_id: string }>`select c.cve_id ${await wanted(filter)}${after}
        order by ${column} ${direction}, c.number ${direction} limit ${limit} offset ${typeof from === "number" ? from : 0}`.execute(reads);
      const ids = rows.map(({ cve_id: id }) => id);
      const found = new Map((await selectIn(ids, (list) => reads.selectFrom("matched_cves").selectAll().where("cve_id", "in", list).execute())).map((row) => [row.cve_id, row]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },

    async count(filter) {
      const { rows: [row] } = await sql<{ readonly total: number }>`select count(*) as total ${await wanted(filter)}`.execute(reads);
      return row?.total ?? 0;
    },

    async matches(filter, cveIds, limit) {
      const services = await readServices(reads, filter, cveIds, limit);
      return readMatches(reads, services);
    },

    async matchesAfter(filter, cveId, after, limit) {
      const { rows } = await sql<PlaceRow>`${placesOf(cveId)} where ${allOf([...matchConditions(filter), sql`ss.id > ${after}`])} order by ss.id limit ${limit}`.execute(reads);
      return (await readMatches(reads, new Map([[cveId, { places: rows, devices: 0 }]]))).get(cveId)?.rows ?? [];
    },

    ofDevice: (filter) => readDeviceMatches(reads, filter, MAX_OF_DEVICE),

    async bySeverity(filter) {
      const { rows } = await sql<{ readonly severity: string | null; readonly cves: number; readonly exploited: number }>`
        select c.severity, count(*) as cves, sum(c.is_kev) as exploited ${await wanted(filter)} group by c.severity`.execute(reads);
      return rows;
    },

    async countDevices(filter) {
      if (isPlain(filter)) return countAllDevices(reads, filter);
      const { rows: [row] } = await sql<{ readonly total: number }>`select count(distinct ss.device_id) as total from service_software ss join devices d on d.id = ss.device_id
        where ss.tenant_id = ${filter.tenantId} and exists (select 1 from cve_judgments j where j.software_id = ss.software_id and ${allOf(matchConditions(filter))})`.execute(reads);
      return row?.total ?? 0;
    },
  };
}

/** Whether a filter leaves so few services that their CVEs are sooner looked up than each CVE's services. */
async function isSparse(reads: Kysely<Schema>, filter: MatchFilter): Promise<boolean> {
  const { device_id: device, product } = filter.query;
  if (device !== undefined || product !== undefined) return true;
  const { rows: [row] } = await sql<{ readonly total: number }>`select count(*) as total from (
    select 1 from service_software ss where ss.until is null and ${allOf(placeConditions({ ...filter, query: COUNTED }))} limit ${MAX_SPARSE}
  ) as running`.execute(reads);
  return (row?.total ?? 0) < MAX_SPARSE;
}
