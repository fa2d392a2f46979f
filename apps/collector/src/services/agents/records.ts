import { type EnrollmentTokenRecord, type Probe, ProbeHealth, type ProbeSettings } from "@lanthorn/contract";
import type { HealthRow, ProbeRow, TokenRow } from "./store.ts";

const STATES: ReadonlySet<string> = new Set(["enrolled", "online", "silent"] satisfies Probe["state"][]);

/** A probe's row as the API shows it. */
export function toProbe(row: ProbeRow): Probe {
  const { applied_revision, error } = acknowledgedOf(row.health);
  return {
    id: row.id, name: row.name, site_id: row.site_id, version: row.version, enrolled_at: row.enrolled_at, last_heard_at: row.last_heard_at,
    state: row.revoked_at === null && STATES.has(row.state) ? (row.state as Probe["state"]) : "revoked",
    certificate_expires_at: row.certificate_expires_at, watermark: row.watermark ?? 0, refused: JSON.parse(row.refused) as Probe["refused"],
    health: readHealth(row.health), configuration: { revision: revisionOf(row), applied_revision, error },
  };
}

/** An enrollment token as the API shows it: when it was used and by which probe, never its secret or hash. */
export function toTokenRecord({ id, site_id, created_at, expires_at, used_at, probe_id }: TokenRow): EnrollmentTokenRecord {
  return { id, site_id, created_at, expires_at, used_at, probe_id };
}

/** A stored sample. It was validated when it came and is not validated again. */
export function toHealth({ health }: HealthRow): ProbeHealth {
  return JSON.parse(health) as ProbeHealth;
}

/** What the probe has last said of its configuration. */
export function acknowledgedOf(health: string | null): Pick<ProbeSettings, "applied_revision" | "error" | "reported_at"> {
  const said = readHealth(health);
  if (!said?.configuration) return { applied_revision: null, error: null, reported_at: null };
  return { applied_revision: said.configuration.revision, error: said.configuration.error, reported_at: said.at };
}

/** The revision of a probe's settings: both parts only rise, and so does their sum. */
export function revisionOf(row: { readonly site_revision: number; readonly configuration_revision: number }): number {
  return row.site_revision + row.configuration_revision;
}

function readHealth(text: string | null): ProbeHealth | null {
  return text === null ? null : (ProbeHealth.safeParse(JSON.parse(text)).data ?? null);
}
