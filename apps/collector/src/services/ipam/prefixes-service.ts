import type {
  IpamAddress, IpamNextAddress, IpamNextPrefix, IpamPrefix, IpamPrefixAddress, IpamPrefixCreate, IpamPrefixesQuery, IpamPrefixUpdate,
  IpamUtilization, List,
} from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { addressOf, keyOf, numberOf, parseNetwork } from "../../db/address-range.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import { formatCursor, parseCursor } from "../../gateway/cursor.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { addressesIn, placeOf, utilizationOf } from "./store/observations.ts";
import { childrenIn, findFree, occupiedIn } from "./store/occupied.ts";
import { addressRow, bitsOf, prefixRow, toAddress, toPrefix, usableRange } from "./records.ts";
import type { AddressRow, IpamStore, PrefixRow } from "./store/plan.ts";
import { addToPlan, removeFromPlan, setPrefix } from "./store/plan-writes.ts";

export interface PrefixesService {
  list(tenantId: string, query: IpamPrefixesQuery): Promise<List<IpamPrefix>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<IpamPrefix>;
  /** @throws ApiError NOT_FOUND for the site; CONFLICT where it is there already. */
  create(actor: Actor, wish: IpamPrefixCreate): Promise<IpamPrefix>;
  /** @throws ApiError NOT_FOUND. */
  update(actor: Actor, id: string, change: IpamPrefixUpdate): Promise<IpamPrefix>;
  /** What lies in it stays. @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
  /** @throws ApiError NOT_FOUND. */
  utilization(tenantId: string, id: string): Promise<IpamUtilization>;
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  addresses(
    tenantId: string, id: string, page: { readonly page: number; readonly per_page: number; readonly cursor?: string | undefined },
  ): Promise<List<IpamPrefixAddress>>;
  /** Of several at once, each gets another. @throws ApiError NOT_FOUND; CONFLICT where none is free. */
  nextAddress(actor: Actor, id: string, wish: IpamNextAddress): Promise<IpamAddress>;
  /** @throws ApiError as `nextAddress`; BAD_REQUEST for a length that does not lie in it. */
  nextPrefix(actor: Actor, id: string, wish: IpamNextPrefix): Promise<IpamPrefix>;
}

const SORT = "prefix";
const KEY = /^(?:4[\da-f]{8}|6[\da-f]{32})$/;

