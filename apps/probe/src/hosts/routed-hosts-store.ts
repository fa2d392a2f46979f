import { parseIp } from "@lanthorn/packets";
import type { Database } from "better-sqlite3";
import { createRoutedHost, type RoutedHost } from "./routed-host.ts";

/** Hosts behind routers that were told to the collector, as they were told. */
export interface RoutedHostsStore {
  /** Every readable host; their silence counts from `silentFrom` (monotonic milliseconds). */
  load(silentFrom: number): RoutedHost[];
  /** Call it in the transaction that appends its event. */
  save(host: RoutedHost): void;
  remove(address: string): void;
  /** Runs `work` as one transaction of the database. */
  transaction(work: () => void): void;
}

/** Times are milliseconds since the epoch. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS routed_hosts (
    address TEXT PRIMARY KEY, presence TEXT NOT NULL CHECK (presence IN ('online', 'offline')),
    found_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, checks_asked REAL NOT NULL, checks_answered REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

interface Row {
  readonly address: string;
  readonly presence: "online" | "offline";
  readonly found_at: number;
  readonly last_seen_at: number;
  readonly checks_asked: number;
  readonly checks_answered: number;
}

/** Makes its table in the probe's database if it is not there. */
export function createRoutedHostsStore(db: Database): RoutedHostsStore {
  db.exec(SCHEMA);
  const select = db.prepare<[], Row>("SELECT * FROM routed_hosts");
  const upsert = db.prepare(`
    INSERT INTO routed_hosts VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (address) DO UPDATE SET presence = excluded.presence, last_seen_at = excluded.last_seen_at,
      checks_asked = excluded.checks_asked, checks_answered = excluded.checks_answered`);
  const remove = db.prepare("DELETE FROM routed_hosts WHERE address = ?");
  return {
    load: (silentFrom) => select.all().flatMap((row) => {
      const bytes = parseIp(row.address);
      if (!bytes) return [];
      const rate = { asked: row.checks_asked, answered: row.checks_answered };
      const host = createRoutedHost({ bytes, foundWallAt: row.found_at, silentFrom, rate });
      return [Object.assign(host, { presence: row.presence, told: row.presence, seenWallAt: row.last_seen_at })];
    }),
    save({ address, presence, foundWallAt, seenWallAt, watch }) {
      upsert.run(address, presence, Math.round(foundWallAt), Math.round(seenWallAt), watch.asked, watch.answered);
    },
    remove(address) {
      remove.run(address);
    },
    transaction(work) {
      db.transaction(work)();
    },
  };
}
