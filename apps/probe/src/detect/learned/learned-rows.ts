import type * as z from "zod";
import type { LearnedStore } from "./learned-store.ts";

/** What a guard takes for normal, a row each; kept over restarts. */
export interface LearnedRows<Stored, Row extends Stored> {
  find(key: string): Row | null;
  all(): readonly Row[];
  /** In the place of one with the same key. @returns Null where no more are taken. */
  learn(stored: Stored): Row | null;
  /** Writes a row that has changed. */
  save(row: Row): void;
  /** Forgets those. */
  forget(isGone: (row: Row) => boolean): void;
}

/**
 * Keeps `max` rows; rows of an earlier version that cannot be read are left out.
 * @param deps.scope In the store.
 * @param deps.schema Of what is written; what a row has beside that belongs to this run alone.
 * @param deps.revive What a row has beside that.
 */
export function createLearnedRows<Stored extends object, Row extends Stored>(deps: {
  readonly store: LearnedStore;
  readonly scope: string;
  readonly schema: z.ZodType<Stored>;
  readonly keyOf: (stored: Stored) => string;
  readonly revive: (stored: Stored) => Row;
  readonly max: number;
}): LearnedRows<Stored, Row> {
  const { store, scope, schema, keyOf, revive, max } = deps;
  const rows = new Map<string, Row>();
  for (const [key, value] of store.load(scope)) {
    const read = schema.safeParse(value);
    if (read.success && rows.size < max) rows.set(key, revive(read.data));
  }
  const save = (row: Row) => void store.put(scope, keyOf(row), schema.parse(row));
  return {
    find: (key) => rows.get(key) ?? null,
    all: () => [...rows.values()],
    learn(stored) {
      const key = keyOf(stored);
      if (rows.size >= max && !rows.has(key)) return null;
      const row = revive(stored);
      rows.set(key, row);
      save(row);
      return row;
    },
    save,
    forget(isGone) {
      for (const [key, row] of rows) {
        if (!isGone(row)) continue;
        rows.delete(key);
        store.remove(scope, key);
      }
    },
  };
}