export function createPrefixesService({ store, audit, clock }: {
  readonly store: IpamStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): PrefixesService {
  const { reads } = store;
  const show = async (from: typeof reads, row: PrefixRow) => {
    const [parent = null] = await store.parents(from, row.tenant_id, [{ network: row.prefix, siteId: row.site_id, isPrefix: true }]);
    return toPrefix(row, parent);
  };
  const find = async (from: typeof reads, tenantId: string, id: string) => {
    const row = await store.prefix(from, tenantId, id);
    if (!row) throw notFound("prefix");
    return row;
  };
  const owner = (tenantId: string) => ({ id: createId(), tenantId, at: toInstant(clock.now()) });
  const note = (trx: Transaction<Schema>, actor: Actor, action: string, id: string, before: IpamPrefix | null, after: IpamPrefix | null) =>
    audit(trx, { actor, action, target: { type: "ipam_prefix", id }, before, after });
  const insert = async (trx: Transaction<Schema>, actor: Actor, row: PrefixRow): Promise<IpamPrefix> => {
    if (!(await addToPlan(trx, "ipam_prefixes", row))) throw new ApiError("CONFLICT", `${row.prefix} is already recorded`);
    const shown = await show(trx, row);
    await note(trx, actor, "ipam_prefix.create", row.id, null, shown);
    return shown;
  };
  const prefixIdOf = async (rows: readonly AddressRow[]) => {
    const ids = await store.parents(
      reads, rows[0]?.tenant_id ?? "",
      rows.map(({ ip, site_id: siteId }) => ({ network: parseNetwork(ip)?.network ?? "", siteId, isPrefix: false })),
    );
    return new Map(rows.map(({ id }, index) => [id, ids[index] ?? null]));
  };

  return {
    async list(tenantId, { page, per_page: perPage, cursor, site_id: siteId, status, vlan_id: vlanId, family, within, search }) {
      if (siteId !== undefined && !(await store.siteExists(tenantId, siteId))) throw notFound("site");
      const range = within === undefined ? undefined : (parseNetwork(within) ?? undefined);
      const filter = { siteId, status, vlanId, family: family === undefined ? undefined : Number(family), within: range, search };
      const from = cursor === undefined ? (page - 1) * perPage : parseCursor(SORT, cursor);
      const { rows, total } = await store.prefixes(tenantId, filter, { from, limit: perPage + 1 });
      const shown = rows.slice(0, perPage);
      const parents = await store.parents(
        reads, tenantId, shown.map((row) => ({ network: row.prefix, siteId: row.site_id, isPrefix: true })),
      );
      const last = rows.length > perPage ? shown.at(-1) : undefined;
      return {
        data: shown.map((row, index) => toPrefix(row, parents[index] ?? null)),
        meta: { page, per_page: perPage, total, next_cursor: last ? formatCursor(SORT, { value: last.sort_key, id: last.id }) : null },
      };
    },

    read: async (tenantId, id) => show(reads, await find(reads, tenantId, id)),

    async create(actor, wish) {
      const range = parseNetwork(wish.prefix);
      if (!range) throw badRequest([{ path: ["prefix"], message: "must be a network as 10.0.0.0/8" }]);
      if (wish.site_id !== null && !(await store.siteExists(actor.tenantId, wish.site_id))) throw notFound("site");
      return store.change(actor.tenantId, (trx) => insert(trx, actor, prefixRow(range, wish, owner(actor.tenantId))));
    },

    update: (actor, id, change) => store.change(actor.tenantId, async (trx) => {
      const before = await find(trx, actor.tenantId, id);
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<PrefixRow>;
      const after: PrefixRow = { ...before, ...given, updated_at: toInstant(clock.now()) };
      await setPrefix(trx, id, { ...given, updated_at: after.updated_at });
      const shown = await show(trx, after);
      await note(trx, actor, "ipam_prefix.update", id, await show(trx, before), shown);
      return shown;
    }),

    remove: (actor, id) => store.change(actor.tenantId, async (trx) => {
      const before = await find(trx, actor.tenantId, id);
      await note(trx, actor, "ipam_prefix.delete", id, await show(trx, before), null);
      await removeFromPlan(trx, "ipam_prefixes", id);
    }),

    async utilization(tenantId, id) {
      const row = await find(reads, tenantId, id);
      return utilizationOf(reads, row, childrenIn(reads, placeOf(row), row.length));
    },

    async addresses(tenantId, id, { page, per_page: perPage, cursor }) {
      if (cursor !== undefined && !KEY.test(cursor)) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
      const row = await find(reads, tenantId, id);
      const { rows, total } = await addressesIn(reads, row, { from: cursor ?? (page - 1) * perPage, limit: perPage + 1, prefixIdOf });
      const shown = rows.slice(0, perPage);
      return {
        data: shown.map(({ ip, recorded, observed }) => ({ ip, recorded, observed })),
        meta: { page, per_page: perPage, total, next_cursor: rows.length > perPage ? (shown.at(-1)?.key ?? null) : null },
      };
    },

    nextAddress: (actor, id, wish) => store.change(actor.tenantId, async (trx) => {
      const parent = await find(trx, actor.tenantId, id);
      const range = usableRange({ first: numberOf(parent.first_key), last: numberOf(parent.last_key) }, parent.family);
      const free = await findFree(range, 0, occupiedIn(trx, placeOf(parent), parent.length));
      if (free === null) throw new ApiError("CONFLICT", `no address of ${parent.prefix} is free`);
      const place = parseNetwork(addressOf(keyOf(free, parent.first_key)));
      if (!place) throw new Error(`${free} is not an address`);
      const row = addressRow(place, { ...wish, site_id: parent.site_id }, owner(actor.tenantId));
      if (!(await addToPlan(trx, "ipam_addresses", row))) throw new ApiError("CONFLICT", `${row.ip} is already recorded`);
      const shown = toAddress(row, parent.id);
      await audit(trx, { actor, action: "ipam_address.create", target: { type: "ipam_address", id: row.id }, before: null, after: shown });
      return shown;
    }),

    nextPrefix: (actor, id, { length, ...wish }) => store.change(actor.tenantId, async (trx) => {
      const parent = await find(trx, actor.tenantId, id);
      const bits = bitsOf(parent.first_key);
      if (length <= parent.length || length > bits) {
        throw badRequest([{ path: ["length"], message: `${parent.length + 1} to ${bits} was expected` }]);
      }
      const range = { first: numberOf(parent.first_key), last: numberOf(parent.last_key) };
      const free = await findFree(range, bits - length, occupiedIn(trx, placeOf(parent), parent.length));
      if (free === null) throw new ApiError("CONFLICT", `no /${length} of ${parent.prefix} is free`);
      const place = parseNetwork(`${addressOf(keyOf(free, parent.first_key))}/${length}`);
      if (!place) throw new Error(`${free} is not an address`);
      return insert(trx, actor, prefixRow(place, { ...wish, site_id: parent.site_id }, owner(actor.tenantId)));
    }),
  };
}
