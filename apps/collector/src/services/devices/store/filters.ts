import { type Choice, isOpenChoice } from "@lanthorn/contract";
import { type ExpressionBuilder, type ExpressionWrapper, type RawBuilder, sql, type SqlBool } from "kysely";
import { holdsText } from "../../../db/query/like.ts";
import type { AddressRange } from "../../../db/keys/address-range.ts";
import { type IdRange, inRange } from "../../../db/query/id-ranges.ts";
import type { Schema } from "../../../db/schema.ts";

/** What a list of devices is narrowed to. Texts match any part, in any case. */
export interface DeviceFilter {
  readonly siteId?: Choice<string> | undefined;
  readonly isOnline?: boolean | undefined;
  readonly presenceState?: Choice<string> | undefined;
  readonly deviceType?: Choice<string> | undefined;
  readonly vendor?: Choice<string> | undefined;
  readonly os?: Choice<string> | undefined;
  /** Whole tags. */
  readonly tag?: Choice<string> | undefined;
  /** Networks that the device's address is in. */
  readonly subnet?: Choice<AddressRange> | undefined;
  readonly openPort?: Choice<number> | undefined;
  /** Queries of the ids of devices that have CVEs. */
  readonly cve?: Choice<RawBuilder<unknown>> | undefined;
  /** Last seen from this instant on, and before that one. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** First seen from this instant on, and before that one. */
  readonly foundSince?: string | undefined;
  readonly foundUntil?: string | undefined;
  /** Part of the hostname, an address or the MAC: see `search.ts`. */
  readonly search?: string | undefined;
}

type Builder = ExpressionBuilder<Schema, "devices">;
type Condition = ExpressionWrapper<Schema, "devices", SqlBool>;

/** Whether `device_counts` tells how many there are. */
export function isCounted(filter: DeviceFilter): boolean {
  const { siteId: _, isOnline: __, ...others } = filter;
  return Object.values(others).every(isOpen);
}

/** Whether nothing but the search narrows the list. */
export function isSearchAlone(filter: DeviceFilter): boolean {
  const { search: _, ...others } = filter;
  return Object.values(others).every(isOpen);
}

function isOpen(value: Choice<unknown> | string | boolean | undefined): boolean {
  return typeof value === "object" ? isOpenChoice(value) : value === undefined || value === "";
}

/** Whether walking the index of an order tells which devices match, without reading them. */
export function isInEveryIndex(filter: DeviceFilter): boolean {
  return isCounted(filter) && filter.isOnline === undefined;
}

/**
 * The conditions of a filter within a tenant, but for its search.
 * @param options.walk The column whose index is walked: no other index is then to be chosen for a condition's sake.
 * @param options.isById Whether the devices are looked up by their ids, and not by any of this.
 * @param options.range The ids among which they are looked up, and no others.
 */
