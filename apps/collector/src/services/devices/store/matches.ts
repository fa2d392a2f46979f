import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import { type IdRange, idRanges, ROWS_AT_ONCE } from "../../../db/query/id-ranges.ts";
import { isPostgres } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import { type DeviceFilter, isCounted, isSearchAlone, matching } from "./filters.ts";
import { createSearch, type Search, type SearchLimits } from "./search.ts";

/** Ids that one statement takes without being slower for it. */
const FEW = 500;
/** Ids that are looked up and sorted about as fast as a page is found in the order of an index. Measured at 100,000 devices. */
const LIST_TO = 2500;
/** A list: what is asked for, and the search where there is one. */
export interface Wanted {
  readonly tenantId: string;
  readonly filter: DeviceFilter;
  readonly search: Search | null;
}

/** How many match. */
export interface Found {
  readonly total: number;
  /** Those, by their ids, where they are few and had to be looked for. */
  readonly ids: MatchedDevices | null;
}

/** Devices, before it is said what of them is read. */
export type MatchedDevices = SelectQueryBuilder<Schema, "devices", object>;

/** The devices that a filter leaves. */
export interface Matches {
  wanted(tenantId: string, filter: DeviceFilter): Promise<Wanted>;
  /** @param walk The column whose index is walked, where one is. */
  matches(wanted: Wanted, walk?: string): MatchedDevices;
  /** The same, by the way on which all of them are read the fastest. */
  all(wanted: Wanted): MatchedDevices;
  /** All devices of a tenant, some sites' or those that are online, as triggers have counted them. */
  counted(tenantId: string, filter: Pick<DeviceFilter, "siteId" | "isOnline">): Promise<number>;
  find(wanted: Wanted): Promise<Found>;
  /** Those among some ids. */
  among(wanted: Wanted, range: IdRange): MatchedDevices;
  /** All of them, in pieces that follow each other in the order of ids, with a turn of the event loop between two: where they can be few only, in one. */
  inTurns(wanted: Wanted): AsyncIterable<MatchedDevices>;
}

/** @param limits How much a search may find before it is another kind of search, or its list is not kept. */
export function createMatches(reads: Kysely<Schema>, limits: SearchLimits = {}): Matches {
  const searchFor = createSearch(reads, limits);

  /** @param walk The column whose index is walked, where one is. */
  const matches = ({ tenantId, filter, search }: Wanted, walk?: string) => {
    const isById = search !== null && walk === undefined;
    const all = reads.selectFrom("devices").where((eb) => matching(eb, tenantId, filter, { ...(walk !== undefined && { walk }), isById }));
    return search === null ? all : all.where((eb) => (isById ? search.among(eb) : search.one(eb)));
  };

  /** All devices of a tenant, some sites' or those that are online, as triggers have counted them. */
  const counted = async (tenantId: string, filter: Pick<DeviceFilter, "siteId" | "isOnline">) => {
    let counts = reads.selectFrom("device_counts").select((eb) => eb.fn.sum<number | null>("devices").as("total"))
      .where("tenant_id", "=", tenantId);
    if (filter.siteId?.any.length) counts = counts.where("site_id", "in", filter.siteId.any);
    if (filter.siteId?.none.length) counts = counts.where("site_id", "not in", filter.siteId.none);
    if (filter.isOnline !== undefined) counts = counts.where("is_online", "=", filter.isOnline ? 1 : 0);
    return (await counts.executeTakeFirstOrThrow()).total ?? 0;
  };

  // Where a search finds very many, each device is asked in its turn, after what the index of all filters says of it.
  const all = (wanted: Wanted) => (wanted.search && !wanted.search.isNarrow ? matches(wanted, "") : matches(wanted));

  const count = async (wanted: Wanted) => {
    const { filter, search } = wanted;
    if (search && isSearchAlone(filter)) return search.count();
    return countRows(all(wanted));
  };

  /** Asking each device for a text is what takes long: which have it is kept, where they are not many. PostgreSQL finds them by its own index. */
  const findSearched = async (wanted: Wanted): Promise<Found> => {
    if (isSearchAlone(wanted.filter) || isPostgres(reads)) return { total: await count(wanted), ids: null };
    const { rows: [found] } = await sql<{ total: number; ids: string | null }>`with matched as materialized ${all(wanted).select("id")}
      select total, case when total <= ${limits.listTo ?? LIST_TO} then (select json_group_array(id) from matched) end as ids
      from (select count(*) as total from matched) as counted`.execute(reads);
    const { total = 0, ids = null } = found ?? {};
    return { total, ids: ids === null ? null : reads.selectFrom("devices").where("id", "in", sql<string>`(select value from json_each(${ids}))`) };
  };

  const find = async (wanted: Wanted): Promise<Found> => {
    const { tenantId, filter, search } = wanted;
    if (isCounted(filter)) return { total: await counted(tenantId, filter), ids: null };
    if (search && !search.isNarrow) return findSearched(wanted);
    const first = await matches(wanted).select("id").limit(FEW + 1).execute();
    if (first.length <= FEW) return { total: first.length, ids: reads.selectFrom("devices").where("id", "in", first.map(({ id }) => id)) };
    return { total: await count(wanted), ids: null };
  };

  const among = ({ tenantId, filter, search }: Wanted, range: IdRange) => {
    const matched = reads.selectFrom("devices").where((eb) => matching(eb, tenantId, filter, { isById: true, range }));
    return search ? matched.where((eb) => (search.isNarrow ? search.among(eb) : search.one(eb))) : matched;
  };

  return {
    wanted: async (tenantId, filter) => ({ tenantId, filter, search: filter.search ? await searchFor(tenantId, filter.search) : null }),
    matches, all, counted, find, among,
    async *inTurns(wanted) {
      const areFew = wanted.search?.isNarrow || await counted(wanted.tenantId, {}) <= ROWS_AT_ONCE;
      if (areFew) yield all(wanted);
      else for await (const range of idRanges(reads, "devices")) yield among(wanted, range);
    },
  };
}

/** How many devices those are. */
export async function countRows(matched: MatchedDevices): Promise<number> {
  return (await matched.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
}
