import type { DEVICE_SORT_FIELDS } from "@lanthorn/contract";
import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Position } from "../../../gateway/cursor.ts";
import { type DeviceFilter, isInEveryIndex } from "./filters.ts";
import { countRows, type Found, type Matches, type Wanted } from "./matches.ts";

/** A device as stored: instants are ISO text, empty for never; `open_ports`, `tags`, `locked_fields` and `verdicts` are JSON text. */
export type DeviceRow = Selectable<Schema["devices"]>;
/** A field that a list can be sorted by, as the query names it. Its column is in `SORT_COLUMNS`. */
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
export const SORT_COLUMNS = { ip: "ip_key", hostname: "hostname_key", last_seen: "last_seen", vendor: "vendor" } as const satisfies Record<
  DeviceSortField, keyof DeviceRow
>;

/** What has no name or vendor comes after all that have one, in either direction. */
const EMPTY_LAST: ReadonlySet<DeviceSortField> = new Set(["hostname", "vendor"]);

/** Reading a row in the order of an index costs some times as much as reading on in an index. */
const WALK_FROM = 5;
/** Rows that are passed in the order of an index, and asked whether a text is in them, while one is looked up and sorted. */
const PASSED_WHILE_SORTED = 2;

/**
 * The two ways to a page, each the fastest where it is taken: walking the index of the order, where many match; reading and sorting all
 * that match, where few do or the page is a late one.
 */
export function createReadPage(reads: Kysely<Schema>, { wanted: wantedOf, matches, find, counted }: Matches): ReadPage {
  /** Whether as many rows of an index as a page needs are passed sooner than all that match are sorted. */
  const isWalked = async ({ tenantId, filter, search }: Wanted, { total, ids }: Found, field: DeviceSortField, reach: number) => {
    if (ids !== null) return false;
    if (search === null) return isInEveryIndex(filter) || total > WALK_FROM * reach;
    const all = await counted(tenantId, {});
    // Names that have a text may all come last in the order of names.
    const passed = field === "hostname" ? all - total + reach : (reach * all) / total;
    return total * PASSED_WHILE_SORTED > passed;
  };

  const read = async (wanted: Wanted, page: DevicePage, found: Found): Promise<readonly DeviceRow[]> => {
    const { field, descending, limit, from } = page;
    const column = SORT_COLUMNS[field];
    const isWalk = await isWalked(wanted, found, field, limit + (typeof from === "number" ? from : 0));
    const matched = found.ids ?? matches(wanted, isWalk ? column : undefined);
    // The empty ones are the last of a descending order by themselves, and of an ascending one a list of their own.
    if (descending || !EMPTY_LAST.has(field)) return readRows(reads, matched, { ...page, isWalk });
    const value = isWalk ? sql.ref<string>(column) : sql<string>`${sql.ref(column)} || ''`;
    const [filled, empty] = [matched.where(value, ">", ""), matched.where(value, "=", "")];
    if (typeof from !== "number" && from.value === "") return readRows(reads, empty, { ...page, isWalk });
    const rows = await readRows(reads, filled, { ...page, isWalk });
    if (rows.length === limit) return rows;
    const skipped = typeof from === "number" && rows.length === 0 ? Math.max(0, from - await countRows(filled)) : 0;
    return [...rows, ...await readRows(reads, empty, { ...page, isWalk, from: skipped, limit: limit - rows.length })];
  };

  return async (tenantId, filter, page) => {
    const wanted = await wantedOf(tenantId, filter);
    const found = await find(wanted);
    return { rows: found.total === 0 ? [] : await read(wanted, page, found), total: found.total };
  };
}

/** Rows are read only for the ids of the page, so that skipping to a late page walks the index alone. @param page.isWalk Along the index of the order. */
function readRows(
  reads: Kysely<Schema>, matched: SelectQueryBuilder<Schema, "devices", object>,
  { field, descending, limit, from, isWalk }: DevicePage & { readonly isWalk: boolean },
): Promise<readonly DeviceRow[]> {
  const column = SORT_COLUMNS[field];
  const direction = descending ? "desc" : "asc";
  // An expression in the order keeps the planner from the walk.
  let ids = matched.select("id").orderBy(isWalk ? column : sql<string>`${sql.ref(column)} || ''`, direction).orderBy("id", direction)
    .limit(limit);
  if (typeof from === "number") ids = ids.offset(from);
  else ids = ids.where((eb) => eb(eb.refTuple(column, "id"), descending ? "<" : ">", eb.tuple(from.value, from.id)));
  return reads.selectFrom("devices").selectAll().where("id", "in", ids).orderBy(column, direction).orderBy("id", direction).execute();
}
