import type { List } from "@lanthorn/contract";
import { formatCursor, parseCursor, type Position } from "./cursor.ts";
import { badRequest } from "./route.ts";

/** A page as a query asks for it; `cursor` is the id of the last row that was shown. */
export interface IdPage {
  readonly page: number;
  readonly per_page: number;
  readonly cursor?: string | undefined;
}

/** Which rows a store is to read: those after `from` rows, or after the row of that id. */
export interface Rows {
  readonly from: number | string;
  readonly limit: number;
}

/** One page of a list that is ordered by id, of which one more row than asked for tells whether there is a next page. */
export async function pageById<R extends { readonly id: string }, T>(
  { page, per_page: perPage, cursor }: IdPage,
  list: { readonly read: (rows: Rows) => Promise<readonly R[]>; readonly count: () => Promise<number>; readonly show: (row: R) => T },
): Promise<List<T>> {
  const rows = await list.read({ from: cursor ?? (page - 1) * perPage, limit: perPage + 1 });
  const shown = rows.slice(0, perPage);
  return {
    data: shown.map(list.show),
    meta: { page, per_page: perPage, total: await list.count(), next_cursor: rows.length > perPage ? (shown.at(-1)?.id ?? null) : null },
  };
}

/** One page of a list that is ordered by a field of choice, which goes on behind a row's value of it. */
export async function pageBySort<R, T>(
  { page, per_page: perPage, cursor, sort }: IdPage & { readonly sort: string },
  list: {
    readonly read: (page: {
      readonly from: number | Position; readonly limit: number;
    }) => Promise<{ readonly rows: readonly R[]; readonly total: number }>;
    readonly positionOf: (row: R) => Position;
    readonly show: (row: R) => T;
  },
): Promise<List<T>> {
  const from = cursor === undefined ? (page - 1) * perPage : parseCursor(sort, cursor);
  const { rows, total } = await list.read({ from, limit: perPage + 1 });
  const shown = rows.slice(0, perPage);
  const last = rows.length > perPage ? shown.at(-1) : undefined;
  const next = last === undefined ? null : formatCursor(sort, list.positionOf(last));
  return { data: shown.map(list.show), meta: { page, per_page: perPage, total, next_cursor: next } };
}

/**
 * One page of a list that was read whole, since it cannot be long.
 * @param idOf What an item's cursor is.
 * @throws ApiError BAD_REQUEST for a cursor that is the id of no item.
 */
export function pageOfAll<T>(all: readonly T[], { page, per_page: perPage, cursor }: IdPage, idOf: (item: T) => string): List<T> {
  const at = cursor === undefined ? (page - 1) * perPage : all.findIndex((item) => idOf(item) === cursor) + 1;
  if (cursor !== undefined && at === 0) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
  const data = all.slice(at, at + perPage);
  const last = at + perPage < all.length ? data.at(-1) : undefined;
  return { data, meta: { page, per_page: perPage, total: all.length, next_cursor: last === undefined ? null : idOf(last) } };
}

/** A list as a route answers it: what checks answers against their schemas wants an array that may be changed. */
export function toAnswer<T>({ data, meta }: List<T>): { readonly data: T[]; readonly meta: List<T>["meta"] } {
  return { data: [...data], meta };
}
