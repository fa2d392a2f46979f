import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Clock, createId, describeError, type Log } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { ProbeError } from "../errors.ts";
import { checkIntegrity } from "./integrity.ts";
import { type Quarantined, setAside } from "./quarantine.ts";
import { classifyStorageFault } from "./storage-faults.ts";

/** Bound to one enrollment: what was found for one collector is not sent to another. */
const OWNER_SCHEMA = "CREATE TABLE IF NOT EXISTS owner (probe_id TEXT NOT NULL) STRICT";

/** The probe's one database file, shared by the queue and the hosts so that both change in one transaction. */
export interface ProbeDatabase {
  readonly db: Database.Database;
  /** The unusable file that was moved out of the way first, or null. */
  readonly quarantined: Quarantined | null;
  close(): void;
}

/**
 * `next_seq` is kept apart from the rows, so that no sequence is used twice when rows are gone; `after_seq` is the last
 * one acknowledged. `gap_seq` is the queue_gap event that the next loss may still extend.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS outbox_meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    queue_id TEXT NOT NULL, next_seq INTEGER NOT NULL, after_seq INTEGER NOT NULL,
    events INTEGER NOT NULL, bytes INTEGER NOT NULL, dropped INTEGER NOT NULL, gap_seq INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS outbox (
    seq INTEGER PRIMARY KEY, type TEXT NOT NULL, priority INTEGER NOT NULL,
    occurred_at TEXT NOT NULL, data TEXT NOT NULL, bytes INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS outbox_by_priority ON outbox (priority, seq);
`;

/**
 * Opens the file, making it if it is not there. One that is no sound database is set aside beside it and a new one made.
 * @param deps.owner The probe's id. A file that belonged to another enrollment is moved to `<path>.former-<time>`.
 * @param deps.distrust Why the file is to be set aside unread: it failed while it was in use.
 * @throws ProbeError `already-running` when another process holds the file, `storage-unavailable` when it cannot be
 * opened or made: no right to, or the disk is full.
 */
export function openProbeDatabase(path: string, deps: {
  readonly clock: Clock; readonly log: Log; readonly owner?: string; readonly distrust?: string;
}): ProbeDatabase {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
  } catch (cause) {
    throw new ProbeError(
      "storage-unavailable", `cannot create the data directory ${dirname(path)}; set data_dir or LANTHORN_DATA_DIR`, { cause },
    );
  }
  let reason = deps.distrust ?? (isStub(path) ? "the file is empty" : null);
  if (reason === null) {
    const opened = tryOpen(path, deps.clock);
    if (opened.ok && claim(opened.db, deps.owner)) return handle(opened.db, null);
    if (opened.ok) return replaceFormer(path, opened.db, deps);
    reason = opened.reason;
  }
  const quarantined = setAside(path, "corrupt", reason, deps.clock.now());
  deps.log.error({ path, kept_as: quarantined.path, reason }, "the queue file cannot be used; set aside, starting a new one");
  const opened = tryOpen(path, deps.clock);
  if (!opened.ok) throw new ProbeError("storage-unavailable", `a new ${path} is damaged too: ${opened.reason}; check the disk`);
  claim(opened.db, deps.owner);
  return handle(opened.db, quarantined);
}

/** @returns False for a file that another enrollment has left. */
function claim(db: Database.Database, owner: string | undefined): boolean {
  db.exec(OWNER_SCHEMA);
  const found = db.prepare<[], { readonly probe_id: string }>("SELECT probe_id FROM owner").get();
  if (!found && owner !== undefined) db.prepare("INSERT INTO owner VALUES (?)").run(owner);
  return !found || owner === undefined || found.probe_id === owner;
}

function replaceFormer(
  path: string, db: Database.Database, deps: { readonly clock: Clock; readonly log: Log; readonly owner?: string },
): ProbeDatabase {
  db.close();
  const former = setAside(path, "former", "it belongs to an earlier enrollment", deps.clock.now());
  deps.log.warn({ kept_as: former.path }, "the queue belongs to an earlier enrollment; set aside, starting a new one");
  const opened = tryOpen(path, deps.clock);
  if (!opened.ok) throw new ProbeError("storage-unavailable", `a new ${path} is damaged: ${opened.reason}; check the disk`);
  claim(opened.db, deps.owner);
  return handle(opened.db, null);
}

function handle(db: Database.Database, quarantined: Quarantined | null): ProbeDatabase {
  return { db, quarantined, close: () => db.close() };
}

type Opened = { readonly ok: true; readonly db: Database.Database } | { readonly ok: false; readonly reason: string };

function tryOpen(path: string, clock: Clock): Opened {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: 1000 });
    configure(db);
    const wrong = checkIntegrity(db, clock);
    if (wrong === null) return { ok: true, db };
    closeQuietly(db);
    return { ok: false, reason: wrong };
  } catch (cause) {
    if (db) closeQuietly(db);
    if (classifyStorageFault(cause) === "corrupt") return { ok: false, reason: describeError(cause) };
    if ((cause as { readonly code?: unknown }).code === "SQLITE_BUSY") {
      throw new ProbeError(
        "already-running", `another process uses ${path}: stop the lanthorn-probe that uses this data directory`, { cause },
      );
    }
    throw new ProbeError("storage-unavailable", `cannot open ${path}; check its owner and the free space of its disk`, { cause });
  }
}

function configure(db: Database.Database): void {
  // Before the first page is written; it lets space go back to the file system piece by piece.
  db.pragma("auto_vacuum = INCREMENTAL");
  // One process only: two probes on one queue would send under one identity. Held by the kernel, so a killed one leaves nothing behind.
  db.pragma("locking_mode = EXCLUSIVE");
  db.pragma("journal_mode = WAL");
  // An event is on the disk when append returns; NORMAL would lose the last ones at a power cut.
  db.pragma("synchronous = FULL");
  db.pragma("journal_size_limit = 1048576");
  // In KiB. Small: the queue is written at one end and read at the other.
  db.pragma("cache_size = -1024");
  db.pragma("foreign_keys = ON");
  db.transaction(() => {
    db.exec(SCHEMA);
    db.prepare("INSERT OR IGNORE INTO outbox_meta VALUES (1, ?, 1, 0, 0, 0, 0, 0)").run(createId());
  })();
}

/** SQLite takes a file shorter than its smallest page for a new one, and would say nothing of what is lost. */
function isStub(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isFile() && found.size < 512;
}

function closeQuietly(db: Database.Database): void {
  try {
    db.close();
  } catch {
    // A broken file may refuse its last checkpoint; it is given up anyway.
  }
}
