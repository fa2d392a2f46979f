import { parseMac } from "@lanthorn/packets";
import type { Database } from "better-sqlite3";
import { readNames } from "./names.ts";
import { createBinding, createHost, type Host, macKey, MAX_BINDINGS, type EvidenceSource, publishedStateOf } from "./host.ts";
import { createWatch } from "./presence.ts";

/** Hosts as they were last published. */
export interface HostsStore {
  /** Every readable host, the one found first before the others; their silence counts from `silentFrom` (monotonic milliseconds). */
  load(silentFrom: number): Host[];
  /** Writes a host with all its addresses. Call it in the transaction that appends its event. */
  save(host: Host): void;
  /** Writes when it was last seen and how it answers, for a host that was saved. */
  touch(host: Host): void;
  remove(mac: string): void;
}

/** Times are milliseconds since the epoch. `names` is JSON: source → name and when it was heard. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS hosts (
    mac TEXT PRIMARY KEY, presence TEXT NOT NULL CHECK (presence IN ('online', 'offline')), vendor TEXT NOT NULL, names TEXT NOT NULL,
    found_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, checks_asked REAL NOT NULL, checks_answered REAL NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS host_addresses (
    mac TEXT NOT NULL REFERENCES hosts (mac) ON DELETE CASCADE, address TEXT NOT NULL, source TEXT NOT NULL, last_seen_at INTEGER NOT NULL,
    PRIMARY KEY (mac, address)
  ) STRICT, WITHOUT ROWID;
`;

interface HostRow {
  readonly mac: string;
  readonly presence: "online" | "offline";
  readonly vendor: string;
  readonly names: string;
  readonly found_at: number;
  readonly last_seen_at: number;
  readonly checks_asked: number;
  readonly checks_answered: number;
}

interface AddressRow {
  readonly mac: string;
  readonly address: string;
  readonly source: string;
  readonly last_seen_at: number;
}

/** Makes its tables in the probe's database if they are not there. */
export function createHostsStore(db: Database): HostsStore {
  db.exec(SCHEMA);
  const selectHosts = db.prepare<[], HostRow>("SELECT * FROM hosts ORDER BY found_at");
  const selectAddresses = db.prepare<[], AddressRow>("SELECT * FROM host_addresses");
  const upsertHost = db.prepare(`
    INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (mac) DO UPDATE SET presence = excluded.presence, vendor = excluded.vendor, names = excluded.names,
      last_seen_at = excluded.last_seen_at, checks_asked = excluded.checks_asked, checks_answered = excluded.checks_answered`);
  const touchHost = db.prepare("UPDATE hosts SET last_seen_at = ?, checks_asked = ?, checks_answered = ? WHERE mac = ?");
  const deleteHost = db.prepare("DELETE FROM hosts WHERE mac = ?");
  const deleteAddresses = db.prepare("DELETE FROM host_addresses WHERE mac = ?");
  const insertAddress = db.prepare("INSERT INTO host_addresses VALUES (?, ?, ?, ?)");

  return {
    load(silentFrom) {
      const hosts = new Map<string, Host>();
      for (const row of selectHosts.all()) {
        const mac = parseMac(row.mac);
        if (mac) hosts.set(row.mac, toHost(row, macKey(mac), silentFrom));
      }
      for (const row of selectAddresses.all()) {
        const host = hosts.get(row.mac);
        const binding = createBinding(row.address, row.source as EvidenceSource, silentFrom, row.last_seen_at);
        if (host && binding && host.bindings.length < MAX_BINDINGS) host.bindings.push(binding);
      }
      // One without an address cannot be published; it never was either.
      const readable = [...hosts.values()].filter(({ bindings }) => bindings.length > 0);
      for (const host of readable) host.published = publishedStateOf(host);
      return readable;
    },
    save(host) {
      const { asked, answered } = host.watch;
      upsertHost.run(
        host.mac,
        host.presence,
        host.vendor,
        JSON.stringify(host.names),
        Math.round(host.foundAt),
        Math.round(host.lastSeenAt),
        asked,
        answered,
      );
      deleteAddresses.run(host.mac);
      for (const { address, source, lastSeenAt } of host.bindings) insertAddress.run(host.mac, address, source, Math.round(lastSeenAt));
    },
    touch(host) {
      touchHost.run(Math.round(host.lastSeenAt), host.watch.asked, host.watch.answered, host.mac);
    },
    remove(mac) {
      deleteAddresses.run(mac);
      deleteHost.run(mac);
    },
  };
}

function toHost(row: HostRow, key: number, silentFrom: number): Host {
  const host = createHost({ key, vendor: row.vendor, foundAt: row.found_at, silentFrom });
  Object.assign(host.watch, createWatch(silentFrom, { asked: row.checks_asked, answered: row.checks_answered }));
  host.presence = row.presence;
  host.lastSeenAt = row.last_seen_at;
  host.names = readNames(row.names);
  return host;
}
