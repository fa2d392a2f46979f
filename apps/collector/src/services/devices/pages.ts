import type { DEVICE_SORT_FIELDS } from "@lanthorn/contract";
import { type Kysely, type Selectable, sql } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Position } from "../../gateway/cursor.ts";
import { type DeviceFilter, isCounted, isInEveryIndex, matching } from "./filters.ts";

export type DeviceRow = Selectable<Schema["devices"]>;
export type DeviceSortField = (typeof DEVICE_SORT_FIELDS)[number];

interface DevicePage {
  readonly field: DeviceSortField;
  readonly descending: boolean;
  readonly limit: number;
  /** Rows to skip, or the row after which to go on. */
  readonly from: number | Position;
}

/** Reads one page of a list, and how long the list is. */
export type ReadPage = (
  tenantId: string, filter: DeviceFilter, page: DevicePage,
) => Promise<{ readonly rows: readonly DeviceRow[]; readonly total: number }>;

/** The column that a list is sorted by; each has an index that begins with the tenant and goes on with the id. */
export const SORT_COLUMNS = { ip: "ip_key", hostname: "hostname", last_seen: "last_seen", vendor: "vendor" } as const satisfies Record<
  DeviceSortField, keyof DeviceRow
>;

/** Ids that one statement takes without being slower for it. */
const FEW = 500;
/** Reading a row in the order of an index costs some times as much as reading on in an index. */
const WALK_FROM = 5;

interface Found {
  readonly total: number;
  /** Which they are, where they are few and had to be looked for. */
  readonly ids: readonly string[] | null;
}

/**
 * The three ways to a page, each the fastest where it is taken: walking the index of the order, where many match; reading
 * and sorting all that match, where few do or the page is a late one; and one look through the texts for a search.
 */
export function createReadPage(reads: Kysely<Schema>): ReadPage {
  const matches = (tenantId: string, filter: DeviceFilter) => reads.selectFrom("devices").where((eb) => matching(eb, tenantId, filter));
  const count = async (tenantId: string, filter: DeviceFilter) =>
    (await matches(tenantId, filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;

  const find = async (tenantId: string, filter: DeviceFilter): Promise<Found> => {
    if (isCounted(filter)) {
      let counts = reads.selectFrom("device_counts").select((eb) => eb.fn.sum<number | null>("devices").as("total"))
        .where("tenant_id", "=", tenantId);
      if (filter.siteId?.any.length) counts = counts.where("site_id", "in", filter.siteId.any);
      if (filter.siteId?.none.length) counts = counts.where("site_id", "not in", filter.siteId.none);
      if (filter.isOnline !== undefined) counts = counts.where("is_online", "=", filter.isOnline ? 1 : 0);
      return { total: (await counts.executeTakeFirstOrThrow()).total ?? 0, ids: null };
    }
    const first = await matches(tenantId, filter).select("id").limit(FEW + 1).execute();
    if (first.length <= FEW) return { total: first.length, ids: first.map(({ id }) => id) };
    return { total: await count(tenantId, filter), ids: null };
  };

  const read = (tenantId: string, filter: DeviceFilter, { field, descending, limit, from }: DevicePage, found: Found) => {
    const column = SORT_COLUMNS[field];
    const direction = descending ? "desc" : "asc";
    const reach = limit + (typeof from === "number" ? from : 0);
    const isWalk = found.ids === null && (isInEveryIndex(filter) || found.total > WALK_FROM * reach);
    let ids = reads.selectFrom("devices").select("id")
      .where((eb) => (found.ids ? eb("id", "in", found.ids) : matching(eb, tenantId, filter, isWalk ? { walk: column } : {})))
      // An expression in the order keeps the planner from the walk.
      .orderBy(isWalk ? column : sql<string>`${sql.ref(column)} || ''`, direction).orderBy("id", direction).limit(limit);
    if (typeof from === "number") ids = ids.offset(from);
    else ids = ids.where((eb) => eb(eb.refTuple(column, "id"), descending ? "<" : ">", eb.tuple(from.value, from.id)));
    // Rows are read only for the ids of the page, so that skipping to a late page walks the index alone.
    return reads.selectFrom("devices").selectAll().where("id", "in", ids).orderBy(column, direction).orderBy("id", direction).execute();
  };

  const search = async (tenantId: string, filter: DeviceFilter, { field, descending, limit, from }: DevicePage) => {
    const column = SORT_COLUMNS[field];
    const direction = descending ? "desc" : "asc";
    const hits = matches(tenantId, filter).select([column, "id", sql<number>`count(*) over ()`.as("total")]);
    let ids = reads.selectFrom(hits.as("hits")).select(["id", "total"]).orderBy(column, direction).orderBy("id", direction).limit(limit);
    if (typeof from === "number") ids = ids.offset(from);
    else ids = ids.where((eb) => eb(eb.refTuple(column, "id"), descending ? "<" : ">", eb.tuple(from.value, from.id)));
    const found = await reads.selectFrom(ids.as("found")).innerJoin("devices", "devices.id", "found.id").selectAll("devices")
      .select("found.total")
      .orderBy(`devices.${column}`, direction).orderBy("devices.id", direction).execute();
    const isPastTheEnd = found.length === 0 && from !== 0;
    return { rows: found, total: found[0]?.total ?? (isPastTheEnd ? await count(tenantId, filter) : 0) };
  };

  return async (tenantId, filter, page) => {
    if (filter.search) return search(tenantId, filter, page);
    const found = await find(tenantId, filter);
    return { rows: found.total === 0 ? [] : await read(tenantId, filter, page, found), total: found.total };
  };
}
