import { renameSync, rmSync } from "node:fs";
import Database from "better-sqlite3";

/** A finished file of the ring, as far as it is known. */
export interface IndexedFile {
  readonly id: string;
  /** Microseconds since the epoch, of the earliest and the latest frame. */
  readonly from: number;
  readonly to: number;
  readonly frames: number;
  readonly bytes: number;
}

/** One conversation of a file. Addresses are 4, 6 or 16 octets. */
export interface IndexedFlow {
  readonly kind: number;
  readonly low: Uint8Array;
  readonly high: Uint8Array;
  readonly lowPort: number;
  readonly highPort: number;
  readonly frames: number;
  readonly octets: number;
}

/** Which files are asked for. */
export interface IndexQuery {
  readonly from: number;
  readonly to: number;
  /** Octets of IP addresses that must be in one conversation; empty for any. */
  readonly addresses: readonly Uint8Array[];
}

/** Where what was seen when lies, for files of the ring. */
export interface IndexStore {
  files(): readonly IndexedFile[];
  /** @param isComplete Whether `flows` are all that the file has: who is not in them is not in the file. */
  add(file: IndexedFile, flows: readonly IndexedFlow[], isComplete: boolean): void;
  remove(id: string): void;
  /** @returns Ids of files that may have it, oldest first: those whose conversations are not all known too. */
  find(query: IndexQuery): readonly string[];
  close(): void;
}

/** Its own pages; the log beside it is folded in at the same size. */
const LOG_BYTES = 256 * 1024;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY, from_us INTEGER NOT NULL, to_us INTEGER NOT NULL, frames INTEGER NOT NULL, bytes INTEGER NOT NULL, is_complete INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS flows (
    file TEXT NOT NULL, kind INTEGER NOT NULL, low BLOB NOT NULL, high BLOB NOT NULL, low_port INTEGER NOT NULL, high_port INTEGER NOT NULL,
    frames INTEGER NOT NULL, octets INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS flows_by_file ON flows (file, low);
`;

/**
 * Opens the index, or makes one. One that is damaged is set aside as `<path>.corrupt`, and an empty one takes its place.
 * @param options.maxFlows Rows of conversations at most: those of the oldest files go first, which are then read in full.
 * @throws SqliteError where not even a new one can be made: the disk is full, or there is no right to.
 */
export function openIndexStore(path: string, options: { readonly maxFlows: number }): { readonly store: IndexStore; readonly wasCorrupt: boolean } {
  try {
    return { store: open(path, options.maxFlows), wasCorrupt: false };
  } catch (error) {
    if (!isDamage(error)) throw error;
    renameSync(path, `${path}.corrupt`);
    for (const rest of ["-wal", "-shm"]) rmSync(`${path}${rest}`, { force: true });
    return { store: open(path, options.maxFlows), wasCorrupt: true };
  }
}

/** Whether the file is at fault, not the disk. */
export function isDamage(error: unknown): boolean {
  const code = String((error as { readonly code?: unknown }).code);
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_ERROR" || code === "SQLITE_MISMATCH";
}

function open(path: string, maxFlows: number): IndexStore {
  const db = new Database(path, { timeout: 1000 });
  try {
    db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    // A power cut may take the last files from the index: they are read anew at the start.
    db.pragma("synchronous = NORMAL");
    db.pragma(`journal_size_limit = ${LOG_BYTES}`);
    db.pragma(`wal_autocheckpoint = ${LOG_BYTES / 4096}`);
    db.pragma("cache_size = -1024");
    if (db.pragma("quick_check", { simple: true }) !== "ok") throw Object.assign(new Error(`${path} is damaged`), { code: "SQLITE_CORRUPT" });
    db.exec(SCHEMA);
    return createStore(db, maxFlows);
  } catch (error) {
    db.close();
    throw error;
  }
}

function createStore(db: Database.Database, maxFlows: number): IndexStore {
  const insertFile = db.prepare<[string, number, number, number, number, number]>("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)");
  const insertFlow = db.prepare<[string, number, Uint8Array, Uint8Array, number, number, number, number]>("INSERT INTO flows VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const deleteFile = db.prepare<[string]>("DELETE FROM files WHERE id = ?");
  const deleteFlows = db.prepare<[string]>("DELETE FROM flows WHERE file = ?");
  const forgetFlows = db.prepare<[string]>("UPDATE files SET is_complete = 0 WHERE id = ?");
  const countFlows = db.prepare<[], number>("SELECT count(*) FROM flows").pluck();
  const oldest = db.prepare<[], string>("SELECT id FROM files WHERE is_complete = 1 AND EXISTS (SELECT 1 FROM flows WHERE file = id) ORDER BY id LIMIT 1").pluck();
  const select = db.prepare<[], IndexedFile>("SELECT id, from_us AS \"from\", to_us AS \"to\", frames, bytes FROM files ORDER BY id");
  const has = "SELECT 1 FROM flows WHERE file = id";
  const either = "(low = ? OR high = ?)";
  const within = "SELECT id FROM files WHERE to_us >= ? AND from_us <= ?";
  const finders = [
    db.prepare<(number | Uint8Array)[], string>(`${within} ORDER BY from_us, id`).pluck(),
    db.prepare<(number | Uint8Array)[], string>(`${within} AND (is_complete = 0 OR EXISTS (${has} AND ${either})) ORDER BY from_us, id`).pluck(),
    db.prepare<(number | Uint8Array)[], string>(`${within} AND (is_complete = 0 OR EXISTS (${has} AND ${either} AND ${either})) ORDER BY from_us, id`).pluck(),
  ] as const;
  let flowsHeld = countFlows.get() ?? 0;

  /** Rows of the oldest files go until there is room for more. */
  const trim = (more: number) => {
    while (flowsHeld + more > maxFlows) {
      const id = oldest.get();
      if (id === undefined) return;
      flowsHeld -= deleteFlows.run(id).changes;
      forgetFlows.run(id);
    }
  };
  const add = db.transaction((file: IndexedFile, flows: readonly IndexedFlow[], isComplete: boolean) => {
    flowsHeld -= deleteFlows.run(file.id).changes;
    const kept = flows.slice(0, maxFlows);
    trim(kept.length);
    insertFile.run(file.id, file.from, file.to, file.frames, file.bytes, isComplete && kept.length === flows.length ? 1 : 0);
    for (const flow of kept) {
      insertFlow.run(file.id, flow.kind, flow.low, flow.high, flow.lowPort, flow.highPort, flow.frames, flow.octets);
    }
    flowsHeld += kept.length;
  });
  const remove = db.transaction((id: string) => {
    flowsHeld -= deleteFlows.run(id).changes;
    deleteFile.run(id);
  });
  return {
    files: () => select.all(),
    add,
    remove(id) {
      remove(id);
      db.pragma("incremental_vacuum(64)");
    },
    find({ from, to, addresses }) {
      const [first, second] = addresses;
      if (first === undefined) return finders[0].all(from, to);
      return second === undefined ? finders[1].all(from, to, first, first) : finders[2].all(from, to, first, first, second, second);
    },
    close: () => void db.close(),
  };
}
