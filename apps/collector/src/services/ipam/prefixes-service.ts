import type {
  IpamPrefix, IpamPrefixAddress, IpamPrefixCreate, IpamPrefixesQuery, IpamPrefixUpdate, IpamUtilization, List,
} from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { parseNetwork } from "../../db/keys/address-range.ts";
import type { Audit } from "../../gateway/audit.ts";
import { formatCursor, parseCursor } from "../../gateway/cursor.ts";
import type { Actor } from "../../gateway/environment.ts";
import { requireSite } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { type NextFree, nextFree } from "./next-free.ts";
import { createPrefixRecords } from "./prefix-records.ts";
import { prefixRow, toPrefix } from "./records.ts";
import { addressesIn, placeOf, utilizationOf } from "./store/observations.ts";
import { childrenIn } from "./store/occupied.ts";
import { removeFromPlan, setPrefix } from "./store/plan-writes.ts";
import type { AddressRow, IpamStore, PrefixRow } from "./store/plan.ts";

/** Prefixes of the plan, with what is in them. */
export interface PrefixesService extends NextFree {
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
}

const SORT = "prefix";
const KEY = /^(?:4[\da-f]{8}|6[\da-f]{32})$/;

/** `nextAddress` and `nextPrefix` find and record under the tenant's lock, so no two requests get the same. */
export function createPrefixesService(deps: {
  readonly store: IpamStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): PrefixesService {
  const { store, clock } = deps;
  const { reads } = store;
  const records = createPrefixRecords(deps);
  const prefixIdOf = async (rows: readonly AddressRow[]) => {
    const ids = await store.parents(
      reads, rows[0]?.tenant_id ?? "",
      rows.map(({ ip, site_id: siteId }) => ({ network: parseNetwork(ip)?.network ?? "", siteId, isPrefix: false })),
    );
    return new Map(rows.map(({ id }, index) => [id, ids[index] ?? null]));
  };

  return {
    ...nextFree({ ...deps, records }),

    async list(tenantId, { page, per_page: perPage, cursor, site_id: siteId, status, vlan_id: vlanId, family, within, search }) {
      await requireSite(store, tenantId, siteId);
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

    read: async (tenantId, id) => records.show(reads, await records.find(reads, tenantId, id)),

    async create(actor, wish) {
      const range = parseNetwork(wish.prefix);
      if (!range) throw badRequest([{ path: ["prefix"], message: "must be a network as 10.0.0.0/8" }]);
      await requireSite(store, actor.tenantId, wish.site_id);
      return store.change(actor.tenantId, (trx) => records.insert(trx, actor, prefixRow(range, wish, { id: createId(), tenantId: actor.tenantId, at: toInstant(clock.now()) })));
    },

    update: (actor, id, change) => store.change(actor.tenantId, async (trx) => {
      const before = await records.find(trx, actor.tenantId, id);
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<PrefixRow>;
      const after: PrefixRow = { ...before, ...given, updated_at: toInstant(clock.now()) };
      await setPrefix(trx, id, { ...given, updated_at: after.updated_at });
      const shown = await records.show(trx, after);
      await records.audit(trx, actor, { action: "update", id, before: await records.show(trx, before), after: shown });
      return shown;
    }),

    remove: (actor, id) => store.change(actor.tenantId, async (trx) => {
      const before = await records.find(trx, actor.tenantId, id);
      await records.audit(trx, actor, { action: "delete", id, before: await records.show(trx, before), after: null });
      await removeFromPlan(trx, "ipam_prefixes", id);
    }),

    async utilization(tenantId, id) {
      const row = await records.find(reads, tenantId, id);
      return utilizationOf(reads, row, childrenIn(reads, placeOf(row), row.length));
    },

    async addresses(tenantId, id, { page, per_page: perPage, cursor }) {
      if (cursor !== undefined && !KEY.test(cursor)) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
      const row = await records.find(reads, tenantId, id);
      const { rows, total } = await addressesIn(reads, row, { from: cursor ?? (page - 1) * perPage, limit: perPage + 1, prefixIdOf });
      const shown = rows.slice(0, perPage);
      return {
        data: shown.map(({ ip, recorded, observed }) => ({ ip, recorded, observed })),
        meta: { page, per_page: perPage, total, next_cursor: rows.length > perPage ? (shown.at(-1)?.key ?? null) : null },
      };
    },
  };
}
