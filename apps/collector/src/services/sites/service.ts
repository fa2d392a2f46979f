import type { List, ProbeConfiguration, Site, SiteCreate, SitesQuery, SiteUpdate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { isDuplicate, isStillUsed } from "../../db/constraints.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { plainNetworks } from "../../db/keys/plain-networks.ts";
import { type SiteSummaries, siteSummaries } from "./summaries.ts";
import type { SiteRow, SitesStore } from "./store.ts";

type ProbeSettings = Pick<ProbeConfiguration, "sweep" | "excluded">;

/** A sweep every five minutes at the probe's own default rate. */
const DEFAULT_SETTINGS: ProbeSettings = { sweep: { enabled: true, interval_seconds: 300, packets_per_second: 200 }, excluded: [] };

/** The settings of a new site's probes, as the JSON text in its row. */
export const DEFAULT_SITE_CONFIGURATION = JSON.stringify(DEFAULT_SETTINGS);

/** A tenant's sites, in the order of creation. Each change writes its audit record in the same transaction. */
export interface SitesService extends SiteSummaries {
  list(tenantId: string, query: SitesQuery): Promise<List<Site>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, siteId: string): Promise<Site>;
  /** @throws ApiError CONFLICT for a name that is taken. */
  create(actor: Actor, site: SiteCreate): Promise<Site>;
  /** The change is sent to its probes when it is committed. @throws ApiError NOT_FOUND, CONFLICT for a name that is taken. */
  update(actor: Actor, siteId: string, change: SiteUpdate): Promise<Site>;
  /** @throws ApiError NOT_FOUND, CONFLICT while probes or devices are there, with their numbers in `details`. */
  remove(actor: Actor, siteId: string): Promise<void>;
}

interface SitesDependencies {
  readonly store: SitesStore;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  /** Called after a change of its probes' settings was committed; nobody waits for it. */
  readonly onConfigured: (siteId: string) => Promise<void>;
}

/** @param deps.onConfigured It must not reject: nobody waits for it. */
export function createSitesService({ store, audit, clock, onConfigured }: SitesDependencies): SitesService {
  const write = (actor: Actor, action: string, siteId: string, states: { readonly before: Site | null; readonly after: Site | null }) =>
    ({ actor, action, target: { type: "site", id: siteId }, ...states });

  return {
    ...siteSummaries(store),

    list(tenantId, { search, ...page }) {
      const filter = { tenantId, search };
      return pageById(page, { read: (rows) => store.list(filter, rows), count: () => store.count(filter), show: toSite });
    },

    async read(tenantId, siteId) {
      const row = await store.byId(tenantId, siteId);
      if (!row) throw notFound("site");
      return toSite(row);
    },

    create: (actor, site) => store.transaction(async (trx) => {
      const row = await store.create(trx, {
        id: createId(), tenant_id: actor.tenantId, name: site.name, created_at: toInstant(clock.now()), time_zone: site.time_zone ?? null,
        probe_configuration: JSON.stringify(changed(DEFAULT_SETTINGS, site)),
        scan_networks: JSON.stringify(plainNetworks(site.scan_networks ?? [])),
      }).catch((error: unknown) => { throw isDuplicate(error) ? nameTaken(site.name) : error; });
      await audit(trx, write(actor, "site.create", row.id, { before: null, after: toSite(row) }));
      return toSite(row);
    }),

    async update(actor, siteId, change) {
      const site = await store.transaction(async (trx) => {
        const before = await store.hold(trx, actor.tenantId, siteId);
        if (!before) throw notFound("site");
        const after = await store.update(trx, siteId, {
          name: change.name ?? before.name, time_zone: change.time_zone === undefined ? before.time_zone : change.time_zone,
          probe_configuration: JSON.stringify(changed(settingsOf(before), change)),
          scan_networks: change.scan_networks === undefined ? before.scan_networks : JSON.stringify(plainNetworks(change.scan_networks)),
          configuration_revision: before.configuration_revision + 1,
        }).catch((error: unknown) => { throw isDuplicate(error) ? nameTaken(change.name ?? "") : error; });
        await audit(trx, write(actor, "site.update", siteId, { before: toSite(before), after: toSite(after) }));
        return toSite(after);
      });
      void onConfigured(siteId);
      return site;
    },

    remove: (actor, siteId) => store.transaction(async (trx) => {
      const site = await store.hold(trx, actor.tenantId, siteId);
      if (!site) throw notFound("site");
      const users = await store.countUsers(trx, siteId);
      if (users.probes > 0 || users.devices > 0) {
        throw new ApiError("CONFLICT", "the site still has probes or devices: revoke and delete them first", { details: users });
      }
      await store.remove(trx, siteId).catch((error: unknown) => {
        throw isStillUsed(error) ? new ApiError("CONFLICT", "other records still belong to the site", { cause: error }) : error;
      });
      await audit(trx, write(actor, "site.delete", siteId, { before: toSite(site), after: null }));
    }),
  };
}

function settingsOf(row: SiteRow): ProbeSettings {
  return { ...DEFAULT_SETTINGS, ...(JSON.parse(row.probe_configuration) as Partial<ProbeSettings>) };
}

function changed(settings: ProbeSettings, { sweep = {}, excluded }: SiteUpdate): ProbeSettings {
  const given = Object.fromEntries(Object.entries(sweep).filter(([, value]) => value !== undefined));
  return { sweep: { ...settings.sweep, ...given }, excluded: excluded === undefined ? settings.excluded : plainNetworks(excluded) };
}

function toSite(row: SiteRow): Site {
  const { sweep, excluded } = settingsOf(row);
  return {
    id: row.id, name: row.name, created_at: row.created_at, time_zone: row.time_zone, sweep, excluded, scan_networks: JSON.parse(row.scan_networks) as string[],
    configuration_revision: row.configuration_revision,
  };
}

function nameTaken(name: string): ApiError {
  return new ApiError("CONFLICT", `the site name ${name} is taken`);
}
