import { MAX_FACET_VALUES } from "@lanthorn/contract";
import { nextTurn } from "@lanthorn/runtime";
import { type Kysely, sql } from "kysely";
import { isPostgres } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import type { MatchedDevices, Matches, Wanted } from "./matches.ts";

/** A column of devices of which values are counted. */
const COLUMNS = ["site_id", "device_type", "presence_state", "vendor", "os_guess", "tags", "open_ports"] as const;
type Column = (typeof COLUMNS)[number];

/** Of a column, each text with how many devices have it. */
type Tally = ReadonlyMap<string, number>;
/** How often values occur: `vendor` and others as texts, `tags` and `open_ports` each by itself. The most frequent first. */
export type DeviceCounts = {
  readonly [column in Column]: readonly { readonly value: string; readonly count: number }[];
} & { readonly total: number };

/** Devices counted between two turns of the event loop: some milliseconds. PostgreSQL does that elsewhere, and in one. */
const DEVICES_AT_ONCE = 4000;
const ALL = 2_000_000_000;
const LAST = "last";
/** Columns that hold a JSON list of values. */
const LISTS: ReadonlySet<Column> = new Set(["tags", "open_ports"]);

/** Counts out the values of all devices that match, in the order of their ids. */
export async function countFacets(reads: Kysely<Schema>, matches: Pick<Matches, "after">, wanted: Wanted): Promise<DeviceCounts> {
  const tallies = new Map(COLUMNS.map((column) => [column, new Map<string, number>()]));
  const most = isPostgres(reads) ? ALL : DEVICES_AT_ONCE;
  let total = 0;
  for (let after: string | null = ""; after !== null;) {
    const counts = await countSome(reads, matches.after(wanted, after), most);
    for (const { facet, value, total: count } of counts) add(tallies.get(facet as Column), value ?? "", count);
    const last = counts.find(({ facet }) => facet === LAST);
    total += last?.total ?? 0;
    after = last?.total === most ? last.value : null;
    await nextTurn();
  }
  return { total, ...Object.fromEntries(COLUMNS.map((column) => [column, mostFrequent(valuesOf(column, tallies.get(column) ?? new Map()))])) } as DeviceCounts;
}

interface Count {
  /** The column, or `LAST` for how many there were, and the last one's id. */
  readonly facet: string;
  readonly value: string | null;
  readonly total: number;
}

async function countSome(reads: Kysely<Schema>, devices: MatchedDevices, most: number): Promise<readonly Count[]> {
  const some = devices.select(["id", ...COLUMNS]).orderBy("id").limit(most);
  const counted = COLUMNS.map((column) =>
    sql`select ${sql.lit(column)} as facet, ${sql.ref(column)} as value, count(*) as total from matched group by ${sql.ref(column)}`);
  return (await sql<Count>`with matched as materialized ${some}
    ${sql.join(counted, sql` union all `)} union all select ${sql.lit(LAST)}, max(id), count(*) from matched`.execute(reads)).rows;
}

function add(tally: Map<string, number> | undefined, value: string, count: number): void {
  tally?.set(value, (tally.get(value) ?? 0) + count);
}

/** What is a list is taken apart, each value once. */
function valuesOf(column: Column, tally: Tally): Tally {
  if (!LISTS.has(column)) return tally;
  const values = new Map<string, number>();
  for (const [text, count] of tally) for (const value of new Set(JSON.parse(text) as (string | number)[])) add(values, String(value), count);
  return values;
}

function mostFrequent(tally: Tally): readonly { readonly value: string; readonly count: number }[] {
  return [...tally].filter(([value]) => value !== "").map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, MAX_FACET_VALUES);
}
