import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A probe's settings with its site's. */
export interface SettingsRow {
  readonly site_id: string;
  readonly name: string;
  readonly probe_configuration: string;
  readonly settings: string;
  readonly site_revision: number;
  readonly configuration_revision: number;
  readonly health: string | null;
}

/** Null for a probe that is not there. @param tenantId Null for whichever tenant's. */
export async function findSettings(handle: Kysely<Schema>, probeId: string, tenantId: string | null): Promise<SettingsRow | null> {
  const query = handle.selectFrom("probes").innerJoin("sites", "sites.id", "probes.site_id").select([
    "sites.id as site_id", "sites.name", "sites.probe_configuration", "sites.configuration_revision as site_revision", "probes.settings",
    "probes.configuration_revision", "probes.health",
  ]).where("probes.id", "=", probeId);
  return (await (tenantId === null ? query : query.where("probes.tenant_id", "=", tenantId)).executeTakeFirst()) ?? null;
}

/**
 * Counts a probe's settings up and holds its row, so that of two changes at once the second sees what the first has set.
 * @returns The settings; null for a probe that the tenant does not have.
 */
export async function holdSettings(trx: Transaction<Schema>, probeId: string, tenantId: string): Promise<SettingsRow | null> {
  const held = await trx.updateTable("probes").set((eb) => ({ configuration_revision: eb("configuration_revision", "+", 1) }))
    .where("id", "=", probeId).where("tenant_id", "=", tenantId).returning("id").executeTakeFirst();
  return held ? findSettings(trx, probeId, tenantId) : null;
}

/** Sets a probe's own settings, as JSON text. */
export async function setSettings(trx: Transaction<Schema>, probeId: string, settings: string): Promise<void> {
  await trx.updateTable("probes").set({ settings }).where("id", "=", probeId).execute();
}
