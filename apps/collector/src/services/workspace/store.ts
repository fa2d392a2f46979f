import type { Kysely, Selectable, Transaction } from "kysely";
import { holdSite } from "../../db/locks/hold-site.ts";
import { siteExists } from "../../db/locks/site-exists.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

type Trx = Transaction<Schema>;

/** A view with its owner's name. */
export type ViewRow = Selectable<Schema["views"]> & { readonly username: string };
/** A map's pins as they are stored. */
export type PinsRow = Selectable<Schema["map_pins"]>;

/** Views that a user sees: own ones, and those of the tenant that are shared. */
interface ViewsOf {
  readonly tenantId: string;
  readonly userId: string;
  readonly list?: string | undefined;
}

/** Rows of views, preferences and pins. Methods with `trx` see the transaction's own writes. */
export interface WorkspaceStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** In the order in which they were made. */
  views(filter: ViewsOf, rows: Rows): Promise<readonly ViewRow[]>;
  countViews(filter: ViewsOf): Promise<number>;
  view(filter: ViewsOf, viewId: string): Promise<ViewRow | null>;
  /** As the transaction sees it; until it ends, no other changes it. */
  holdView(trx: Trx, filter: ViewsOf, viewId: string): Promise<ViewRow | null>;
  /** How many a user has; until the transaction ends, nobody else adds one. */
  countOwn(trx: Trx, userId: string): Promise<number>;
  addView(trx: Trx, view: Selectable<Schema["views"]>): Promise<void>;
  setView(trx: Trx, view: Selectable<Schema["views"]>): Promise<void>;
  removeView(trx: Trx, viewId: string): Promise<void>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** JSON; null while nothing was chosen. */
  preferences(userId: string): Promise<string | null>;
  /** As the transaction sees it; until it ends, no other changes it. */
  holdPreferences(trx: Trx, userId: string): Promise<string | null>;
  setPreferences(trx: Trx, row: Selectable<Schema["user_preferences"]>): Promise<void>;
  pins(tenantId: string, siteId: string): Promise<PinsRow | null>;
  /** As the transaction sees them, the site held. @returns False for a site that the tenant does not have. */
  holdPins(trx: Trx, tenantId: string, siteId: string): Promise<PinsRow | null | false>;
  setPins(trx: Trx, row: PinsRow): Promise<void>;
}

/** Another tenant's, and another user's that is not shared, is the same as none. */
export function createWorkspaceStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): WorkspaceStore {
  const seen = (handle: Kysely<Schema>, { tenantId, userId, list }: ViewsOf) => {
    const query = handle.selectFrom("views").where("views.tenant_id", "=", tenantId)
      .where((eb) => eb.or([eb("views.user_id", "=", userId), eb("views.is_shared", "=", 1)]));
    return list === undefined ? query : query.where("views.list", "=", list);
  };
  const withOwner = (handle: Kysely<Schema>, filter: ViewsOf) =>
    seen(handle, filter).innerJoin("users", "users.id", "views.user_id").selectAll("views").select("users.username");
  // A write of nothing: both databases lock the row by it, and SQLite knows no SELECT … FOR UPDATE.
  const holdUser = (trx: Trx, userId: string) => trx.updateTable("users").set((eb) => ({ role: eb.ref("role") })).where("id", "=", userId).execute();
  const preferences = async (handle: Kysely<Schema>, userId: string) =>
    (await handle.selectFrom("user_preferences").select("preferences").where("user_id", "=", userId).executeTakeFirst())?.preferences ?? null;
  const pins = async (handle: Kysely<Schema>, tenantId: string, siteId: string) =>
    (await handle.selectFrom("map_pins").selectAll().where("tenant_id", "=", tenantId).where("site_id", "=", siteId).executeTakeFirst()) ?? null;
  return {
    transaction: (work) => db.transaction().execute(work),
    views(filter, { from, limit }) {
      const query = withOwner(reads, filter).orderBy("views.id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("views.id", ">", from)).execute();
    },
    countViews: async (filter) => (await seen(reads, filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total,
    view: async (filter, viewId) => (await withOwner(reads, filter).where("views.id", "=", viewId).executeTakeFirst()) ?? null,
    async holdView(trx, filter, viewId) {
      await trx.updateTable("views").set((eb) => ({ name: eb.ref("name") })).where("tenant_id", "=", filter.tenantId).where("id", "=", viewId).execute();
      return (await withOwner(trx, filter).where("views.id", "=", viewId).executeTakeFirst()) ?? null;
    },
    async countOwn(trx, userId) {
      await holdUser(trx, userId);
      return (await trx.selectFrom("views").select((eb) => eb.fn.countAll<number>().as("total")).where("user_id", "=", userId).executeTakeFirstOrThrow()).total;
    },
    addView: async (trx, view) => void await trx.insertInto("views").values(view).execute(),
    setView: async (trx, { id, ...view }) => void await trx.updateTable("views").set(view).where("id", "=", id).execute(),
    removeView: async (trx, viewId) => void await trx.deleteFrom("views").where("id", "=", viewId).execute(),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    preferences: (userId) => preferences(reads, userId),
    async holdPreferences(trx, userId) {
      await holdUser(trx, userId);
      return preferences(trx, userId);
    },
    async setPreferences(trx, row) {
      await trx.insertInto("user_preferences").values(row).onConflict((c) => c.column("user_id").doUpdateSet({ preferences: row.preferences })).execute();
    },
    pins: (tenantId, siteId) => pins(reads, tenantId, siteId),
    holdPins: async (trx, tenantId, siteId) => (await holdSite(trx, tenantId, siteId)) && pins(trx, tenantId, siteId),
    async setPins(trx, { site_id: siteId, tenant_id: tenantId, ...values }) {
      await trx.insertInto("map_pins").values({ site_id: siteId, tenant_id: tenantId, ...values }).onConflict((c) => c.column("site_id").doUpdateSet(values)).execute();
    },
  };
}
