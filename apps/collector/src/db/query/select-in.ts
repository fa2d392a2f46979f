import { type Expression, sql, type SqlBool } from "kysely";

/** Sizes of `in (…)` lists: a list is filled up to the next one with its first value, so that few statements are prepared. */
const LIST_SIZES = [1, 8, 32, 64, 128, 256, 512] as const;

/** Calls `select` with the values in lists of fixed sizes, and joins what comes back. */
export async function selectIn<V, R>(values: readonly V[], select: (list: readonly V[]) => Promise<readonly R[]>): Promise<R[]> {
  const found: R[] = [];
  const longest = LIST_SIZES[LIST_SIZES.length - 1] as number;
  for (let at = 0; at < values.length; at += longest) {
    const part = values.slice(at, at + longest);
    const size = LIST_SIZES.find((candidate) => candidate >= part.length) ?? longest;
    const list = [...part, ...Array.from({ length: size - part.length }, () => part[0] as V)];
    for (const row of await select(list)) found.push(row);
  }
  return found;
}

/**
 * That columns, taken together, are one of these tuples: in words that both databases understand, and find an index by.
 * @param tuples Texts, in the columns' order; at least one.
 */
export function among(columns: readonly string[], tuples: readonly (readonly string[])[]): Expression<SqlBool> {
  const rows = tuples.map((tuple) => sql`(${sql.join(tuple)})`);
  return sql<SqlBool>`(${sql.join(columns.map((column) => sql.ref(column)))}) in (values ${sql.join(rows)})`;
}
