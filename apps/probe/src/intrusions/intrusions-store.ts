import { parseJson } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { IntrusionData } from "./intrusion.ts";

/** Intrusions that were published and go on, so that a restart neither forgets one nor publishes it twice. */
export interface IntrusionsStore {
  load(): readonly { readonly key: string; readonly data: IntrusionData }[];
  /** Call both in the transaction that appends the event. */
  save(key: string, data: IntrusionData): void;
  remove(key: string): void;
}

/** @throws SqliteError when its table cannot be made. */
export function createIntrusionsStore(db: Database): IntrusionsStore {
  db.exec("CREATE TABLE IF NOT EXISTS intrusions (key TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT");
  const select = db.prepare<[], { readonly key: string; readonly data: string }>("SELECT key, data FROM intrusions");
  const upsert = db.prepare<[string, string]>("INSERT OR REPLACE INTO intrusions VALUES (?, ?)");
  const remove = db.prepare<[string]>("DELETE FROM intrusions WHERE key = ?");
  return {
    load: () => select.all().flatMap(({ key, data }) => {
      const read = IntrusionData.safeParse(parseJson(data));
      return read.success ? [{ key, data: read.data }] : [];
    }),
    save: (key, data) => void upsert.run(key, JSON.stringify(data)),
    remove: (key) => void remove.run(key),
  };
}
