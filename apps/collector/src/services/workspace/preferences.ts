import { Preferences, type PreferencesUpdate } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Caller, Identity } from "../../gateway/environment.ts";
import { notFound, requireSite } from "../../gateway/errors.ts";
import type { WorkspaceStore } from "./store.ts";

/** How a person wants to see things. */
export interface PreferencesService {
  read(identity: Identity): Promise<Preferences>;
  /** When the person looked last at what changed; null while that is not known. */
  lastSeen(identity: Identity): Promise<string | null>;
  /** A `last_seen` that is yet to come is now. @throws ApiError NOT_FOUND for a view or a site that the caller does not see. */
  update(caller: Caller, change: PreferencesUpdate): Promise<Preferences>;
}

const DEFAULTS: Preferences = { theme: "system", zone: "local", single_keys: true, site_id: null, default_views: { devices: null, alerts: null }, columns: { devices: [] }, last_seen: null };

/** A view or a site that is no more is left out when they are read. */
export function createPreferences({ store, audit, clock }: { readonly store: WorkspaceStore; readonly audit: Audit; readonly clock: Pick<Clock, "now"> }): PreferencesService {
  const isSeen = async ({ tenantId, userId }: Identity, list: string, viewId: string) => (await store.view({ tenantId, userId, list }, viewId)) !== null;
  const shown = async (identity: Identity, stored: string | null): Promise<Preferences> => {
    const chosen = parse(stored);
    const view = async (list: "devices" | "alerts") => {
      const id = chosen.default_views[list];
      return id !== null && (await isSeen(identity, list, id)) ? id : null;
    };
    const isSite = chosen.site_id !== null && (await store.siteExists(identity.tenantId, chosen.site_id));
    return { ...chosen, site_id: isSite ? chosen.site_id : null, default_views: { devices: await view("devices"), alerts: await view("alerts") } };
  };
  return {
    read: async (identity) => shown(identity, await store.preferences(identity.userId)),
    lastSeen: async ({ userId }) => parse(await store.preferences(userId)).last_seen,

    async update({ identity, actor }, { default_views: views = {}, columns = {}, ...change }) {
      await requireSite(store, identity.tenantId, change.site_id);
      for (const list of ["devices", "alerts"] as const) {
        const id = views[list];
        if (id !== undefined && id !== null && !(await isSeen(identity, list, id))) throw notFound("view");
      }
      const now = toInstant(clock.now());
      if (change.last_seen && change.last_seen > now) change.last_seen = now;
      return store.transaction(async (trx) => {
        const before = await shown(identity, await store.holdPreferences(trx, identity.userId));
        const after = { ...before, ...given(change), default_views: { ...before.default_views, ...given(views) }, columns: { ...before.columns, ...given(columns) } };
        await store.setPreferences(trx, { user_id: identity.userId, tenant_id: identity.tenantId, preferences: JSON.stringify(after) });
        if (!isOnlySeen(before, after)) await audit(trx, { actor, action: "preferences.update", target: { type: "user", id: identity.userId }, before, after });
        return after;
      });
    },
  };
}

/** What an older version has stored and this one does not know is as if it had not been chosen. */
function parse(stored: string | null): Preferences {
  const chosen = stored === null ? null : Preferences.safeParse({ ...DEFAULTS, ...JSON.parse(stored) as object });
  return chosen?.data ?? DEFAULTS;
}

/** That a person looks again is no choice, and would fill the audit log. */
function isOnlySeen(before: Preferences, after: Preferences): boolean {
  return before.last_seen !== after.last_seen && JSON.stringify({ ...before, last_seen: null }) === JSON.stringify({ ...after, last_seen: null });
}

function given<T extends object>(change: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
