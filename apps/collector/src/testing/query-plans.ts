import { CompiledQuery, createQueryId, type Kysely, type RootOperationNode } from "kysely";
import type { Schema } from "../db/schema.ts";

/** A handle, and how SQLite finds what was last asked of it. For tests. */
export function watchPlans(reads: Kysely<Schema>): { readonly reads: Kysely<Schema>; readonly last: () => Promise<string> } {
  const asked: RootOperationNode[] = [];
  return {
    reads: reads.withPlugin({
      transformQuery({ node }) {
        asked.push(node);
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    }),
    async last() {
      const { sql, parameters } = reads.getExecutor().compileQuery(asked.at(-1) as RootOperationNode, createQueryId());
      const { rows } = await reads.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]));
      return rows.map(({ detail }) => detail).join("; ");
    },
  };
}
