import type Database from "better-sqlite3";

/** A scan that was begun, as it is remembered until it has ended. */
export interface BegunScan {
  readonly scan_id: string;
  readonly target: string;
  readonly profile: string;
}

/** Which scans are running, so that one that dies with the process can be reported as failed. */
export interface ScansStore {
  begin(scan: BegunScan): void;
  end(scanId: string): void;
  /** Those of an earlier run, which nothing ends any more. */
  left(): readonly BegunScan[];
}

const SCHEMA = "CREATE TABLE IF NOT EXISTS scans_begun (scan_id TEXT PRIMARY KEY, target TEXT NOT NULL, profile TEXT NOT NULL) STRICT";

/** @throws SqliteError when the table cannot be made. */
export function createScansStore(db: Database.Database): ScansStore {
  db.exec(SCHEMA);
  const insert = db.prepare<[string, string, string]>("INSERT OR REPLACE INTO scans_begun VALUES (?, ?, ?)");
  const remove = db.prepare<[string]>("DELETE FROM scans_begun WHERE scan_id = ?");
  const all = db.prepare<[], BegunScan>("SELECT scan_id, target, profile FROM scans_begun");
  return {
    begin: ({ scan_id, target, profile }) => void insert.run(scan_id, target, profile),
    end: (scanId) => void remove.run(scanId),
    left: () => all.all(),
  };
}
