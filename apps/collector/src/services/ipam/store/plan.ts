import { parseMac } from "@lanthorn/contract";
import type { Expression, ExpressionBuilder, Kysely, Selectable, SqlBool, Transaction } from "kysely";
import { type AddressRange, enclosing } from "../../../db/keys/address-range.ts";
import { holdsText } from "../../../db/query/like.ts";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Position } from "../../../gateway/cursor.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";

/** A planned prefix as stored. Its keys order like addresses: `4` or `6`, then the address in hexadecimal. `scope` is the site or empty. */
export type PrefixRow = Selectable<Schema["ipam_prefixes"]>;
/** A planned address as stored; `ip_key` and `scope` as in `PrefixRow`. `mac` is null where no device is named. */
export type AddressRow = Selectable<Schema["ipam_addresses"]>;
type From = Kysely<Schema>;

/** What a list is narrowed to; what is undefined narrows nothing. */
export interface PlanFilter {
  readonly siteId?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly vlanId?: number | undefined;
  readonly family?: number | undefined;
  readonly mac?: string | undefined;
  readonly within?: AddressRange | undefined;
  readonly search?: string | undefined;
}

/** Which rows of a list: those after `from` rows, or after a position. */
export interface Slice {
  readonly from: number | Position;
  readonly limit: number;
}

/** What something lies in: the addresses from `first` to `last`, of one site or, with null, of all. */
export interface Place {
  readonly tenantId: string;
  readonly siteId: string | null;
  readonly first: string;
  readonly last: string;
}

/** The plan of a tenant. `from` is a connection for committed rows, or a transaction to see its own writes. */
export interface IpamStore {
  readonly db: From;
  readonly reads: From;
  /** In one transaction, in which nobody else changes the tenant's plan. */
  change<T>(tenantId: string, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  sites(tenantId: string): Promise<readonly { readonly id: string; readonly name: string }[]>;
  prefixes(tenantId: string, filter: PlanFilter, slice: Slice): Promise<{ readonly rows: readonly PrefixRow[]; readonly total: number }>;
  addresses(tenantId: string, filter: PlanFilter, slice: Slice): Promise<{ readonly rows: readonly AddressRow[]; readonly total: number }>;
  prefix(from: From, tenantId: string, id: string): Promise<PrefixRow | null>;
  address(from: From, tenantId: string, id: string): Promise<AddressRow | null>;
  /** For each of `places` in their order: the smallest prefix that it lies in, of its own site or of all. */
  parents(from: From, tenantId: string, places: readonly PlacedNetwork[]): Promise<readonly (string | null)[]>;
}

/** A prefix, or an address as the network of one that it is. */
export interface PlacedNetwork {
  readonly network: string;
  readonly siteId: string | null;
  /** Whether it is a prefix itself, which does not lie in itself. */
  readonly isPrefix: boolean;
}

/** A site's id, or the empty text for all sites: unlike null, it counts in a unique key. */
export function scopeOf(siteId: string | null): string {
  return siteId ?? "";
}

/** `change` takes the tenant's lock first; lists read committed rows. */
export function createIpamStore({ db, reads }: { readonly db: From; readonly reads: From }): IpamStore {
  return {
    db, reads,
    change: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    sites: (tenantId) => reads.selectFrom("sites").select(["id", "name"]).where("tenant_id", "=", tenantId).execute(),

    async prefixes(tenantId, filter, { from, limit }) {
      const matching = reads.selectFrom("ipam_prefixes").where((eb) => eb.and([
        ...common(eb as never, tenantId, filter),
        ...(filter.vlanId === undefined ? [] : [eb("vlan_id", "=", filter.vlanId)]),
        ...(filter.family === undefined ? [] : [eb("family", "=", filter.family)]),
        ...(filter.within ? [eb("first_key", ">=", filter.within.first), eb("last_key", "<=", filter.within.last)] : []),
        ...(filter.search === undefined ? [] : [eb.or([
          holdsText(eb.ref("prefix"), filter.search), holdsText(eb.ref("name"), filter.search),
          holdsText(eb.ref("description"), filter.search),
        ])]),
      ]));
      const ordered = matching.selectAll().orderBy("sort_key").orderBy("id").limit(limit);
      const rows = typeof from === "number" ? ordered.offset(from)
        : ordered.where((eb) => eb.or([
          eb("sort_key", ">", from.value), eb.and([eb("sort_key", "=", from.value), eb("id", ">", from.id)]),
        ]));
      const { total } = await matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return { rows: await rows.execute(), total };
    },

    async addresses(tenantId, filter, { from, limit }) {
      const matching = reads.selectFrom("ipam_addresses").where((eb) => eb.and([
        ...common(eb as never, tenantId, filter),
        ...(filter.mac === undefined ? [] : [eb("mac", "=", filter.mac)]),
        ...(filter.within ? [eb("ip_key", ">=", filter.within.first), eb("ip_key", "<=", filter.within.last)] : []),
        ...(filter.search === undefined ? [] : [eb.or([
          holdsText(eb.ref("ip"), filter.search), holdsText(eb.ref("hostname"), filter.search),
          holdsText(eb.ref("description"), filter.search), eb("mac", "=", parseMac(filter.search) ?? ""),
        ])]),
      ]));
      const ordered = matching.selectAll().orderBy("ip_key").orderBy("id").limit(limit);
      const rows = typeof from === "number" ? ordered.offset(from)
        : ordered.where((eb) => eb.or([eb("ip_key", ">", from.value), eb.and([eb("ip_key", "=", from.value), eb("id", ">", from.id)])]));
      const { total } = await matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return { rows: await rows.execute(), total };
    },

    async prefix(from, tenantId, id) {
      return (
        await from.selectFrom("ipam_prefixes").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()
      ) ?? null;
    },
    async address(from, tenantId, id) {
      return (
        await from.selectFrom("ipam_addresses").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()
      ) ?? null;
    },

    async parents(from, tenantId, places) {
      const ways = places.map(({ network }) => enclosing({ network }));
      const known = await selectIn([...new Set(ways.flat())], (list) => from.selectFrom("ipam_prefixes").select(["id", "prefix", "scope"])
        .where("tenant_id", "=", tenantId).where("prefix", "in", list).execute());
      const ids = new Map(known.map(({ id, prefix, scope }) => [`${prefix} ${scope}`, id]));
      return places.map(({ siteId, isPrefix }, index) => {
        for (const [up, prefix] of (ways[index] ?? []).entries()) {
          const own = isPrefix && up === 0 ? undefined : siteId !== null && ids.get(`${prefix} ${siteId}`);
          // A site's prefix lies in the same one of all sites.
          const ofAll = isPrefix && up === 0 && siteId === null ? undefined : ids.get(`${prefix} `);
          const found = typeof own === "string" ? own : ofAll;
          if (found !== undefined) return found;
        }
        return null;
      });
    },
  };
}

/** Of either table: prefixes and addresses have these columns alike. */
function common(
  eb: ExpressionBuilder<Schema, "ipam_prefixes">, tenantId: string, { siteId, status }: PlanFilter,
): readonly Expression<SqlBool>[] {
  return [
    eb("tenant_id", "=", tenantId),
    ...(siteId === undefined ? [] : [eb("site_id", "=", siteId)]),
    ...(status ? [eb("status", "in", status)] : []),
  ];
}
