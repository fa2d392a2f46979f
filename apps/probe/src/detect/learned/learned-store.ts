import { parseJson } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";

/** What guards have learned of the link, kept over restarts: some JSON by scope and key. */
export interface LearnedStore {
  /** Values as they were written, at most `MAX_OF_ONE_SCOPE`; those that are no JSON are left out. */
  load(scope: string): readonly (readonly [key: string, value: unknown])[];
  /** Written within a few seconds. A scope that is full takes no new key. @returns Whether it is taken. */
  put(scope: string, key: string, value: unknown): boolean;
  remove(scope: string, key: string): void;
  /** Forgets everything of a scope. */
  clear(scope: string): void;
  /** Writes what waits; at most `MAX_WRITES` rows at once. */
  flush(): void;
}

/** A large link has a few thousand hosts; who makes them up fills no disk. */
export const MAX_OF_ONE_SCOPE = 16_384;
const MAX_WRITES = 512;

const SCHEMA = `CREATE TABLE IF NOT EXISTS guard_learned (
  scope TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID`;

/** @throws SqliteError when its table cannot be made. */
export function createLearnedStore(db: Database): LearnedStore {
  db.exec(SCHEMA);
  const select = db.prepare<[string], { readonly key: string; readonly value: string }>("SELECT key, value FROM guard_learned WHERE scope = ?");
  const upsert = db.prepare<[string, string, string]>("INSERT OR REPLACE INTO guard_learned VALUES (?, ?, ?)");
  const remove = db.prepare<[string, string]>("DELETE FROM guard_learned WHERE scope = ? AND key = ?");
  const clear = db.prepare<[string]>("DELETE FROM guard_learned WHERE scope = ?");
  /** Keys of each scope. */
  const known = new Map<string, Set<string>>();
  /** By scope and key; null for one to remove. */
  const waiting = new Map<string, { readonly scope: string; readonly key: string; readonly value: string | null }>();
  const keysOf = (scope: string) => {
    const keys = known.get(scope) ?? new Set(select.all(scope).map(({ key }) => key));
    known.set(scope, keys);
    return keys;
  };
  const wait = (scope: string, key: string, value: string | null) => void waiting.set(`${scope}\n${key}`, { scope, key, value });
  const write = db.transaction((rows: readonly (readonly [string, { readonly scope: string; readonly key: string; readonly value: string | null }])[]) => {
    for (const [, { scope, key, value }] of rows) {
      if (value === null) remove.run(scope, key);
      else upsert.run(scope, key, value);
    }
  });
  return {
    load: (scope) => select.all(scope).slice(0, MAX_OF_ONE_SCOPE).flatMap(({ key, value }) => {
      const read = parseJson(value);
      return read === undefined ? [] : [[key, read] as const];
    }),
    put(scope, key, value) {
      const keys = keysOf(scope);
      if (!keys.has(key) && keys.size >= MAX_OF_ONE_SCOPE) return false;
      keys.add(key);
      wait(scope, key, JSON.stringify(value));
      return true;
    },
    remove(scope, key) {
      if (keysOf(scope).delete(key)) wait(scope, key, null);
    },
    clear(scope) {
      known.set(scope, new Set());
      for (const [id, row] of waiting) if (row.scope === scope) waiting.delete(id);
      clear.run(scope);
    },
    flush() {
      if (waiting.size === 0) return;
      const rows = [...waiting].slice(0, MAX_WRITES);
      write(rows);
      for (const [id, row] of rows) if (waiting.get(id) === row) waiting.delete(id);
    },
  };
}
