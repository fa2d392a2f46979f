import { parseJson } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { IncidentData } from "./incident.ts";

/** Incidents that were published and go on, so that a restart neither forgets one nor publishes it twice. */
export interface IncidentsStore {
  load(): readonly { readonly key: string; readonly data: IncidentData }[];
  /** Call both in the transaction that appends the event. */
  save(key: string, data: IncidentData): void;
  remove(key: string): void;
}

const SCHEMA = "CREATE TABLE IF NOT EXISTS guard_incidents (key TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT";

/** @throws SqliteError when its table cannot be made. */
export function createIncidentsStore(db: Database): IncidentsStore {
  db.exec(SCHEMA);
  const select = db.prepare<[], { readonly key: string; readonly data: string }>("SELECT key, data FROM guard_incidents");
  const upsert = db.prepare<[string, string]>("INSERT OR REPLACE INTO guard_incidents VALUES (?, ?)");
  const remove = db.prepare<[string]>("DELETE FROM guard_incidents WHERE key = ?");
  return {
    load: () => select.all().flatMap(({ key, data }) => {
      const read = IncidentData.safeParse(parseJson(data));
      return read.success ? [{ key, data: read.data }] : [];
    }),
    save: (key, data) => void upsert.run(key, JSON.stringify(data)),
    remove: (key) => void remove.run(key),
  };
}
