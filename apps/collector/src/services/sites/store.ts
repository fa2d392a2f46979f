import type { Insertable, Kysely, Selectable, Transaction, Updateable } from "kysely";
import { holdSite } from "../../db/locks/hold-site.ts";
import { holdsText } from "../../db/query/like.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";
import { countAtSites } from "./summary-store.ts";

/** A site as stored. `probe_configuration` and `scan_networks` are JSON text; `configuration_revision` rises by 1 with each update. */
export type SiteRow = Selectable<Schema["sites"]>;
type Trx = Transaction<Schema>;

/** Which of a tenant's sites a list shows. */
interface SitesFilter {
  readonly tenantId: string;
  /** Part of the name. */
  readonly search?: string | undefined;
}

/** Rows of sites. Methods with `trx` see the transaction's own writes, the others only what is committed. */
export interface SitesStore {
  /** In the order in which they were made. */
  list(filter: SitesFilter, rows: Rows): Promise<readonly SiteRow[]>;
  count(filter: SitesFilter): Promise<number>;
  byId(tenantId: string, siteId: string): Promise<SiteRow | null>;
  /** What is at sites, in numbers. */
  counts(tenantId: string, siteIds: readonly string[]): ReturnType<typeof countAtSites>;
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Fails by the name's constraint when the tenant has a site of this name. */
  create(trx: Trx, site: Insertable<Schema["sites"]>): Promise<SiteRow>;
  /** As the transaction sees it; until it ends, no other changes it. */
  hold(trx: Trx, tenantId: string, siteId: string): Promise<SiteRow | null>;
  /** Fails by the name's constraint when the tenant has another site of this name. */
  update(trx: Trx, siteId: string, change: Updateable<Schema["sites"]>): Promise<SiteRow>;
  /** What stands on it: probes that are not revoked, and devices. */
  countUsers(trx: Trx, siteId: string): Promise<{ readonly probes: number; readonly devices: number }>;
  /** With its enrollment tokens and revoked probes. */
  remove(trx: Trx, siteId: string): Promise<void>;
}

/** A unique or foreign key that is violated is thrown as the database's own error; see `isDuplicate` and `isStillUsed`. */
export function createSitesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SitesStore {
  const sites = ({ tenantId, search }: SitesFilter) => {
    const query = reads.selectFrom("sites").where("tenant_id", "=", tenantId);
    return search ? query.where((eb) => holdsText(eb.ref("name"), search)) : query;
  };
  return {
    list(filter, { from, limit }) {
      const query = sites(filter).selectAll().orderBy("id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", ">", from)).execute();
    },
    async count(filter) {
      return (await sites(filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    async byId(tenantId, siteId) {
      return (await reads.selectFrom("sites").selectAll().where("tenant_id", "=", tenantId).where("id", "=", siteId)
        .executeTakeFirst()) ?? null;
    },
    counts: (tenantId, siteIds) => countAtSites(reads, tenantId, siteIds),
    transaction: (work) => db.transaction().execute(work),
    create: (trx, site) => trx.insertInto("sites").values(site).returningAll().executeTakeFirstOrThrow(),
    async hold(trx, tenantId, siteId) {
      const isThere = await holdSite(trx, tenantId, siteId);
      return isThere ? trx.selectFrom("sites").selectAll().where("id", "=", siteId).executeTakeFirstOrThrow() : null;
    },
    update: (trx, siteId, change) => trx.updateTable("sites").set(change).where("id", "=", siteId).returningAll().executeTakeFirstOrThrow(),
    async countUsers(trx, siteId) {
      const count = (table: "probes" | "devices") =>
        trx.selectFrom(table).select((eb) => eb.fn.countAll<number>().as("total")).where("site_id", "=", siteId);
      const probes = await count("probes").where("revoked_at", "is", null).executeTakeFirstOrThrow();
      const devices = await count("devices").executeTakeFirstOrThrow();
      return { probes: probes.total, devices: devices.total };
    },
    async remove(trx, siteId) {
      const probes = trx.selectFrom("probes").select("id").where("site_id", "=", siteId);
      await trx.deleteFrom("probe_queues").where("probe_id", "in", probes).execute();
      await trx.deleteFrom("rejected_events").where("probe_id", "in", probes).execute();
      await trx.deleteFrom("probes").where("site_id", "=", siteId).execute();
      await trx.deleteFrom("enrollment_tokens").where("site_id", "=", siteId).execute();
      await trx.deleteFrom("device_merges").where("site_id", "=", siteId).execute();
      await trx.deleteFrom("device_counts").where("site_id", "=", siteId).execute();
      await trx.deleteFrom("sites").where("id", "=", siteId).execute();
    },
  };
}
