import { EVENTS, type NeighborDiscovered } from "@lanthorn/contract/uplink";
import { parseJson } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";

/**
 * Neighbors as they were last reported to the collector, so that a restart reports none of them again and loses none that went
 * meanwhile.
 */
export interface NeighborsStore {
  /** Those that can be read, with when they were last heard of (milliseconds since the epoch). */
  load(): readonly { readonly data: NeighborDiscovered; readonly seenAt: number }[];
  /** Call both in the transaction that appends the event. */
  save(key: string, data: NeighborDiscovered, seenAt: number): void;
  remove(key: string): void;
}

const SCHEMA = "CREATE TABLE IF NOT EXISTS neighbors (key TEXT PRIMARY KEY, data TEXT NOT NULL, seen_at INTEGER NOT NULL) STRICT";

/** @throws SqliteError when its table cannot be made. */
export function createNeighborsStore(db: Database): NeighborsStore {
  db.exec(SCHEMA);
  const select = db.prepare<[], { readonly data: string; readonly seen_at: number }>("SELECT data, seen_at FROM neighbors");
  const upsert = db.prepare<[string, string, number]>("INSERT OR REPLACE INTO neighbors VALUES (?, ?, ?)");
  const remove = db.prepare<[string]>("DELETE FROM neighbors WHERE key = ?");
  return {
    load: () => select.all().flatMap(({ data, seen_at: seenAt }) => {
      const read = EVENTS.neighbor_discovered.data.safeParse(parseJson(data));
      return read.success ? [{ data: read.data, seenAt }] : [];
    }),
    save: (key, data, seenAt) => void upsert.run(key, JSON.stringify(data), Math.round(seenAt)),
    remove: (key) => void remove.run(key),
  };
}
