import type { IpamAddress, IpamAddressCreate, IpamAddressesQuery, IpamAddressUpdate, List } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { parseNetwork } from "../../db/keys/address-range.ts";
import type { Audit } from "../../gateway/audit.ts";
import { formatCursor, parseCursor } from "../../gateway/cursor.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { addressRow, toAddress } from "./records.ts";
import type { AddressRow, IpamStore } from "./store/plan.ts";
import { addToPlan, removeFromPlan, setAddress } from "./store/plan-writes.ts";

/** Planned addresses of a tenant, in numeric order, IPv4 before IPv6. A write has its audit record in the same transaction. */
export interface AddressesService {
  list(tenantId: string, query: IpamAddressesQuery): Promise<List<IpamAddress>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<IpamAddress>;
  /** @throws ApiError NOT_FOUND for the site; CONFLICT where it is already recorded. */
  create(actor: Actor, wish: IpamAddressCreate): Promise<IpamAddress>;
  /** @throws ApiError NOT_FOUND. */
  update(actor: Actor, id: string, change: IpamAddressUpdate): Promise<IpamAddress>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
}

const SORT = "ip";

/** An address is unique in its site; the same one can also be planned for another site or for none. */
export function createAddressesService({ store, audit, clock }: {
  readonly store: IpamStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): AddressesService {
  const { reads } = store;
  const show = async (from: typeof reads, rows: readonly AddressRow[]): Promise<readonly IpamAddress[]> => {
    const places = rows.map(({ ip, site_id: siteId }) => ({ network: parseNetwork(ip)?.network ?? "", siteId, isPrefix: false }));
    const prefixes = await store.parents(from, rows[0]?.tenant_id ?? "", places);
    return rows.map((row, index) => toAddress(row, prefixes[index] ?? null));
  };
  const showOne = async (from: typeof reads, row: AddressRow) => (await show(from, [row]))[0] ?? toAddress(row, null);
  const find = async (from: typeof reads, tenantId: string, id: string) => {
    const row = await store.address(from, tenantId, id);
    if (!row) throw notFound("address");
    return row;
  };
  const entry = (actor: Actor, action: string, id: string, before: IpamAddress | null, after: IpamAddress | null) =>
    ({ actor, action: `ipam_address.${action}`, target: { type: "ipam_address", id }, before, after });

  return {
    async list(tenantId, { page, per_page: perPage, cursor, site_id: siteId, status, mac, within, search }) {
      await requireSite(store, tenantId, siteId);
      const range = within === undefined ? undefined : (parseNetwork(within) ?? undefined);
      const from = cursor === undefined ? (page - 1) * perPage : parseCursor(SORT, cursor);
      const { rows, total } = await store.addresses(tenantId, { siteId, status, mac, within: range, search }, { from, limit: perPage + 1 });
      const shown = rows.slice(0, perPage);
      const last = rows.length > perPage ? shown.at(-1) : undefined;
      return {
        data: [...(await show(reads, shown))],
        meta: { page, per_page: perPage, total, next_cursor: last ? formatCursor(SORT, { value: last.ip_key, id: last.id }) : null },
      };
    },

    read: async (tenantId, id) => showOne(reads, await find(reads, tenantId, id)),

    async create(actor, { ip, ...wish }) {
      const place = parseNetwork(ip);
      if (!place) throw badRequest([{ path: ["ip"], message: "must be an address" }]);
      await requireSite(store, actor.tenantId, wish.site_id);
      return store.change(actor.tenantId, async (trx) => {
        const row = addressRow(place, wish, { id: createId(), tenantId: actor.tenantId, at: toInstant(clock.now()) });
        if (!(await addToPlan(trx, "ipam_addresses", row))) throw new ApiError("CONFLICT", `${row.ip} is already recorded`);
        const shown = await showOne(trx, row);
        await audit(trx, entry(actor, "create", row.id, null, shown));
        return shown;
      });
    },

    update: (actor, id, change) => store.change(actor.tenantId, async (trx) => {
      const before = await find(trx, actor.tenantId, id);
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<AddressRow>;
      const after: AddressRow = { ...before, ...given, updated_at: toInstant(clock.now()) };
      await setAddress(trx, id, { ...given, updated_at: after.updated_at });
      const shown = await showOne(trx, after);
      await audit(trx, entry(actor, "update", id, await showOne(trx, before), shown));
      return shown;
    }),

    remove: (actor, id) => store.change(actor.tenantId, async (trx) => {
      const before = await find(trx, actor.tenantId, id);
      await audit(trx, entry(actor, "delete", id, await showOne(trx, before), null));
      await removeFromPlan(trx, "ipam_addresses", id);
    }),
  };
}
