import type { IpamPrefixAddress, IpamUtilization } from "@lanthorn/contract";
import type { Kysely } from "kysely";
import { addressOf, numberOf } from "../../../db/keys/address-range.ts";
import type { Schema } from "../../../db/schema.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Interval } from "./occupied.ts";
import { toAddress, usableRange } from "../records.ts";
import type { AddressRow, Place, PrefixRow } from "./plan.ts";

type From = Kysely<Schema>;
type Holder = IpamPrefixAddress["observed"][number];

/** The range of a prefix, in its own site or in all, as queries for what lies in it take it. */
export function placeOf({ tenant_id: tenantId, site_id: siteId, first_key: first, last_key: last }: PrefixRow): Place {
  return { tenantId, siteId, first, last };
}

/** What is written down in a place, of its site and of none. */
function recorded(from: From, { tenantId, siteId, first, last }: Place) {
  const query = from.selectFrom("ipam_addresses").where("tenant_id", "=", tenantId).where("ip_key", ">=", first)
    .where("ip_key", "<=", last);
  return siteId === null ? query : query.where("scope", "in", ["", siteId]);
}

/** What devices have there now. */
function observed(from: From, { tenantId, siteId, first, last }: Place) {
  const query = from.selectFrom("addresses").where("tenant_id", "=", tenantId).where("current", "=", 1)
    .where("ip_key", ">=", first).where("ip_key", "<=", last);
  return siteId === null ? query : query.where("site_id", "=", siteId);
}

/** @param options.after Only those that come after this key. */
function allKeys(from: From, place: Place, options: { readonly isUsed: boolean; readonly after?: string }) {
  const planned = recorded(from, place).select("ip_key").where("ip_key", ">", options.after ?? "");
  return (options.isUsed ? planned.where("status", "<>", "deprecated") : planned)
    .union(observed(from, place).select("ip_key").where("ip_key", ">", options.after ?? ""));
}

async function countOf(query: { readonly executeTakeFirstOrThrow: () => Promise<{ readonly total: number }> }): Promise<number> {
  return (await query.executeTakeFirstOrThrow()).total;
}

/** How much of a prefix is taken. @param children Prefixes in it, in their order. */
export async function utilizationOf(from: From, row: PrefixRow, children: AsyncIterable<Interval>): Promise<IpamUtilization> {
  const place = placeOf(row);
  const all = { first: numberOf(place.first), last: numberOf(place.last) };
  const usable = usableRange(all, row.family);
  const size = usable.last - usable.first + 1n;
  const used = await countOf(from.selectFrom(allKeys(
    from, place, { isUsed: true },
  ).as("keys")).select((eb) => eb.fn.countAll<number>().as("total")));
  let [count, taken, end] = [0, 0n, -1n];
  for await (const child of children) {
    // What lies in a child is not right below.
    if (child.first <= end) continue;
    count += 1;
    taken += child.last - child.first + 1n;
    end = child.last;
  }
  return {
    size: String(size), used,
    recorded: await countOf(recorded(from, place).select((eb) => eb.fn.countAll<number>().as("total"))),
    observed: await countOf(observed(from, place).select((eb) => eb.fn.count<number>("ip_key").distinct().as("total"))),
    ratio: partOf(BigInt(used), size), children: count, children_ratio: partOf(taken, all.last - all.first + 1n),
  };
}

/** Whose network and broadcast address somebody has, has used more than there is. */
function partOf(part: bigint, whole: bigint): number {
  return Math.min(1, Number((part * 1_000_000n) / whole) / 1_000_000);
}

/**
 * Addresses of a prefix that are written down or had, in the order of their numbers.
 * @param from Rows to skip, or the key after which to go on.
 */
export async function addressesIn(
  reads: From, row: PrefixRow,
  options: {
    readonly from: number | string; readonly limit: number;
    readonly prefixIdOf: (rows: readonly AddressRow[]) => Promise<ReadonlyMap<string, string | null>>;
  },
): Promise<{ readonly rows: readonly (IpamPrefixAddress & { readonly key: string })[]; readonly total: number }> {
  const { from, limit } = options;
  const whole = placeOf(row);
  const after = typeof from === "string" ? { after: from } : {};
  const page = reads.selectFrom(allKeys(reads, whole, { isUsed: false, ...after }).as("keys")).select("ip_key").orderBy("ip_key")
    .limit(limit);
  const keys = (await (typeof from === "number" ? page.offset(from) : page).execute()).map(({ ip_key: key }) => key);
  const total = await countOf(reads.selectFrom(allKeys(
    reads, whole, { isUsed: false },
  ).as("keys")).select((eb) => eb.fn.countAll<number>().as("total")));
  const plans = await selectIn(keys, (list) => recorded(reads, whole).selectAll().where("ip_key", "in", list).orderBy("scope").execute());
  const prefixIds = await options.prefixIdOf(plans);
  // The site's own word before that of no site.
  const byKey = new Map(plans.map((plan) => [plan.ip_key, plan]));
  const holders = await holdersOf(reads, whole.tenantId, keys, whole.siteId);
  return {
    total,
    rows: keys.map((key) => {
      const plan = byKey.get(key);
      return {
        key, ip: addressOf(key), recorded: plan ? toAddress(plan, prefixIds.get(plan.id) ?? null) : null,
        observed: [...(holders.get(key) ?? [])],
      };
    }),
  };
}

/** Which devices have each address now. */
export async function holdersOf(
  from: From, tenantId: string, keys: readonly string[], siteId: string | null,
): Promise<ReadonlyMap<string, readonly Holder[]>> {
  const rows = await selectIn([...new Set(keys)], (list) => {
    const query = from.selectFrom("addresses").innerJoin("devices", "devices.id", "addresses.device_id")
      .select(["addresses.ip_key", "addresses.device_id", "addresses.site_id", "addresses.mac", "devices.hostname", "addresses.last_seen"])
      .where("addresses.tenant_id", "=", tenantId).where("addresses.current", "=", 1).where("addresses.ip_key", "in", list)
      .orderBy("addresses.site_id").orderBy("addresses.last_seen", "desc");
    return (siteId === null ? query : query.where("addresses.site_id", "=", siteId)).execute();
  });
  const found = new Map<string, Holder[]>();
  for (const { ip_key: key, last_seen: lastSeen, ...holder } of rows) {
    found.set(key, [...(found.get(key) ?? []), { ...holder, last_seen: lastSeen || null }]);
  }
  return found;
}

