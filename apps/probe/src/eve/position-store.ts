import { parseJson } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { FilePosition } from "./file-position.ts";

/** How far each EVE file was read. */
export interface PositionStore {
  /** Null where it was never read. */
  load(path: string): FilePosition | null;
  /** @throws SqliteError. */
  save(path: string, position: FilePosition): void;
}

/** @throws SqliteError when its table cannot be made. */
export function createPositionStore(db: Database): PositionStore {
  db.exec("CREATE TABLE IF NOT EXISTS eve_positions (path TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT");
  const select = db.prepare<[string], { readonly position: string }>("SELECT position FROM eve_positions WHERE path = ?");
  const upsert = db.prepare<[string, string]>("INSERT OR REPLACE INTO eve_positions VALUES (?, ?)");
  return {
    load(path) {
      const read = FilePosition.safeParse(parseJson(select.get(path)?.position ?? ""));
      return read.success ? read.data : null;
    },
    save: (path, position) => void upsert.run(path, JSON.stringify(position)),
  };
}
