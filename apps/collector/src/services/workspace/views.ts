import { type List, parseAlertFilter, parseDeviceFilter, type View, type ViewCreate, type ViewSubject, type ViewsQuery, type ViewUpdate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Caller, Identity } from "../../gateway/environment.ts";
import { ApiError, forbidden, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import type { ViewRow, WorkspaceStore } from "./store.ts";

/** Saved views: each user's own, and those that others share. */
export interface Views {
  list(identity: Identity, query: ViewsQuery): Promise<List<View>>;
  /** @throws ApiError NOT_FOUND. */
  read(identity: Identity, viewId: string): Promise<View>;
  /** @throws ApiError BAD_REQUEST for a filter that is none; FORBIDDEN to share what one may not change; CONFLICT for too many. */
  create(caller: Caller, view: ViewCreate): Promise<View>;
  /** @throws ApiError NOT_FOUND; FORBIDDEN for another's; as `create`. */
  update(caller: Caller, viewId: string, change: ViewUpdate): Promise<View>;
  /** @throws ApiError NOT_FOUND; FORBIDDEN for another's. */
  remove(caller: Caller, viewId: string): Promise<void>;
}

/** More than anybody finds again. */
const MAX_VIEWS_OF_A_USER = 100;

const PARSERS = { devices: parseDeviceFilter, alerts: parseAlertFilter } as const;

/** Another's view can be seen where it is shared, and changed by who administers users. */
export function createViews({ store, audit, clock }: {
  readonly store: WorkspaceStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): Views {
  const seenBy = ({ tenantId, userId }: Identity, list?: ViewSubject) => ({ tenantId, userId, list });
  const target = (id: string) => ({ type: "view", id });
  const hold = async (trx: Parameters<WorkspaceStore["holdView"]>[0], identity: Identity, viewId: string) => {
    const row = await store.holdView(trx, seenBy(identity), viewId);
    if (!row) throw notFound("view");
    if (row.user_id !== identity.userId && !identity.scopes.has("users:write")) throw forbidden("this view is another user's", "users:write");
    return row;
  };

  return {
    list: (identity, { list, ...page }) => pageById(page, {
      read: (rows) => store.views(seenBy(identity, list), rows), count: () => store.countViews(seenBy(identity, list)), show: (row) => toView(row, identity),
    }),

    async read(identity, viewId) {
      const row = await store.view(seenBy(identity), viewId);
      if (!row) throw notFound("view");
      return toView(row, identity);
    },

    async create({ identity, actor }, { shared, columns, ...view }) {
      check(identity, view.list, { filter: view.filter, shared });
      const at = toInstant(clock.now());
      const row = {
        id: createId(), tenant_id: identity.tenantId, user_id: identity.userId, ...view, columns: JSON.stringify(columns), is_shared: shared ? 1 : 0,
        created_at: at, updated_at: at,
      };
      const record = toView({ ...row, username: identity.username }, identity);
      await store.transaction(async (trx) => {
        const has = await store.countOwn(trx, identity.userId);
        if (has >= MAX_VIEWS_OF_A_USER) throw new ApiError("CONFLICT", `you already have ${has} views: delete one first`);
        await store.addView(trx, row);
        await audit(trx, { actor, action: "view.create", target: target(row.id), before: null, after: record });
      });
      return record;
    },

    update: ({ identity, actor }, viewId, { shared, columns, ...change }) => store.transaction(async (trx) => {
      const { username, ...before } = await hold(trx, identity, viewId);
      check(identity, before.list as ViewSubject, { filter: change.filter, shared: shared ?? before.is_shared === 1 });
      const { name = before.name, filter = before.filter, sort = before.sort } = change;
      const after = {
        ...before, name, filter, sort, columns: columns === undefined ? before.columns : JSON.stringify(columns),
        is_shared: shared === undefined ? before.is_shared : shared ? 1 : 0, updated_at: toInstant(clock.now()),
      };
      await store.setView(trx, after);
      const record = toView({ ...after, username }, identity);
      await audit(trx, { actor, action: "view.update", target: target(viewId), before: toView({ ...before, username }, identity), after: record });
      return record;
    }),

    remove: ({ identity, actor }, viewId) => store.transaction(async (trx) => {
      const row = await hold(trx, identity, viewId);
      await store.removeView(trx, viewId);
      await audit(trx, { actor, action: "view.delete", target: target(viewId), before: toView(row, identity), after: null });
    }),
  };
}

function check({ scopes }: Identity, list: ViewSubject, { filter = "", shared }: { readonly filter?: string | undefined; readonly shared: boolean }): void {
  const parsed = PARSERS[list](filter);
  if (!parsed.ok) throw badRequest([{ path: ["filter"], message: parsed.message }]);
  if (shared && !scopes.has(`${list}:write`)) throw forbidden(`to share a view of ${list} needs the scope ${list}:write`, `${list}:write`);
}

function toView(row: ViewRow, { userId }: Identity): View {
  const { id, list, name, filter, sort, created_at, updated_at } = row;
  return {
    id, list: list as ViewSubject, name, filter, sort, columns: JSON.parse(row.columns) as string[], shared: row.is_shared === 1,
    owner: { id: row.user_id, username: row.username }, is_own: row.user_id === userId, created_at, updated_at,
  };
}
