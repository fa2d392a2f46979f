import { createHash } from "node:crypto";
import { type EventData, stricterDnsQueryLevel } from "@lanthorn/contract";
import { createId, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { AppendedEvent } from "../../../events/log.ts";
import type { Reaction } from "../../../events/reaction.ts";
import { type QuerySettingsRow, readQuerySettings } from "./settings-store.ts";
import { countEntries, devicesAt, type HourRow, putQueries, type QueryRow, readByKeys, readHours } from "./store.ts";

type Reported = AppendedEvent<"dns_queries">;
type ReportedRow = EventData<"dns_queries">["rows"][number];
type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** Rows of a site: of one hour, and of all that are kept. What is more is only counted, whatever probes report. */
export const MAX_ROWS = { hour: 20_000, site: 200_000 } as const;
/** No sum of an hour is greater, so that sums of many hours and sites are exact. */
const MAX_SUM = 10_000_000_000;
const HOUR_CHARACTERS = "2026-11-20T08".length;
const DAY_MS = 86_400_000;

/**
 * Adds what a resolver was asked to the hour in which it was; what is older than `keepDays`, or than its site keeps it, is over. What a probe reports beyond
 * its site's level, because it does not have it yet or never will, is not kept.
 */
export function createQueriesReaction({ keepDays }: { readonly keepDays: number }): Reaction<"dns_queries"> {
  return {
    types: ["dns_queries"],
    async react(trx, { tenantId }, events) {
      const settings = await readQuerySettings(trx, [...new Set(events.flatMap(({ site_id: id }) => id ?? []))]);
      for (const event of events) {
        if (event.site_id === null) continue;
        const decided = settings.get(event.site_id);
        const data = allowedOf(event.data, decided);
        if (data) await addReport(trx, { tenantId, siteId: event.site_id, keepDays: Math.min(keepDays, decided?.keep_days ?? keepDays) }, { ...event, data });
        // After an outage hundreds come together, each with some hundred rows.
        if (events.length > 1) await nextTurn();
      }
    },
  };
}

/** As much of a report as the stricter of its own level and its site's allows, whatever rows came under its name; null for nothing. */
function allowedOf(data: Reported["data"], settings: Pick<QuerySettingsRow, "level"> | undefined): Reported["data"] | null {
  const level = stricterDnsQueryLevel(data.level, settings?.level ?? null);
  if (level === "off") return null;
  if (level === "counts") return { ...data, level, left_out: 0, rows: [] };
  return { ...data, level, rows: level === "blocked" ? data.rows.filter(({ action }) => action !== "resolved") : data.rows };
}

/** The begin of its hour. @param at An instant. */
export function hourOf(at: string): string {
  return `${at.slice(0, HOUR_CHARACTERS)}:00:00.000Z`;
}

async function addReport(
  trx: Transaction<Schema>, { tenantId, siteId, keepDays }: { readonly tenantId: string; readonly siteId: string; readonly keepDays: number },
  { data, occurred_at: occurredAt, received_at: receivedAt }: Reported,
): Promise<void> {
  const oldest = hourOf(toInstant(Date.parse(receivedAt) - keepDays * DAY_MS));
  if (hourOf(occurredAt) < oldest) return;
  const rows = data.rows.map((row) => ({ ...row, hour: hourOf(row.last_at), key: keyOf(siteId, row) })).filter(({ hour }) => hour >= oldest);
  const wanted = [...new Set([hourOf(occurredAt), ...rows.map(({ hour }) => hour)])];
  const hours = new Map<string, Changing<HourRow>>((await readHours(trx, siteId, wanted)).map((row) => [row.hour, { ...row }]));
  const known = new Map<string, Changing<QueryRow>>((await readByKeys(trx, rows.map(({ key }) => key))).map((row) => [row.key, { ...row }]));
  const devices = await devicesAt(trx, siteId, [...new Set(rows.map(({ client_ip: ip }) => ip))]);
  let total = await countEntries(trx, siteId);
  const reported = { level: data.level, reported_at: occurredAt };
  for (const hour of wanted) {
    if (!hours.has(hour)) hours.set(hour, { site_id: siteId, hour, tenant_id: tenantId, queries: 0, from_cache: 0, failed: 0, blocked: 0, observed: 0, left_out: 0, entries: 0, ...reported });
  }
  const sum = hours.get(hourOf(occurredAt)) as Changing<HourRow>;
  for (const count of ["queries", "from_cache", "failed", "blocked", "observed", "left_out"] as const) sum[count] = Math.min(MAX_SUM, sum[count] + data[count]);
  if (occurredAt >= sum.reported_at) Object.assign(sum, reported);
  for (const { hour, key, client_ip, name, type, action, list, times, last_at } of rows) {
    const first_at = data.from > last_at ? last_at : data.from < hour ? hour : data.from;
    const old = known.get(key);
    if (old) {
      old.times = Math.min(MAX_SUM, old.times + times);
      if (first_at < old.first_at) old.first_at = first_at;
      if (last_at > old.last_at) old.last_at = last_at;
      old.device_id = devices.get(client_ip) ?? old.device_id;
      continue;
    }
    const its = hours.get(hour) as Changing<HourRow>;
    if (its.entries >= MAX_ROWS.hour || total >= MAX_ROWS.site) {
      its.left_out = Math.min(MAX_SUM, its.left_out + times);
      continue;
    }
    [its.entries, total] = [its.entries + 1, total + 1];
    known.set(key, { id: createId(), key, tenant_id: tenantId, site_id: siteId, hour, client_ip, device_id: devices.get(client_ip) ?? null, name, type, action, list, times, first_at, last_at });
  }
  await putQueries(trx, [...hours.values()], [...known.values()]);
}

/** Of all that rows which are one share. */
function keyOf(siteId: string, { client_ip: ip, name, type, action, list, last_at: at }: ReportedRow): string {
  return createHash("sha256").update(JSON.stringify([siteId, hourOf(at), ip, name, type, action, list])).digest("base64url").slice(0, 27);
}
