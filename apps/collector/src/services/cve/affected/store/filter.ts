import type { AffectedCvesExportQuery } from "@lanthorn/contract";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { holdsText } from "../../../../db/query/like.ts";
import { among } from "../../../../db/query/select-in.ts";
import type { SuppressionPlan } from "../../suppressions/plan.ts";

/** Which matches of a tenant are read. */
export interface MatchFilter {
  readonly tenantId: string;
  /** ISO instant, by which suppressions expire. */
  readonly now: string;
  readonly plan: SuppressionPlan;
  readonly query: MatchQuery;
}

/** What the filters of the interface say of a match, but its order. */
export type MatchQuery = Pick<AffectedCvesExportQuery, "status" | "confidence"> & Partial<Omit<AffectedCvesExportQuery, "sort">>;

/**
 * Conditions name tables as all queries of matches do: `ss` is software where it runs, `d` its device, `j` a judgment of it, `js` the software
 * itself, `c` the CVE.
 */
type Condition = RawBuilder<SqlBool>;

/** What counts: open, and likely or confirmed. */
export const COUNTED: MatchQuery = { status: ["open"], confidence: ["confirmed", "likely"] };

const ALWAYS: Condition = sql`1 = 1`;

/** All of the conditions together. */
export function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? ALWAYS : sql`${sql.join(conditions, sql` and `)}`;
}

function anyOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join(conditions, sql` or `)})`;
}

function isIn(column: string, values: readonly string[]): Condition {
  return values.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} in (${sql.join(values)})`;
}

/** Conditions of a CVE itself, of `c`. */
export function cveConditions({ query }: MatchFilter): readonly Condition[] {
  const { severity, cvss_min: cvssMin = 0, known_exploited: isKnown, search } = query;
  return [
    ...(severity ? [isIn("c.severity", severity)] : []), ...(cvssMin > 0 ? [sql<SqlBool>`c.score >= ${cvssMin}`] : []),
    ...(isKnown === undefined ? [] : [sql<SqlBool>`c.is_kev = ${isKnown ? 1 : 0}`]),
    ...(search ? [anyOf([holdsText(sql.ref("c.cve_id"), search), holdsText(sql.ref("c.description"), search)])] : []),
  ];
}

/** Conditions of where software runs: of `ss` and, for a site, `d`. */
export function placeConditions({ tenantId, query: { site_id: site, device_id: device, product } }: MatchFilter): readonly Condition[] {
  return [
    sql`ss.tenant_id = ${tenantId}`, ...(device === undefined ? [] : [sql<SqlBool>`ss.device_id = ${device}`]),
    ...(product === undefined ? [] : [sql<SqlBool>`ss.product = ${product}`]), ...(site === undefined ? [] : [sql<SqlBool>`d.site_id = ${site}`]),
  ];
}

/** Conditions of `ss`, `d` and `j`: that they are a match which the filter lets through. */
export function matchConditions(filter: MatchFilter): readonly Condition[] {
  const { status: statuses, confidence } = filter.query;
  return [...placeConditions(filter), isIn("j.confidence", confidence), anyOf(statuses.map((status) => hasStatus(filter, status)))];
}

const HOLDS: Condition = sql`ss.until is null and j.until is null`;
/** That the same service has it by other software. */
const STILL_HOLDS: Condition = sql`exists (
  select 1 from service_software s2 join cve_judgments j2 on j2.software_id = s2.software_id
  where s2.device_id = ss.device_id and s2.service_key = ss.service_key and s2.until is null and j2.cve_id = j.cve_id and j2.until is null
)`;

function hasStatus(filter: MatchFilter, status: MatchQuery["status"][number]): Condition {
  if (status === "patched-by-distribution") return sql`(${HOLDS} and j.status = ${status})`;
  if (status === "resolved") return sql`(not (${HOLDS}) and j.status = 'open' and not ${STILL_HOLDS})`;
  return sql`(${HOLDS} and j.status = 'open' and ${status === "open" ? sql`not ` : sql``}${isSuppressed(filter)})`;
}

/** That a suppression applies to `ss`, `d` and `j`. */
export function isSuppressed({ tenantId, now, plan: { products, pairs, local } }: MatchFilter): Condition {
  const isOfMatch: Condition = sql`p.tenant_id = ${tenantId} and (p.cve_id is null or p.cve_id = j.cve_id) and (p.product is null or p.product = ss.product)
    and (p.site_id is null or p.site_id = d.site_id) and (p.expires_at is null or p.expires_at > ${now})`;
  return anyOf([
    isIn("ss.product", products), ...(pairs.length === 0 ? [] : [sql<SqlBool>`${among(["j.cve_id", "ss.product"], pairs)}`]),
    ...(local === null ? [] : [
      sql<SqlBool>`exists (select 1 from cve_suppressions p where p.device_id = ss.device_id and ${isOfMatch})`,
      sql<SqlBool>`exists (select 1 from cve_suppressions p where p.site_id = d.site_id and p.device_id is null and ${isOfMatch})`,
    ]),
  ]);
}

