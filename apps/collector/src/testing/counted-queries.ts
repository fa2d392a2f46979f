import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";

/** What was read by a handle. */
export interface CountedQueries {
  readonly handle: Kysely<Schema>;
  /** So far. */
  count(): { readonly queries: number; readonly rows: number };
}

/** Counts the queries of a handle, and the rows that come back. */
export function countQueries(reads: Kysely<Schema>): CountedQueries {
  let queries = 0;
  let rows = 0;
  const handle = reads.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult({ result }) {
      queries += 1;
      rows += result.rows.length;
      return Promise.resolve(result);
    },
  });
  return { handle, count: () => ({ queries, rows }) };
}
