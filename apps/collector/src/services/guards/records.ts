import { type GuardExceptionRecord, type GuardsPart, type ProbeGuards, ProbeHealth, type SiteGuards } from "@lanthorn/contract";
import type { ExceptionRow, GuardedProbe } from "./store.ts";

/** What people set of a site's guards. */
export type Settings = Pick<SiteGuards, "enabled" | "active" | "learning_minutes" | "quiet_seconds" | "dhcp_servers" | "routers" | "roaming_gateways">;

/** Of a site where nothing was set: as the probes' own files have it. */
const DEFAULTS: Settings = {
  enabled: true, active: true, learning_minutes: null, quiet_seconds: null, dhcp_servers: [], routers: [], roaming_gateways: false,
};

/** Settings as they are stored. @param text Null where nothing was set. */
export function readSettings(text: string | null): Settings {
  return { ...DEFAULTS, ...(text === null ? {} : (JSON.parse(text) as Partial<Settings>)) };
}

/** An exception as the API shows it. */
export function toException(row: ExceptionRow): GuardExceptionRecord {
  const { id, site_id, kind, ip, mac, reason, created_by, created_at, expires_at } = row;
  // What is stored has come in by its schema.
  return { id, site_id, kind: kind as GuardExceptionRecord["kind"], ip, mac, reason, created_by, created_at, expires_at };
}

/**
 * What is sent to a probe: null stands for the probe's own file. Reasons are for people and stay here: a thousand of them would make a
 * configuration larger than the payload that a broker takes.
 */
export function toPart({ learning_minutes: learning, quiet_seconds: quiet, ...settings }: Settings, exceptions: readonly ExceptionRow[]): GuardsPart {
  return {
    ...settings, ...(learning !== null && { learning_minutes: learning }), ...(quiet !== null && { quiet_seconds: quiet }),
    exceptions: exceptions.map(({ kind, ip, mac, expires_at: until }) => ({
      ...(kind !== null && { kind }), ...(ip !== null && { ip }), ...(mac !== null && { mac }), ...(until !== null && { until }),
      reason: "",
    })),
  };
}

/** A probe's guards as the API shows them. @param now An instant. */
export function toProbeGuards(
  { id, name, presence, health, asked_at: askedAt, asked_by: askedBy, answer_by: answerBy, status, error }: GuardedProbe, now: string,
): ProbeGuards {
  const state = health === null ? null : (ProbeHealth.safeParse(JSON.parse(health)).data?.guards ?? null);
  const probe = { probe_id: id, name, is_online: presence === "online", state };
  if (askedAt === null || askedBy === null || answerBy === null) return { ...probe, learning: null };
  return { ...probe, learning: { asked_at: askedAt, asked_by: askedBy, status: statusOf(status, answerBy <= now), error } };
}

function statusOf(status: string | null, isOverdue: boolean): "sent" | "done" | "failed" | "no_answer" {
  if (status === "done" || status === "failed") return status;
  return isOverdue ? "no_answer" : "sent";
}