export function matching(
  eb: Builder, tenantId: string, filter: DeviceFilter, options: { readonly walk?: string; readonly isById?: boolean; readonly range?: IdRange } = {},
): Condition {
  const all: Condition[] = [options.isById ? unindexed(eb, "tenant_id", "=", tenantId) : eb("tenant_id", "=", tenantId)];
  const { range } = options;
  if (range) all.push(inRange("devices.id", range) as unknown as Condition);
  if (filter.isOnline !== undefined) all.push(eb("is_online", "=", filter.isOnline ? 1 : 0));
  all.push(
    ...oneOf(filter.siteId, (values) => (options.isById ? eb(sql<string>`${eb.ref("site_id")} || ''`, "in", values) : eb("site_id", "in", values)), eb),
    ...oneOf(filter.presenceState, (values) => eb("presence_state", "in", values), eb),
    ...oneOf(filter.deviceType, (values) => eb("device_type", "in", values), eb),
    ...oneOf(filter.openPort, (ports) => eb("id", "in", withOpenPorts(eb, tenantId, ports, range)), eb),
    ...someOf(filter.cve, (ids) => isAmong(eb, ids, range), eb),
    ...someOf(filter.vendor, (text) => contains(eb, "vendor", text), eb),
    ...someOf(filter.os, (text) => contains(eb, "os_guess", text), eb),
    ...someOf(filter.tag, (tag) => tagged(eb, tag), eb),
  );
  const compare = (column: "first_seen" | "last_seen" | "ip_key", operator: "<" | "<=" | ">=", value: string) => {
    const isIndexed = !options.isById && (options.walk === undefined || options.walk === column);
    return isIndexed ? eb(column, operator, value) : unindexed(eb, column, operator, value);
  };
  all.push(...someOf(filter.subnet, ({ first, last }) => eb.and([compare("ip_key", ">=", first), compare("ip_key", "<=", last)]), eb));
  if (filter.since !== undefined) all.push(compare("last_seen", ">=", filter.since));
  if (filter.until !== undefined) all.push(compare("last_seen", "<", filter.until));
  if (filter.foundSince !== undefined) all.push(compare("first_seen", ">=", filter.foundSince));
  if (filter.foundUntil !== undefined) all.push(compare("first_seen", "<", filter.foundUntil));
  // One that nobody has seen was not seen before then either.
  if (filter.until !== undefined || filter.foundUntil !== undefined) all.push(eb("first_seen", "<>", ""));
  return eb.and(all);
}

/** The conditions of a choice among whole values, which one list of them says. */
function oneOf<T>(choice: Choice<T> | undefined, among: (values: readonly T[]) => Condition, eb: Builder): readonly Condition[] {
  const { any = [], none = [] } = choice ?? {};
  return [...(any.length > 0 ? [among(any)] : []), ...(none.length > 0 ? [eb.not(among(none))] : [])];
}

/** The conditions of a choice of which each value is a condition of its own. */
function someOf<T>(choice: Choice<T> | undefined, holds: (value: T) => Condition, eb: Builder): readonly Condition[] {
  const { any = [], none = [] } = choice ?? {};
  return [...(any.length > 0 ? [eb.or(any.map(holds))] : []), ...none.map((value) => eb.not(holds(value)))];
}

/** The ids of devices with one of these ports open, of either protocol, by the index of open ports. */
function withOpenPorts(eb: Builder, tenantId: string, ports: readonly number[], range: IdRange | undefined) {
  const open = eb.selectFrom("ports").select("ports.device_id").where("ports.tenant_id", "=", tenantId).where("ports.state", "=", sql.lit("open"))
    .where("ports.port", "in", ports);
  return range ? open.where(inRange("ports.device_id", range)) : open;
}

/** That a device is one of those that a query has. */
function isAmong(eb: Builder, ids: RawBuilder<unknown>, range: IdRange | undefined): Condition {
  const some = range ? sql`select device_id from (${ids}) as affected where ${inRange("device_id", range)}` : ids;
  return sql<SqlBool>`${eb.ref("devices.id")} in (${some})` as unknown as Condition;
}

/**
 * The tag as it stands in the JSON text of the list, quotes and all, so that `core` does not find `core-2`. Not LIKE, which
 * takes letters of any case in SQLite and of one case in PostgreSQL.
 */
function tagged(eb: Builder, tag: string): Condition {
  return sql<SqlBool>`replace(${eb.ref("tags")}, ${JSON.stringify(tag)}, '') <> ${eb.ref("tags")}` as unknown as Condition;
}

/** A condition that no index serves, on a column of texts. */
function unindexed(eb: Builder, column: "tenant_id" | "first_seen" | "last_seen" | "ip_key", operator: "=" | "<" | "<=" | ">=", value: string): Condition {
  return eb(sql<string>`${eb.ref(column)} || ''`, operator, value);
}

function contains(eb: Builder, column: "vendor" | "os_guess", text: string): Condition {
  return holdsText(eb.ref(column), text) as unknown as Condition;
}
