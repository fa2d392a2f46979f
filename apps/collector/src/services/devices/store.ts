import type { DEVICE_SORT_FIELDS } from "@lanthorn/contract";
import { type ExpressionBuilder, type ExpressionWrapper, type Kysely, type Selectable, sql, type SqlBool } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Position } from "./cursor.ts";

export type DeviceRow = Selectable<Schema["devices"]>;
export type DeviceSortField = (typeof DEVICE_SORT_FIELDS)[number];

export interface DeviceFilter {
  readonly siteId?: string | undefined;
  readonly isOnline?: boolean | undefined;
  /** Part of the vendor's name, in any case. */
  readonly vendor?: string | undefined;
  readonly os?: string | undefined;
  /** Part of the hostname, an address or the MAC. */
  readonly search?: string | undefined;
}

export interface DevicePage {
  readonly field: DeviceSortField;
  readonly descending: boolean;
  readonly limit: number;
  /** Rows to skip, or the row after which to go on. */
  readonly from: number | Position;
}

/** Everything that is kept of one device beside its row. */
export interface DeviceParts {
  readonly interfaces: readonly Selectable<Schema["interfaces"]>[];
  readonly addresses: readonly Selectable<Schema["addresses"]>[];
  readonly ports: readonly Selectable<Schema["ports"]>[];
  readonly changes: readonly Selectable<Schema["device_changes"]>[];
  readonly evidence: readonly Selectable<Schema["evidence"]>[];
}

export interface DevicesStore {
  list(tenantId: string, filter: DeviceFilter, page: DevicePage): Promise<readonly DeviceRow[]>;
  count(tenantId: string, filter: DeviceFilter): Promise<number>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  byId(tenantId: string, deviceId: string): Promise<DeviceRow | null>;
  /** @param newestChanges How many changes, newest first. */
  parts(tenantId: string, deviceId: string, newestChanges: number): Promise<DeviceParts>;
}

/** The column that a list is sorted by; each has an index that begins with the tenant and ends with the id. */
export const SORT_COLUMNS = { ip: "ip_key", hostname: "hostname", last_seen: "last_seen", vendor: "vendor" } as const satisfies Record<DeviceSortField, keyof DeviceRow>;

type Builder = ExpressionBuilder<Schema, "devices">;
type Condition = ExpressionWrapper<Schema, "devices", SqlBool>;

export function createDevicesStore({ reads }: { readonly reads: Kysely<Schema> }): DevicesStore {
  return {
    async list(tenantId, filter, { field, descending, limit, from }) {
      const column = SORT_COLUMNS[field];
      const direction = descending ? "desc" : "asc";
      // With a text to look for, the index that holds all texts is read and its finds are sorted; walking the devices in
      // their order instead reads every row when few match. An expression in the order keeps the planner from the walk.
      const sorted = hasText(filter) ? sql<string>`${sql.ref(column)} || ''` : column;
      let ids = reads.selectFrom("devices").select("id")
        .where((eb) => eb.and(conditions(eb, tenantId, filter))).orderBy(sorted, direction).orderBy("id", direction).limit(limit);
      if (typeof from === "number") ids = ids.offset(from);
      else ids = ids.where((eb) => eb(eb.refTuple(column, "id"), descending ? "<" : ">", eb.tuple(from.value, from.id)));
      // Rows are read only for the ids of the page, so that skipping to a late page walks the index alone.
      return reads.selectFrom("devices").selectAll().where("id", "in", ids).orderBy(column, direction).orderBy("id", direction).execute();
    },

    async count(tenantId, filter) {
      if (!hasText(filter)) {
        let counts = reads.selectFrom("device_counts").select((eb) => eb.fn.sum<number | null>("devices").as("total")).where("tenant_id", "=", tenantId);
        if (filter.siteId !== undefined) counts = counts.where("site_id", "=", filter.siteId);
        if (filter.isOnline !== undefined) counts = counts.where("is_online", "=", filter.isOnline ? 1 : 0);
        return (await counts.executeTakeFirstOrThrow()).total ?? 0;
      }
      const row = await reads.selectFrom("devices").select((eb) => eb.fn.countAll<number>().as("total"))
        .where((eb) => eb.and(conditions(eb, tenantId, filter))).executeTakeFirstOrThrow();
      return row.total;
    },

    async siteExists(tenantId, siteId) {
      return (await reads.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).where("id", "=", siteId).executeTakeFirst()) !== undefined;
    },

    async byId(tenantId, deviceId) {
      return (await reads.selectFrom("devices").selectAll().where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst()) ?? null;
    },

    async parts(tenantId, deviceId, newestChanges) {
      return {
        interfaces: await reads.selectFrom("interfaces").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId).orderBy("mac").execute(),
        addresses: await reads.selectFrom("addresses").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId).orderBy("ip_key").execute(),
        ports: await reads.selectFrom("ports").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("port").orderBy("protocol").execute(),
        changes: await reads.selectFrom("device_changes").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("id", "desc").limit(newestChanges).execute(),
        evidence: await reads.selectFrom("evidence").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("field").orderBy("seen_at", "desc").execute(),
      };
    },
  };
}

function hasText({ vendor, os, search }: DeviceFilter): boolean {
  return Boolean(vendor) || Boolean(os) || Boolean(search);
}

function conditions(eb: Builder, tenantId: string, filter: DeviceFilter): Condition[] {
  const all: Condition[] = [eb("tenant_id", "=", tenantId)];
  if (filter.siteId !== undefined) all.push(eb("site_id", "=", filter.siteId));
  if (filter.isOnline !== undefined) all.push(eb("is_online", "=", filter.isOnline ? 1 : 0));
  if (filter.vendor) all.push(contains(eb, "vendor", filter.vendor));
  if (filter.os) all.push(contains(eb, "os_guess", filter.os));
  if (filter.search) all.push(eb.or(searched(eb, tenantId, filter.search)));
  return all;
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
