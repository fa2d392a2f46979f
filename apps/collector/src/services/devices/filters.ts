import { type ExpressionBuilder, type ExpressionWrapper, sql, type SqlBool } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** What a list of devices is narrowed to. Texts match any part, in any case. */
export interface DeviceFilter {
  readonly siteId?: string | undefined;
  readonly isOnline?: boolean | undefined;
  readonly presenceState?: string | undefined;
  readonly deviceType?: string | undefined;
  readonly vendor?: string | undefined;
  readonly os?: string | undefined;
  /** One whole tag. */
  readonly tag?: string | undefined;
  /** Last seen from this instant on, and before that one. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Part of the hostname, an address or the MAC. */
  readonly search?: string | undefined;
}

type Builder = ExpressionBuilder<Schema, "devices">;
type Condition = ExpressionWrapper<Schema, "devices", SqlBool>;

/** Whether `device_counts` tells how many there are. */
export function isCounted(filter: DeviceFilter): boolean {
  return !isSelective(filter) && filter.since === undefined && filter.until === undefined;
}

/** Whether few devices may match, so that all are looked through by an index that holds every filter, and the finds sorted. */
export function isSelective({ presenceState, deviceType, vendor, os, tag, search }: DeviceFilter): boolean {
  return [presenceState, deviceType, vendor, os, tag, search].some(Boolean);
}

/** The conditions of a filter within a tenant. */
export function matching(eb: Builder, tenantId: string, filter: DeviceFilter): Condition {
  const all: Condition[] = [eb("tenant_id", "=", tenantId)];
  if (filter.siteId !== undefined) all.push(eb("site_id", "=", filter.siteId));
  if (filter.isOnline !== undefined) all.push(eb("is_online", "=", filter.isOnline ? 1 : 0));
  if (filter.presenceState !== undefined) all.push(eb("presence_state", "=", filter.presenceState));
  if (filter.deviceType !== undefined) all.push(eb("device_type", "=", filter.deviceType));
  if (filter.vendor) all.push(contains(eb, "vendor", filter.vendor));
  if (filter.os) all.push(contains(eb, "os_guess", filter.os));
  if (filter.tag) all.push(tagged(eb, filter.tag));
  if (filter.since !== undefined) all.push(eb("last_seen", ">=", filter.since));
  if (filter.until !== undefined) all.push(eb("last_seen", "<", filter.until));
  if (filter.search) all.push(eb.or(searched(eb, tenantId, filter.search)));
  return eb.and(all);
}

/**
 * The tag as it stands in the JSON text of the list, quotes and all, so that `core` does not find `core-2`. Not LIKE, which
 * takes letters of any case in SQLite and of one case in PostgreSQL.
 */
function tagged(eb: Builder, tag: string): Condition {
  return sql<SqlBool>`replace(${eb.ref("tags")}, ${JSON.stringify(tag)}, '') <> ${eb.ref("tags")}` as unknown as Condition;
}

function searched(eb: Builder, tenantId: string, search: string): Condition[] {
  const text = search.trim();
  const any = [contains(eb, "hostname", text), contains(eb, "ip", text)];
  if (/^[\da-f.:]+$/i.test(text)) {
    any.push(eb("id", "in", eb.selectFrom("addresses").select("device_id").where("tenant_id", "=", tenantId).where((e) => like(e.ref("addresses.ip"), text))));
  }
  const mac = macPattern(text);
  if (mac !== null) {
    any.push(eb("id", "in", eb.selectFrom("interfaces").select("device_id").where("tenant_id", "=", tenantId)
      .where((e) => like(mac.includes(":") ? e.ref("interfaces.mac") : sql`replace(${e.ref("interfaces.mac")}, ':', '')`, mac))));
  }
  return any;
}

/**
 * Part of a MAC as people and other programs write it: in any case, with `:`, `-`, `.` or nothing between.
 * @returns With colons where pairs were given apart, which then match only whole pairs; else digits alone; null for no part of a MAC.
 */
function macPattern(text: string): string | null {
  if (/^[\da-f]{0,2}([:-][\da-f]{0,2}){1,6}$/i.test(text)) return text.replaceAll("-", ":").toLowerCase();
  return /^[\da-f]{1,12}$/i.test(text.replaceAll(".", "")) ? text.replaceAll(".", "").toLowerCase() : null;
}

function contains(eb: Builder, column: "hostname" | "ip" | "vendor" | "os_guess", text: string): Condition {
  return like(eb.ref(column), text) as unknown as Condition;
}

/** Holds `text` anywhere, in any case of its ASCII letters. Its `%` and `_` are letters like others. */
function like(column: unknown, text: string) {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<SqlBool>`lower(${column}) like ${pattern} escape '\\'`;
}
