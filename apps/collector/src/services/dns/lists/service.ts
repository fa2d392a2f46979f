import { type DnsList, type DnsListCreate, type DnsListUpdate, type List, MAX_DNS_LISTS } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { Sealing } from "../../../sealing/sealing.ts";
import { FileRefused } from "../../../sources/file-refused.ts";
import type { NamesThread } from "../names/names-thread.ts";
import { createListChanges, targetOf } from "./changes.ts";
import { toList } from "./records.ts";
import type { ListRow, ListsStore } from "./store.ts";
import { zoneOf } from "../transfers/fetch-zone.ts";
import { isTransferred, sealTsig } from "./transfer-key.ts";
import { takeVersion } from "./update-list.ts";

type Trx = Transaction<Schema>;

/** Lists of a tenant. Each change writes its audit record in the same transaction. All throw ApiError NOT_FOUND for what the tenant does not have. */
export interface ListsService {
  list(tenantId: string, page: IdPage): Promise<List<DnsList>>;
  read(tenantId: string, id: string): Promise<DnsList>;
  /** @throws ApiError BAD_REQUEST for what is no list; CONFLICT where there are too many. */
  create(actor: Actor, wish: DnsListCreate): Promise<DnsList>;
  /** @throws ApiError BAD_REQUEST for what is no list, and for what its kind does not have. */
  update(actor: Actor, id: string, change: DnsListUpdate): Promise<DnsList>;
  remove(actor: Actor, id: string): Promise<void>;
  /** Has its source asked now. @throws ApiError CONFLICT for a list without a source, and one that is off. */
  fetchNow(actor: Actor, id: string): Promise<DnsList>;
}

/** What lists need. */
export interface ListsDependencies {
  readonly store: ListsStore;
  readonly thread: Pick<NamesThread, "read">;
  readonly audit: Audit;
  readonly sealing: Sealing;
  readonly clock: Pick<Clock, "now">;
  readonly protectedNames: (tenantId: string) => Promise<readonly string[]>;
  /** Of a tenant's first list, in its transaction. */
  readonly onFirst: (trx: Trx, actor: Actor) => Promise<void>;
  /** After what counts has changed. */
  readonly onChanged: () => void;
  /** In the transaction in which a list goes. @returns The number of an event that says so; null for none. */
  readonly onGone: (trx: Trx, row: ListRow) => Promise<number | null>;
  readonly published: (tenantId: string, fromSeq: number) => void;
  /** After a list is gone. */
  readonly forgetZone: (id: string) => Promise<void>;
  /** After a source is to be asked. */
  readonly onDue: () => void;
}

