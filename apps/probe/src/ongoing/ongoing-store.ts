import { parseJson } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type * as z from "zod";

/** What was published and goes on, so that a restart neither forgets it nor publishes it twice. */
export interface OngoingStore<Data> {
  load(): readonly { readonly key: string; readonly data: Data }[];
  /** Call both in the transaction that appends the event. */
  save(key: string, data: Data): void;
  remove(key: string): void;
}

/**
 * @param table Its name, for this alone.
 * @param schema What does not fit is forgotten.
 * @throws SqliteError when its table cannot be made.
 */
export function createOngoingStore<Data>(db: Database, table: "dns_threats" | "intrusions", schema: z.ZodType<Data>): OngoingStore<Data> {
  db.exec(`CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT`);
  const select = db.prepare<[], { readonly key: string; readonly data: string }>(`SELECT key, data FROM ${table}`);
  const upsert = db.prepare<[string, string]>(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`);
  const remove = db.prepare<[string]>(`DELETE FROM ${table} WHERE key = ?`);
  return {
    load: () => select.all().flatMap(({ key, data }) => {
      const read = schema.safeParse(parseJson(data));
      return read.success ? [{ key, data: read.data }] : [];
    }),
    save: (key, data) => void upsert.run(key, JSON.stringify(data)),
    remove: (key) => void remove.run(key),
  };
}
