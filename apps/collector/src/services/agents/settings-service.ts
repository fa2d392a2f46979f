import {
  MESSAGE_VERSION, ProbeConfiguration, type ProbeSettings, type ProbeSettingsUpdate,
} from "@lanthorn/contract";
import type { Kysely } from "kysely";
import { plainNetworks } from "../../db/plain-networks.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { acknowledgedOf, revisionOf } from "./records.ts";

/** What each probe gets: its site's settings, overridden by its own, and its credentials. */
export interface SettingsService {
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, probeId: string): Promise<ProbeSettings>;
  /** The settings are sent to the probe when they are committed. @throws ApiError NOT_FOUND; BAD_REQUEST for more exclusions than a probe takes. */
  update(actor: Actor, probeId: string, change: ProbeSettingsUpdate): Promise<ProbeSettings>;
  /** As it goes over the wire; null for a probe that is not there. */
  configurationOf(probeId: string): Promise<ProbeConfiguration | null>;
}

type Own = ProbeSettings["own"];

interface Row {
  readonly name: string;
  readonly probe_configuration: string;
  readonly settings: string;
  readonly site_revision: number;
  readonly configuration_revision: number;
  readonly health: string | null;
}

export function createSettingsService(deps: {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  /** What the probe is handed: sealed to its key, and how many. */
  readonly credentials: { sealedFor(probeId: string): Promise<string | undefined>; countFor(probeId: string): Promise<number> };
  readonly audit: Audit;
  /** After a change was committed; nobody waits for it. */
  readonly onConfigured: (probeIds: readonly string[]) => Promise<void>;
}): SettingsService {
  const { db, reads, credentials } = deps;
  const find = (
    handle: Kysely<Schema>, probeId: string,
  ) => handle.selectFrom("probes").innerJoin("sites", "sites.id", "probes.site_id").select([
    "sites.name", "sites.probe_configuration", "sites.configuration_revision as site_revision", "probes.settings",
    "probes.configuration_revision", "probes.health",
  ]).where("probes.id", "=", probeId);
  const show = async (probeId: string, row: Row): Promise<ProbeSettings> => ({
    own: ownOf(row), effective: effectiveOf(row), credentials: await credentials.countFor(probeId), revision: revisionOf(row),
    ...acknowledgedOf(row.health),
  });

  return {
    async read(tenantId, probeId) {
      const row = await find(reads, probeId).where("probes.tenant_id", "=", tenantId).executeTakeFirst();
      if (!row) throw notFound("probe");
      return show(probeId, row);
    },

    async update(actor, probeId, change) {
      const after = await db.transaction().execute(async (trx) => {
        // It locks the row, so that of two at once the second sees what the first has set.
        const held = await trx.updateTable("probes").set((eb) => ({ configuration_revision: eb("configuration_revision", "+", 1) }))
          .where("id", "=", probeId).where("tenant_id", "=", actor.tenantId).returning("id").executeTakeFirst();
        const before = held && (await find(trx, probeId).executeTakeFirst());
        if (!before) throw notFound("probe");
        const own = changed(ownOf(before), change);
        const row = { ...before, settings: JSON.stringify(own) };
        if (!ProbeConfiguration.shape.excluded.safeParse(effectiveOf(row).excluded).success) {
          throw badRequest([{ path: ["excluded"], message: "with the site's, more than a probe accepts" }]);
        }
        await trx.updateTable("probes").set({ settings: row.settings }).where("id", "=", probeId).execute();
        await deps.audit(trx, {
          actor, action: "probe.configure", target: { type: "probe", id: probeId }, before: ownOf(before), after: own,
        });
        return row;
      });
      void deps.onConfigured([probeId]);
      return show(probeId, after);
    },

    async configurationOf(probeId) {
      const row = await find(reads, probeId).executeTakeFirst();
      if (!row) return null;
      const sealed = await credentials.sealedFor(probeId);
      return ProbeConfiguration.parse({
        v: MESSAGE_VERSION, revision: revisionOf(row), site_name: row.name, ...effectiveOf(row),
        ...(sealed !== undefined && { credentials: sealed }),
      });
    },
  };
}

function ownOf({ settings }: Pick<Row, "settings">): Own {
  return { sweep: {}, excluded: [], ...(JSON.parse(settings) as Partial<Own>) };
}

function effectiveOf(row: Pick<Row, "settings" | "probe_configuration">): ProbeSettings["effective"] {
  const site = JSON.parse(row.probe_configuration) as Partial<ProbeSettings["effective"]>;
  const own = ownOf(row);
  const sweep = { ...site.sweep, ...own.sweep } as ProbeSettings["effective"]["sweep"];
  return { sweep, excluded: [...new Set([...(site.excluded ?? []), ...own.excluded])] };
}

function changed(own: Own, { sweep, excluded }: ProbeSettingsUpdate): Own {
  const given = Object.fromEntries(Object.entries(sweep ?? {}).filter(([, value]) => value !== undefined));
  return {
    sweep: sweep === null ? {} : { ...own.sweep, ...given },
    excluded: excluded === undefined ? own.excluded : plainNetworks(excluded ?? []),
  };
}
