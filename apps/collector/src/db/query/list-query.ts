import { type Compilable, CompiledQuery, type Kysely } from "kysely";
import { isPostgres } from "../row-locks.ts";
import type { Schema } from "../schema.ts";
import { selectIn } from "./select-in.ts";

/** One value of a list: a text, or several that are compared together (`among`). */
type Key = string | readonly string[];

/** A text whose parameters are those of the list, or constants of the query. */
interface Prepared {
  readonly sql: string;
  /** For each parameter its place in the list's texts, or the constant. */
  readonly parameters: readonly ({ readonly place: number } | { readonly constant: unknown })[];
}

/** No text of the collector's own queries begins so; what comes from outside is never compiled, only passed. */
const MARK = "\u{10ffff}list ";

/**
 * A query by a list of keys, compiled once for each size of list: to build and compile it took longer than to run it.
 * @param build Makes the query; it is called with a list of other texts than the values, and only to compile it.
 * @returns What reads all rows of the values, in lists as `selectIn` makes them.
 */
export function listQuery<K extends Key, R>(
  build: (db: Kysely<Schema>, list: readonly K[]) => Compilable<R>,
): (db: Kysely<Schema>, values: readonly K[]) => Promise<R[]> {
  const texts = new Map<string, Prepared>();
  const prepare = (db: Kysely<Schema>, list: readonly K[]): Prepared => {
    const key = `${isPostgres(db)} ${list.length}`;
    let text = texts.get(key);
    if (!text) texts.set(key, (text = compile(build(db, marksOf(list)))));
    return text;
  };
  return (db, values) => selectIn(values, async (list) => {
    const { sql, parameters } = prepare(db, list);
    const texts = list.flat();
    const given = parameters.map((one) => ("place" in one ? texts[one.place] : one.constant));
    return (await db.executeQuery<R>(CompiledQuery.raw(sql, given))).rows;
  });
}

/** A list of the same size and shape whose texts say their places. */
function marksOf<K extends Key>(list: readonly K[]): readonly K[] {
  const width = typeof list[0] === "string" ? 1 : (list[0]?.length ?? 1);
  return list.map((value, row) => (
    typeof value === "string" ? `${MARK}${row}` : value.map((_, column) => `${MARK}${row * width + column}`)
  ) as K);
}

function compile(query: Compilable): Prepared {
  const { sql, parameters } = query.compile();
  return {
    sql,
    parameters: parameters.map((value) => (
      typeof value === "string" && value.startsWith(MARK) ? { place: Number(value.slice(MARK.length)) } : { constant: value }
    )),
  };
}
