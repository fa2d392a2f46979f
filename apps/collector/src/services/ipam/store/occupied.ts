import type { Kysely } from "kysely";
import { numberOf } from "../../../db/keys/address-range.ts";
import { decoyAddresses } from "../../../db/query/decoy-addresses.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Place } from "./plan.ts";

/** Addresses that are taken: from `first` to `last`, both of them too. */
export interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

const ROWS_AT_ONCE = 1000;

/**
 * What is taken of a prefix, in order of where it begins: prefixes in it, addresses that are written down (deprecated ones
 * too: they are not to be given again), addresses that a device has now, and those of decoys. What one query answers is never all of it.
 * @param options.length Of the prefix; those in it are longer. @param options.now An instant.
 */
export function occupiedIn(from: Kysely<Schema>, place: Place, { length, now }: { readonly length: number; readonly now: string }): AsyncGenerator<Interval> {
  return mergeIntervals([childrenIn(from, place, length), recordedIn(from, place), observedIn(from, place), decoysIn(from, place, now)]);
}

/**
 * The first place of `2^bits` addresses in a range that nothing taken touches; it begins at a multiple of its size.
 * @param taken In order of where they begin; they may overlap.
 * @returns Where it begins, or null.
 */
export async function findFree(range: Interval, bits: number, taken: AsyncIterable<Interval>): Promise<bigint | null> {
  const size = 1n << BigInt(bits);
  const aligned = (at: bigint) => ((at + size - 1n) / size) * size;
  let candidate = aligned(range.first);
  for await (const { first, last } of taken) {
    if (candidate + size <= first || candidate + size - 1n > range.last) break;
    if (last >= candidate) candidate = aligned(last + 1n);
  }
  return candidate + size - 1n <= range.last ? candidate : null;
}

/** Several orders as one. */
export async function* mergeIntervals(sources: readonly AsyncIterable<Interval>[]): AsyncGenerator<Interval> {
  const heads = await Promise.all(sources.map(async (source) => {
    const rest = source[Symbol.asyncIterator]();
    return { rest, next: await rest.next() };
  }));
  for (;;) {
    const open = heads.filter(({ next }) => next.done !== true);
    const [lowest] = open.toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
    if (!lowest) return;
    yield lowest.next.value as Interval;
    lowest.next = await lowest.rest.next();
  }
}

function startOf({ next }: { readonly next: IteratorResult<Interval> }): bigint {
  return (next.value as Interval).first;
}

/**
 * Longer prefixes inside a place, in order of where they begin; they can contain each other. Reads 1000 rows at a time.
 * @param length The prefix length of the place itself.
 */
export async function* childrenIn(
  from: Kysely<Schema>, { tenantId, siteId, first, last }: Place, length: number,
): AsyncGenerator<Interval> {
  let query = from.selectFrom("ipam_prefixes").select(["first_key", "last_key", "sort_key"]).distinct().where("tenant_id", "=", tenantId)
    .where("length", ">", length).where("last_key", "<=", last).orderBy("sort_key").limit(ROWS_AT_ONCE);
  if (siteId !== null) query = query.where("scope", "in", ["", siteId]);
  for (let after = first; ; ) {
    const rows = await query.where("sort_key", ">", after).execute();
    for (const row of rows) yield { first: numberOf(row.first_key), last: numberOf(row.last_key) };
    const end = rows.at(-1);
    if (!end || rows.length < ROWS_AT_ONCE) return;
    after = end.sort_key;
  }
}

function recordedIn(from: Kysely<Schema>, { tenantId, siteId, first, last }: Place): AsyncGenerator<Interval> {
  let query = from.selectFrom("ipam_addresses").select("ip_key").distinct().where("tenant_id", "=", tenantId).where("ip_key", "<=", last)
    .orderBy("ip_key").limit(ROWS_AT_ONCE);
  if (siteId !== null) query = query.where("scope", "in", ["", siteId]);
  return singles(first, (after, isFirst) => query.where("ip_key", isFirst ? ">=" : ">", after).execute());
}

function observedIn(from: Kysely<Schema>, { tenantId, siteId, first, last }: Place): AsyncGenerator<Interval> {
  let query = from.selectFrom("addresses").select("ip_key").distinct().where("tenant_id", "=", tenantId).where("current", "=", 1)
    .where("ip_key", "<=", last).orderBy("ip_key").limit(ROWS_AT_ONCE);
  if (siteId !== null) query = query.where("site_id", "=", siteId);
  return singles(first, (after, isFirst) => query.where("ip_key", isFirst ? ">=" : ">", after).execute());
}

/** Who takes a decoy for a free address shares it with an intruder's target. */
function decoysIn(from: Kysely<Schema>, { tenantId, siteId, first, last }: Place, now: string): AsyncGenerator<Interval> {
  let query = decoyAddresses(from, now).select("decoy.ip_key").distinct().where("decoy.tenant_id", "=", tenantId).where("decoy.ip_key", "<=", last).orderBy("decoy.ip_key").limit(ROWS_AT_ONCE);
  if (siteId !== null) query = query.where("decoy.site_id", "=", siteId);
  return singles(first, (after, isFirst) => query.where("decoy.ip_key", isFirst ? ">=" : ">", after).execute());
}

async function* singles(
  first: string, read: (after: string, isFirst: boolean) => Promise<readonly { readonly ip_key: string }[]>,
): AsyncGenerator<Interval> {
  let after = first;
  for (let isFirst = true; ; isFirst = false) {
    const rows = await read(after, isFirst);
    for (const { ip_key: key } of rows) yield { first: numberOf(key), last: numberOf(key) };
    const end = rows.at(-1);
    if (!end || rows.length < ROWS_AT_ONCE) return;
    after = end.ip_key;
  }
}
