import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { Schema } from "../../../db/schema.ts";

const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(), createDriver: () => new DummyDriver(), createIntrospector: (of) => new SqliteIntrospector(of),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** What `openCve` needs for matching, where nothing is matched. */
export const NO_DATABASE = {
  db, reads: db, log: { append: () => Promise.reject(new Error("nothing is reported here")) }, published: () => {}, audit: () => Promise.resolve(), lease: null,
} as const;
