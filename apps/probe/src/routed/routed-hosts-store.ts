import { parseIp } from "@lanthorn/packets";
import type { Database } from "better-sqlite3";
import { readNames } from "../hosts/names.ts";
import { createRoutedHost, type RoutedHost, routedStateOf } from "./routed-host.ts";

/** Hosts behind routers as they were last published. */
export interface RoutedHostsStore {
  /** Every readable host; their silence counts from `silentFrom` (monotonic milliseconds). */
  load(silentFrom: number): RoutedHost[];
  /** Call it in the transaction that appends its event. */
  save(host: RoutedHost): void;
  remove(address: string): void;
}

/** Times are milliseconds since the epoch. `names` as in the table of hosts. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS routed_hosts (
    address TEXT PRIMARY KEY, presence TEXT NOT NULL CHECK (presence IN ('online', 'offline')),
    found_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, checks_asked REAL NOT NULL, checks_answered REAL NOT NULL,
    names TEXT NOT NULL DEFAULT '{}'
  ) STRICT, WITHOUT ROWID;
`;
/** Tables of earlier versions lack it. */
const HAS_NAMES = "SELECT 1 FROM pragma_table_info('routed_hosts') WHERE name = 'names'";
const ADD_NAMES = "ALTER TABLE routed_hosts ADD COLUMN names TEXT NOT NULL DEFAULT '{}'";

interface Row {
  readonly address: string;
  readonly presence: "online" | "offline";
  readonly found_at: number;
  readonly last_seen_at: number;
  readonly checks_asked: number;
  readonly checks_answered: number;
  readonly names: string;
}

/** Makes its table in the probe's database if it is not there. */
export function createRoutedHostsStore(db: Database): RoutedHostsStore {
  db.exec(SCHEMA);
  if (!db.prepare(HAS_NAMES).get()) db.exec(ADD_NAMES);
  const select = db.prepare<[], Row>("SELECT * FROM routed_hosts");
  const upsert = db.prepare(`
    INSERT INTO routed_hosts VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (address) DO UPDATE SET presence = excluded.presence, last_seen_at = excluded.last_seen_at,
      checks_asked = excluded.checks_asked, checks_answered = excluded.checks_answered, names = excluded.names`);
  const remove = db.prepare("DELETE FROM routed_hosts WHERE address = ?");
  return {
    load: (silentFrom) => select.all().flatMap((row) => {
      const bytes = parseIp(row.address);
      if (!bytes) return [];
      const rate = { asked: row.checks_asked, answered: row.checks_answered };
      const host = createRoutedHost({ bytes, foundAt: row.found_at, silentFrom, rate });
      const saved = { presence: row.presence, names: readNames(row.names) };
      return [Object.assign(host, saved, { published: routedStateOf(saved), lastSeenAt: row.last_seen_at })];
    }),
    save({ address, presence, foundAt, lastSeenAt, watch, names }) {
      const times = [Math.round(foundAt), Math.round(lastSeenAt)];
      upsert.run(address, presence, ...times, watch.asked, watch.answered, JSON.stringify(names));
    },
    remove(address) {
      remove.run(address);
    },
  };
}