/** Whether matches are those of the software alone: nothing is suppressed, or has ended, that could take a place out. */
export function isPlain({ plan, query: { status: statuses } }: MatchFilter): boolean {
  return plan.all.length === 0 && !statuses.includes("resolved") && !statuses.includes("suppressed");
}

/**
 * That a CVE, `c`, has a match. What has ended is looked for by itself, since little has.
 * @param isSparse Whether the filter leaves little software: then its CVEs are looked up, and else each CVE's software is until one is there.
 */
export function hasMatch(filter: MatchFilter, isSparse: boolean): Condition {
  const { plan, query: { status: statuses } } = filter;
  const held = statuses.filter((status) => status !== "resolved" && (status !== "suppressed" || plan.all.length > 0));
  const ofHeld: MatchFilter = { ...filter, query: { ...filter.query, status: held } };
  return anyOf([
    ...(held.length === 0 ? [] : [isSparse ? sql<SqlBool>`c.cve_id in (${heldBy(ofHeld, sql`j.software_id in (${softwareThere(filter)})`)} group by j.cve_id)` : isHeld(ofHeld)]),
    ...(statuses.includes("resolved") ? [sql<SqlBool>`c.cve_id in (${endedIds(filter)})`] : []),
  ]);
}

function isHeld(filter: MatchFilter): Condition {
  const { query: { site_id: site } } = filter;
  const runs = isPlain(filter) ? [sql<SqlBool>`exists (
    select 1 from service_software ss ${site === undefined ? sql`` : sql`join devices d on d.id = ss.device_id`}
    where ss.software_id = j.software_id and ss.until is null and ${allOf(placeConditions(filter))}
  )`] : [];
  // The offset keeps PostgreSQL from joining all judgments, where for each CVE the first few say it.
  return sql`exists (${heldBy(filter, allOf([sql`j.cve_id = c.cve_id`, ...runs]))} limit 1 offset 0)`;
}

/** CVEs of judgments that fit, and of those of which not all may count, that have a match which does. */
function heldBy(filter: MatchFilter, fits: Condition): RawBuilder<unknown> {
  const conditions = [
    ...judgmentConditions(filter), fits, ...(isPlain(filter) ? [] : [notSuppressed(filter), sql<SqlBool>`exists (
      select 1 from service_software ss join devices d on d.id = ss.device_id where ss.software_id = j.software_id and ${allOf(matchConditions(filter))}
    )`]),
  ];
  return sql`select j.cve_id from cve_judgments j where ${allOf(conditions)}`;
}

/** Begins with what has ended: `cross join` keeps SQLite to that order. */
function endedIds(filter: MatchFilter): RawBuilder<unknown> {
  const conditions = allOf([
    sql`j.software_id = ss.software_id`, sql`d.id = ss.device_id`, ...matchConditions({ ...filter, query: { ...filter.query, status: ["resolved"] } }),
  ]);
  return sql`select j.cve_id from service_software ss cross join devices d cross join cve_judgments j where ss.until is not null and ${conditions}
    union select j.cve_id from cve_judgments j cross join service_software ss cross join devices d where j.until is not null and ${conditions}`;
}

/** Conditions of `j` alone, without which there is no match that the filter lets through. */
export function judgmentConditions({ query: { status: statuses, confidence } }: MatchFilter): readonly Condition[] {
  const isSure = isIn("j.confidence", confidence);
  if (statuses.includes("resolved")) return [isSure];
  const isCounted = statuses.every((status) => status === "open") && confidence.length === COUNTED.confidence.length && !confidence.includes("possible");
  if (isCounted) return [sql`j.until is null and j.is_counted = 1`];
  return [isSure, sql`j.until is null`, isIn("j.status", [...new Set(statuses.map((status) => (status === "suppressed" ? "open" : status)))])];
}

/** Ids of software that runs where the filter says. */
function softwareThere(filter: MatchFilter): RawBuilder<unknown> {
  const hasDevices = filter.query.site_id !== undefined;
  return sql`select ss.software_id from service_software ss ${hasDevices ? sql`join devices d on d.id = ss.device_id` : sql``}
    where ss.until is null and ${allOf(placeConditions(filter))}`;
}

/** That not all of the product's software is suppressed everywhere: else each of its places would be looked at in vain. */
function notSuppressed({ plan: { products }, query: { status: statuses } }: MatchFilter): Condition {
  if (products.length === 0 || statuses.some((status) => status !== "open")) return ALWAYS;
  return sql`j.software_id not in (select id from judged_software where ${isIn("product", products)})`;
}
