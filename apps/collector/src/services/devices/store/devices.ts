import type { Kysely, Selectable } from "kysely";
import { sitesExist } from "../../../db/locks/site-exists.ts";
import { idsAmong } from "../../../db/query/ids-among.ts";
import type { Schema } from "../../../db/schema.ts";
import { mergedInto } from "../../../identity/merging/merged-into-store.ts";
import { countDeviceFacets } from "./facets.ts";
import type { DeviceFilter } from "./filters.ts";
import { createMatches, type Matches } from "./matches.ts";
import { createReadPage, type DeviceRow, type ReadPage } from "./pages.ts";
import { createFindSimilar, type FindSimilar } from "./similar.ts";

/** Everything that is kept of one device beside its row. */
export interface DeviceParts {
  readonly interfaces: readonly Selectable<Schema["interfaces"]>[];
  readonly addresses: readonly Selectable<Schema["addresses"]>[];
  readonly ports: readonly Selectable<Schema["ports"]>[];
  readonly software: readonly Selectable<Schema["device_software"]>[];
  readonly changes: readonly Selectable<Schema["device_changes"]>[];
  readonly evidence: readonly Selectable<Schema["evidence"]>[];
  /** What was merged into it and is not undone, newest first; without what undoing needs. */
  readonly merges: readonly Omit<Selectable<Schema["device_merges"]>, "snapshot">[];
}

/** Reads of one tenant's devices. Another tenant's device is the same as one that does not exist. */
export interface DevicesStore {
  readonly page: ReadPage;
  /** The devices that a filter leaves, without their order. */
  readonly matches: Matches;
  /** How often values occur in the devices that a filter leaves. */
  countFacets(tenantId: string, filter: DeviceFilter): ReturnType<typeof countDeviceFacets>;
  /** Which of these ids are devices of the tenant, in their order. */
  idsAmong(tenantId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** Whether all of these are sites of the tenant. */
  sitesExist(tenantId: string, siteIds: readonly string[]): Promise<boolean>;
  byId(tenantId: string, deviceId: string): Promise<DeviceRow | null>;
  /** The device that one which is not there was merged into; null for none. */
  mergedInto(tenantId: string, deviceId: string): Promise<string | null>;
  readonly similar: FindSimilar;
  /** By number. */
  ports(tenantId: string, deviceId: string): Promise<readonly Selectable<Schema["ports"]>[]>;
  /** Newest first. @param options.from Rows to skip, or the id of the last row that was shown. */
  changes(
    tenantId: string, deviceId: string, options: { readonly from: number | string; readonly limit: number },
  ): Promise<readonly Selectable<Schema["device_changes"]>[]>;
  countChanges(tenantId: string, deviceId: string): Promise<number>;
  /** @param newestChanges How many changes, newest first. */
  parts(tenantId: string, deviceId: string, newestChanges: number): Promise<DeviceParts>;
}

const MERGE_COLUMNS = [
  "id", "tenant_id", "site_id", "kept_id", "merged_id", "at", "by_type", "by_id", "by_name", "reasons", "undone_at",
] as const;

/** @param reads It sees committed rows only: after a write, read when its transaction has ended. */
export function createDevicesStore({ reads }: { readonly reads: Kysely<Schema> }): DevicesStore {
  const own = (tenantId: string, deviceId: string) => reads.selectFrom("device_changes").where("tenant_id", "=", tenantId)
    .where("device_id", "=", deviceId);
  const matches = createMatches(reads);
  const store: DevicesStore = {
    page: createReadPage(reads, matches),
    matches,
    countFacets: async (tenantId, filter) => countDeviceFacets(reads, matches, await matches.wanted(tenantId, filter)),
    idsAmong: (tenantId, ids) => idsAmong(reads, "devices", { tenantId, ids }),
    similar: createFindSimilar(reads),
    sitesExist: (tenantId, siteIds) => sitesExist(reads, tenantId, siteIds),

    async byId(tenantId, deviceId) {
      return (await reads.selectFrom("devices").selectAll().where("tenant_id", "=", tenantId).where("id", "=", deviceId)
        .executeTakeFirst()) ?? null;
    },

    mergedInto: (tenantId, deviceId) => mergedInto(reads, tenantId, deviceId),

    ports: (tenantId, deviceId) => reads.selectFrom("ports").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
      .orderBy("port").orderBy("protocol").execute(),

    changes(tenantId, deviceId, { from, limit }) {
      const query = own(tenantId, deviceId).selectAll().orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },

    async countChanges(tenantId, deviceId) {
      return (await own(tenantId, deviceId).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },

    async parts(tenantId, deviceId, newestChanges) {
      return {
        interfaces: await reads.selectFrom("interfaces").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("mac").execute(),
        addresses: await reads.selectFrom("addresses").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("ip_key").execute(),
        ports: await store.ports(tenantId, deviceId),
        software: await reads.selectFrom("device_software").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("source").orderBy("product").execute(),
        changes: await store.changes(tenantId, deviceId, { from: 0, limit: newestChanges }),
        evidence: await reads.selectFrom("evidence").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("field").orderBy("seen_at", "desc").execute(),
        merges: await reads.selectFrom("device_merges").select(MERGE_COLUMNS).where("tenant_id", "=", tenantId)
          .where("kept_id", "=", deviceId)
          .where("undone_at", "is", null).orderBy("id", "desc").execute(),
      };
    },
  };
  return store;
}
