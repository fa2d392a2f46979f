import {
  type AnomaliesPart, type BundleAnnouncement, type CaptureSettings, type DecoysPart, type GuardsPart, MESSAGE_VERSION, ProbeConfiguration, type ProbeSettings, type ProbeSettingsUpdate,
} from "@lanthorn/contract";
import type { Kysely } from "kysely";
import { plainNetworks } from "../../db/keys/plain-networks.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { acknowledgedOf, revisionOf } from "./records.ts";
import { findSettings, holdSettings, type SettingsRow, setSettings } from "./settings-store.ts";

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

/** @param deps.onConfigured It must not reject: nobody waits for it. */
export function createSettingsService(deps: {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  /** What the probe is handed: sealed to its key, and how many. */
  readonly credentials: { sealedFor(probeId: string): Promise<string | undefined>; countFor(probeId: string): Promise<number> };
  /** The newest bundles of files that are announced to the probes of a site. */
  readonly bundles: { listFor(siteId: string): Promise<readonly BundleAnnouncement[]> };
  /** What the guards of a site's probes go by; undefined where nothing is set. */
  readonly guards: { partFor(siteId: string): Promise<GuardsPart | undefined> };
  /** Settings of a site's captures; undefined where nothing is set. */
  readonly captures: { partFor(siteId: string): Promise<CaptureSettings | undefined> };
  /** Who may touch a site's decoys, undefined for nobody; and for which key passwords that are tried there are sealed. */
  readonly decoys: { partFor(siteId: string): Promise<DecoysPart | undefined>; passwordKey(): string | undefined };
  /** What people say is normal for devices. */
  readonly anomalies: { partFor(siteId: string): Promise<AnomaliesPart | undefined> };
  readonly audit: Audit;
  /** After a change was committed; nobody waits for it. */
  readonly onConfigured: (probeIds: readonly string[]) => Promise<void>;
}): SettingsService {
  const { db, reads, credentials } = deps;
  const show = async (probeId: string, row: SettingsRow): Promise<ProbeSettings> => ({
    own: ownOf(row), effective: effectiveOf(row), credentials: await credentials.countFor(probeId), revision: revisionOf(row),
    ...acknowledgedOf(row.health),
  });

  return {
    async read(tenantId, probeId) {
      const row = await findSettings(reads, probeId, tenantId);
      if (!row) throw notFound("probe");
      return show(probeId, row);
    },

    async update(actor, probeId, change) {
      const after = await db.transaction().execute(async (trx) => {
        const before = await holdSettings(trx, probeId, actor.tenantId);
        if (!before) throw notFound("probe");
        const own = changed(ownOf(before), change);
        const row = { ...before, settings: JSON.stringify(own) };
        if (!ProbeConfiguration.shape.excluded.safeParse(effectiveOf(row).excluded).success) {
          throw badRequest([{ path: ["excluded"], message: "with the site's, more than a probe accepts" }]);
        }
        await setSettings(trx, probeId, row.settings);
        await deps.audit(trx, {
          actor, action: "probe.configure", target: { type: "probe", id: probeId }, before: ownOf(before), after: own,
        });
        return row;
      });
      void deps.onConfigured([probeId]);
      return show(probeId, after);
    },

    async configurationOf(probeId) {
      const row = await findSettings(reads, probeId, null);
      if (!row) return null;
      const sealed = await credentials.sealedFor(probeId);
      const bundles = await deps.bundles.listFor(row.site_id);
      const [guards, capture, anomalies] = [await deps.guards.partFor(row.site_id), await deps.captures.partFor(row.site_id), await deps.anomalies.partFor(row.site_id)];
      const [decoys, passwordKey] = [await deps.decoys.partFor(row.site_id), deps.decoys.passwordKey()];
      return ProbeConfiguration.parse({
        v: MESSAGE_VERSION, revision: revisionOf(row), site_name: row.name, ...effectiveOf(row),
        ...(sealed !== undefined && { credentials: sealed }), ...(bundles.length > 0 && { bundles }), ...(guards && { guards }), ...(capture && { capture }), ...(anomalies && { anomalies }),
        ...(decoys && { decoys }), ...(passwordKey !== undefined && { password_key: passwordKey }),
      });
    },
  };
}

function ownOf({ settings }: Pick<SettingsRow, "settings">): Own {
  return { sweep: {}, excluded: [], ...(JSON.parse(settings) as Partial<Own>) };
}

function effectiveOf(row: Pick<SettingsRow, "settings" | "probe_configuration">): ProbeSettings["effective"] {
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
