import { type Expression, type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { inTurns } from "./in-turns.ts";

/** A value, and how many rows have it. */
interface Occurrence {
  readonly value: string;
  readonly count: number;
}
/** How often values of columns occur, the most frequent first, and how many rows there are. */
export type Facets<Column extends string> = { readonly [column in Column]: readonly Occurrence[] } & { readonly total: number };

/** What is counted. */
interface Counted<Column extends string> {
  readonly columns: readonly Column[];
  /** Columns that hold a JSON list: each of its values is counted by itself. */
  readonly lists?: ReadonlySet<Column>;
  /** Queries of the columns, each of some rows. */
  readonly pieces: AsyncIterable<Expression<unknown>>;
  /** As many values of a column are given back. */
  readonly most: number;
}

interface Count {
  /** The column, or `ROWS` for how many rows there were. */
  readonly facet: string;
  readonly value: string | null;
  readonly total: number;
}

const ROWS = "rows";

/** Counts out the values of all rows, one piece after the other. What is null or an empty text is not counted. */
export async function countFacets<Column extends string>(reads: Kysely<Schema>, counted: Counted<Column>): Promise<Facets<Column>> {
  const { columns, lists = new Set<string>(), pieces } = counted;
  const tallies = new Map<string, Map<string, number>>(columns.map((column) => [column, new Map()]));
  let total = 0;
  for await (const rows of pieces) {
    const counts = await countSome(reads, rows, columns);
    for await (const piece of inTurns(takenApart(counts, lists))) for (const count of piece) add(tallies.get(count.facet), count);
    total += counts.find(({ facet }) => facet === ROWS)?.total ?? 0;
  }
  const facets: [string, readonly Occurrence[]][] = [];
  for (const [column, tally] of tallies) facets.push([column, await mostFrequent(tally, counted.most)]);
  return { total, ...Object.fromEntries(facets) } as Facets<Column>;
}

async function countSome(reads: Kysely<Schema>, rows: Expression<unknown>, columns: readonly string[]): Promise<readonly Count[]> {
  const counted = columns.map((column) =>
    sql`select ${sql.lit(column)} as facet, ${sql.ref(column)} as value, count(*) as total from matched group by ${sql.ref(column)}`);
  return (await sql<Count>`with matched as materialized ${rows}
    ${sql.join(counted, sql` union all `)} union all select ${sql.lit(ROWS)}, null, count(*) from matched`.execute(reads)).rows;
}

/** What is a list is taken apart, each value once. */
function* takenApart(counts: readonly Count[], lists: ReadonlySet<string>): Generator<Count> {
  for (const count of counts) {
    if (!lists.has(count.facet) || count.value === null) yield count;
    else for (const value of new Set(JSON.parse(count.value) as (string | number)[])) yield { ...count, value: String(value) };
  }
}

function add(tally: Map<string, number> | undefined, { value, total }: Count): void {
  if (value) tally?.set(value, (tally.get(value) ?? 0) + total);
}

async function mostFrequent(tally: ReadonlyMap<string, number>, most: number): Promise<readonly Occurrence[]> {
  let best: readonly Occurrence[] = [];
  for await (const piece of inTurns(tally)) {
    best = [...best, ...piece.map(([value, count]) => ({ value, count }))]
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, most);
  }
  return best;
}
