import { type ExpressionBuilder, type ExpressionWrapper, type Kysely, sql, type SqlBool } from "kysely";
import { holdsLowered, lowerForms } from "../../../db/query/like.ts";
import { isPostgres } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";

type Condition = ExpressionWrapper<Schema, "devices", SqlBool>;
type Builder = ExpressionBuilder<Schema, "devices">;

/** One text that is searched for among a tenant's devices. */
export interface Search {
  /** Whether so few rows come into question that looking each of them up is the fastest way. */
  readonly isNarrow: boolean;
  /** That a device has the text, for statements that look at a list of all devices that have it. */
  readonly among: (eb: Builder) => Condition;
  /** The same, for statements that look at one device after the other and end early. */
  readonly one: (eb: Builder) => Condition;
  /** How many of the tenant's devices have it. */
  readonly count: () => Promise<number>;
}

/** Where a search stops using its index. Tests set it; the default was measured. */
export interface SearchLimits {
  /** Rows of the index up to which looking up each is faster than reading all that a tenant has. */
  readonly narrowTo?: number;
  /** Devices up to which those found by a search and other filters are kept in a list. */
  readonly listTo?: number;
}

/** Measured at 100,000 devices. */
const NARROW_TO = 2000;
/** More make a text no rarer, and a query longer. */
const MAX_TRIGRAMS = 24;

/**
 * Finds devices whose hostname, an address or a MAC has a text in it, in any case of its ASCII letters, by the texts that triggers keep
 * of each (`device_texts`). The trigram index says which rows come into question, SQLite's as a table of its own and PostgreSQL's within
 * its planner; the texts themselves decide. A text of fewer than three characters, and one that very many have, is looked for by
 * reading what the tenant has.
 */
export function createSearch(
  reads: Kysely<Schema>, { narrowTo = NARROW_TO }: SearchLimits = {},
): (tenantId: string, search: string) => Promise<Search> {
  const hasIndexTable = !isPostgres(reads);
  return async (tenantId, search) => {
    const text = search.trim();
    const holds = conditionOf(text);
    const trigrams = trigramsOf(text);
    const ofTenant = hasIndexTable ? numbersOf(tenantId, sql`texts.number`, 32) : sql<SqlBool>`texts.tenant_id = ${tenantId}`;
    const indexed = sql`search_index where search_index match ${trigrams} and ${numbersOf(tenantId, sql`search_index.rowid`, 34)}`;
    const candidates = hasIndexTable ? sql`select 1 from ${indexed}` : sql`select 1 from device_texts as texts where ${ofTenant} and ${holds}`;
    const isNarrow = trigrams !== null && (await countOf(sql`${candidates} limit ${sql.lit(narrowTo + 1)}`)) <= narrowTo;
    const listed = isNarrow && hasIndexTable ? sql<SqlBool>` and texts.number in (select rowid >> 2 from ${indexed})` : sql``;
    return {
      isNarrow,
      among: (eb) => sql<SqlBool>`${eb.ref("devices.id")} in (select texts.device_id from device_texts as texts
        where ${ofTenant}${listed} and ${holds})` as unknown as Condition,
      one: (eb) => sql<SqlBool>`exists (select 1 from device_texts as texts
        where texts.device_id = ${eb.ref("devices.id")} and ${holds})` as unknown as Condition,
      count: () => countOf(sql`select 1 from device_texts as texts where ${ofTenant}${listed} and ${holds}`),
    };
  };

  async function countOf(rows: ReturnType<typeof sql>): Promise<number> {
    return (await sql<{ total: number }>`select count(*) as total from (${rows}) as found`.execute(reads)).rows[0]?.total ?? 0;
  }
}

/** The tenant's range of numbers, of 2^`bits` each: so another's rows are not even passed over. @see migration 0039 */
function numbersOf(tenantId: string, number: ReturnType<typeof sql>, bits: 32 | 34) {
  const from = (next: 0 | 1) => sql`(select (number + ${sql.lit(next)}) << ${sql.lit(bits)} from search_tenants where tenant_id = ${tenantId})`;
  return sql<SqlBool>`${number} >= ${from(0)} and ${number} < ${from(1)}`;
}

/** That a row of `device_texts as texts` has the text. What is neither part of an address nor of a MAC is looked for in names alone. */
function conditionOf(text: string) {
  const parts = [holdsLowered(sql`texts.hostname`, text)];
  if (/^[\da-f]{0,4}([.:][\da-f]{0,4})*$/i.test(text)) parts.push(holdsLowered(sql`texts.ips`, text));
  const mac = macPattern(text);
  if (mac !== null) parts.push(holdsLowered(sql`texts.macs`, digitsOf(mac).length === 12 ? digitsOf(mac).replaceAll(/..(?!$)/g, "$&:") : mac));
  return sql<SqlBool>`(${sql.join(parts, sql` or `)})`;
}

/**
 * What FTS5 is asked for: the rows with all trigrams of the text, or with all of the MAC that it is part of. Each stands in quotes, so that
 * nothing in it is an operator. Null where the index does not tell.
 * @see https://www.sqlite.org/fts5.html#the_trigram_tokenizer
 */
function trigramsOf(text: string): string | null {
  const mac = macPattern(text);
  const texts = [...lowerForms(text), ...(mac === null ? [] : [digitsOf(mac)])];
  const all = texts.map((part) => {
    // Three characters, of which one may be two of UTF-16.
    const letters = Array.from(part);
    return [...new Set(letters.slice(2).map((letter, at) => `${letters[at]}${letters[at + 1]}${letter}`))].slice(0, MAX_TRIGRAMS);
  });
  if (text.includes("\0") || all.some((trigrams) => trigrams.length === 0)) return null;
  return all.map((trigrams) => `(${trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ")})`).join(" OR ");
}

/**
 * Part of a MAC as people and other programs write it: in any case, with `:`, `-`, `.` or nothing between.
 * @returns With colons where pairs were given apart, which then match only whole pairs; else digits alone; null for no part of a MAC.
 */
function macPattern(text: string): string | null {
  if (/^[\da-f]{0,2}([:-][\da-f]{0,2}){1,6}$/i.test(text)) return text.replaceAll("-", ":").toLowerCase();
  return /^[\da-f]{1,12}$/i.test(text.replaceAll(".", "")) ? text.replaceAll(".", "").toLowerCase() : null;
}

function digitsOf(mac: string): string {
  return mac.replaceAll(":", "");
}
