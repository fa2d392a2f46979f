import type { Database } from "better-sqlite3";

/**
 * Switches that were reported to the collector, over a restart: so that it learns when one is no longer polled, and of a wrong credential
 * once.
 */
export interface SwitchesStore {
  /** The last report of each address: why it cannot be read; empty for one that answers. */
  all(): ReadonlyMap<string, string>;
  save(ip: string, problem: string): void;
  remove(ip: string): void;
}

const SCHEMA = "CREATE TABLE IF NOT EXISTS switches_told (ip TEXT PRIMARY KEY, problem TEXT NOT NULL) STRICT";

/** @throws SqliteError when its table cannot be made. */
export function createSwitchesStore(db: Database): SwitchesStore {
  db.exec(SCHEMA);
  const select = db.prepare<[], { readonly ip: string; readonly problem: string }>("SELECT ip, problem FROM switches_told");
  const upsert = db.prepare<[string, string]>("INSERT OR REPLACE INTO switches_told VALUES (?, ?)");
  const forget = db.prepare<[string]>("DELETE FROM switches_told WHERE ip = ?");
  return {
    all: () => new Map(select.all().map(({ ip, problem }) => [ip, problem])),
    save: (ip, problem) => void upsert.run(ip, problem),
    remove: (ip) => void forget.run(ip),
  };
}