/** @param deps See `ListsDependencies`. */
export function createListsService(deps: ListsDependencies): ListsService {
  const { store, audit, clock } = deps;
  const now = () => toInstant(clock.now());
  const { find, show, change } = createListChanges(deps);
  const takeNames = async (row: ListRow, names: string) => {
    try {
      await takeVersion(deps, row, Buffer.from(names));
    } catch (error) {
      if (error instanceof FileRefused) throw badRequest([{ path: ["names"], message: error.message }]);
      throw error;
    }
  };

  return {
    async list(tenantId, page) {
      const rows = await store.all(null, tenantId);
      return pageOfAll(await Promise.all(rows.map(async (row) => toList(row, await store.versions(null, row.id)))), page, ({ id }) => id);
    },

    read: show,

    async create(actor, wish) {
      await requireSite(store, actor.tenantId, wish.site_id);
      const row = newRow(deps, actor, wish, now());
      await store.locked(actor.tenantId, async (trx) => {
        const all = await store.all(trx, actor.tenantId);
        if (all.length >= MAX_DNS_LISTS) throw new ApiError("CONFLICT", `there are ${MAX_DNS_LISTS} lists already: delete one first`);
        await store.add(trx, row);
        if (all.length === 0) await deps.onFirst(trx, actor);
        await audit(trx, { actor, action: "dns_list.create", target: targetOf(row.id), before: null, after: toList(row, []) });
      });
      if (wish.names === undefined) deps.onDue();
      else {
        try {
          await takeNames(row, wish.names);
        } catch (error) {
          await store.locked(actor.tenantId, (trx) => store.remove(trx, row.id));
          throw error;
        }
      }
      return show(actor.tenantId, row.id);
    },

    async update(actor, id, { names, tsig, ...wish }) {
      const row = await find(actor.tenantId, id);
      if (tsig !== undefined && !isTransferred(row)) throw badRequest([{ path: ["tsig"], message: "is only for zones that are transferred" }]);
      if (names !== undefined && row.kind !== "local") throw badRequest([{ path: ["names"], message: "is only for lists of the kind local" }]);
      const shown = await change(actor, id, "dns_list.update", (_, { is_enabled: isEnabled, kind, next_at: nextAt }) => {
        const enabled = wish.enabled ?? isEnabled === 1;
        const next = kind === "local" || !enabled ? nextAt : isEnabled === 1 ? nextAt : now();
        return Promise.resolve({
          is_enabled: enabled ? 1 : 0, next_at: next, ...(wish.name !== undefined && { name: wish.name }), ...(wish.category !== undefined && { category: wish.category }),
          ...(wish.format !== undefined && { format: wish.format }), ...(wish.may_rewrite !== undefined && { may_rewrite: wish.may_rewrite ? 1 : 0 }),
          ...(wish.checksum_url !== undefined && { checksum_url: wish.checksum_url }), ...(wish.interval_hours !== undefined && { interval_hours: wish.interval_hours }),
          ...(wish.automatic !== undefined && { is_automatic: wish.automatic ? 1 : 0 }), ...(tsig !== undefined && sealTsig(deps.sealing, id, tsig)),
        });
      });
      if (names !== undefined) await takeNames(await find(actor.tenantId, id), names);
      deps.onChanged();
      return names === undefined ? shown : show(actor.tenantId, id);
    },

    remove: (actor, id) => removeList(deps, actor, id),

    async fetchNow(actor, id) {
      const row = await find(actor.tenantId, id);
      if (row.kind === "local") throw new ApiError("CONFLICT", "this list has no source: send its names");
      if (row.is_enabled === 0) throw new ApiError("CONFLICT", "this list is off: enable it first");
      const shown = await change(actor, id, "dns_list.fetch", () => Promise.resolve({ next_at: now() }));
      deps.onDue();
      return shown;
    },
  };
}

async function removeList({ store, audit, onGone, published, onChanged, forgetZone }: ListsDependencies, actor: Actor, id: string): Promise<void> {
  const fromSeq = await store.locked(actor.tenantId, async (trx) => {
    const row = await store.byId(trx, actor.tenantId, id);
    if (!row) throw notFound("list");
    await audit(trx, { actor, action: "dns_list.delete", target: targetOf(id), before: toList(row, await store.versions(trx, id)), after: null });
    await store.remove(trx, id);
    return onGone(trx, row);
  });
  await forgetZone(id);
  if (fromSeq !== null) published(actor.tenantId, fromSeq);
  onChanged();
}

function newRow({ sealing }: Pick<ListsDependencies, "sealing">, actor: Actor, wish: DnsListCreate, at: string): ListRow {
  const id = createId();
  const isZone = isTransferred({ kind: "url", place: wish.url ?? "" });
  const kind = wish.url === undefined ? (wish.file === undefined ? "local" : "file") : "url";
  return {
    id, tenant_id: actor.tenantId, site_id: wish.site_id ?? null, name: wish.name, category: wish.category, kind, place: wish.url ?? wish.file ?? "", format: isZone ? "rpz" : wish.format, ...sealTsig(sealing, id, wish.tsig ?? null),
    origin: wish.origin ?? (isZone ? zoneOf(new URL(wish.url ?? "")) : null), may_rewrite: wish.may_rewrite ? 1 : 0, checksum_url: wish.checksum_url ?? null, interval_hours: wish.interval_hours, is_enabled: wish.enabled ? 1 : 0,
    is_automatic: wish.automatic ? 1 : 0, active_version: null, last_version: 0, validators: "{}", next_at: kind === "local" ? null : at, checked_at: null, failures: 0, error: null, reported: "",
    created_by: actor.name, created_at: at,
  };
}
