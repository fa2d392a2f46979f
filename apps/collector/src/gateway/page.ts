import type { List } from "@lanthorn/contract";

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
