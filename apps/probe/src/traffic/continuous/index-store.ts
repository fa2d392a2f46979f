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

/** What is kept of a file to find things in it. */
export interface IndexedContents {
  /** Keys of all its conversations, see `encodeFlows`; null where they are not all known, so that anybody's may be in it. */
  readonly flows: Uint8Array | null;
  /** Where which time lies, as `FilePlaces` encodes it. */
  readonly places: Uint8Array;
}

/** What is in files of the ring. Each call is one statement or a few on one file's rows. */
export interface IndexStore {
  files(): readonly IndexedFile[];
  add(file: IndexedFile, contents: IndexedContents): void;
  /** Its pages stay in the file until they are used again, or given back. */
  remove(id: string): void;
  /** Gives some unused pages back to the disk. */
  vacuum(): void;
  /** @returns Null where they are not all known, or the file is not. */
  flowsOf(id: string): Uint8Array | null;
  /** @returns Null for a file that is not known. */
  placesOf(id: string): Uint8Array | null;
  close(): void;
}

/** Its own pages; the log beside it is folded in at the same size. */
const LOG_BYTES = 256 * 1024;
const PAGE_BYTES = 4096;
/** Pages that are given back to the disk in one turn: a millisecond. */
const VACUUM_PAGES = 64;
/** Another one is not read: it is made anew. */
const VERSION = 2;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY, from_us INTEGER NOT NULL, to_us INTEGER NOT NULL, frames INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS contents (file TEXT PRIMARY KEY, flow_bytes INTEGER NOT NULL, flows BLOB, places BLOB NOT NULL) STRICT;
`;

/**
 * Opens the index, or makes one. One that is damaged is set aside as `<path>.corrupt`, and an empty one takes its place.
 * @param options.maxFlowBytes Of the keys of conversations: those of the oldest files go first, which are then read in full.
 * @throws SqliteError where not even a new one can be made: the disk is full, or there is no right to.
 */
export function openIndexStore(path: string, options: { readonly maxFlowBytes: number }): { readonly store: IndexStore; readonly wasCorrupt: boolean } {
  try {
    return { store: open(path, options.maxFlowBytes), wasCorrupt: false };
  } catch (error) {
    if (!isDamage(error)) throw error;
    setAside(path);
    return { store: open(path, options.maxFlowBytes), wasCorrupt: true };
  }
}

/** Renames a damaged index, which is closed, to `<path>.corrupt`. */
export function setAside(path: string): void {
  renameSync(path, `${path}.corrupt`);
  for (const rest of ["-wal", "-shm"]) rmSync(`${path}${rest}`, { force: true });
}

/** Whether the file is at fault, not the disk. */
export function isDamage(error: unknown): boolean {
  const code = String((error as { readonly code?: unknown }).code);
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_ERROR" || code === "SQLITE_MISMATCH";
}

function open(path: string, maxFlowBytes: number): IndexStore {
  const db = new Database(path, { timeout: 0 });
  try {
    db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    // Nothing waits for the disk: a power cut may damage the index, which is made anew from the files then.
    db.pragma("synchronous = OFF");
    db.pragma(`journal_size_limit = ${LOG_BYTES}`);
    db.pragma(`wal_autocheckpoint = ${LOG_BYTES / PAGE_BYTES}`);
    db.pragma("cache_size = -256");
    if (db.pragma("user_version", { simple: true }) !== VERSION) {
      db.exec("DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS flows; DROP TABLE IF EXISTS contents;");
      db.pragma(`user_version = ${VERSION}`);
    }
    db.exec(SCHEMA);
    return createStore(db, maxFlowBytes);
  } catch (error) {
    db.close();
    throw error;
  }
}

function createStore(db: Database.Database, maxFlowBytes: number): IndexStore {
  const insertFile = db.prepare("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)");
  const insertContents = db.prepare("INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?)");
  const deleteFile = db.prepare<[string]>("DELETE FROM files WHERE id = ?");
  const deleteContents = db.prepare<[string], number>("DELETE FROM contents WHERE file = ? RETURNING flow_bytes").pluck();
  const forgetFlows = db.prepare<[string], number>("UPDATE contents SET flows = NULL, flow_bytes = 0 WHERE file = ?");
  const flowBytesOf = db.prepare<[string], number>("SELECT flow_bytes FROM contents WHERE file = ?").pluck();
  const sumFlowBytes = db.prepare<[], number | null>("SELECT sum(flow_bytes) FROM contents").pluck();
  const oldest = db.prepare<[], string>("SELECT id FROM files JOIN contents ON file = id WHERE flow_bytes > 0 ORDER BY id LIMIT 1").pluck();
  const select = db.prepare<[], IndexedFile>("SELECT id, from_us AS \"from\", to_us AS \"to\", frames, bytes FROM files ORDER BY id");
  const selectFlows = db.prepare<[string], Uint8Array | null>("SELECT flows FROM contents WHERE file = ?").pluck();
  const selectPlaces = db.prepare<[string], Uint8Array>("SELECT places FROM contents WHERE file = ?").pluck();
  let flowBytes = sumFlowBytes.get() ?? 0;

  /** Flows of the oldest files go until there is room for more. */
  const trim = (more: number) => {
    while (flowBytes + more > maxFlowBytes) {
      const id = oldest.get();
      if (id === undefined) return;
      flowBytes -= flowBytesOf.get(id) ?? 0;
      forgetFlows.run(id);
    }
  };
  const remove = db.transaction((id: string) => {
    flowBytes -= deleteContents.get(id) ?? 0;
    deleteFile.run(id);
  });
  const add = db.transaction((file: IndexedFile, { flows, places }: IndexedContents) => {
    remove(file.id);
    const kept = flows !== null && flows.length <= maxFlowBytes ? flows : null;
    trim(kept?.length ?? 0);
    insertFile.run(file.id, file.from, file.to, file.frames, file.bytes);
    insertContents.run(file.id, kept?.length ?? 0, kept, places);
    flowBytes += kept?.length ?? 0;
  });
  return {
    files: () => select.all(),
    add, remove,
    vacuum: () => void db.pragma(`incremental_vacuum(${VACUUM_PAGES})`),
    flowsOf: (id) => selectFlows.get(id) ?? null,
    placesOf: (id) => selectPlaces.get(id) ?? null,
    close: () => void db.close(),
  };
}
