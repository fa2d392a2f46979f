import { type ALERT_SORT_FIELDS, type Choice, MAX_FACET_VALUES } from "@lanthorn/contract";
import type { Expression, ExpressionBuilder, Insertable, Kysely, SqlBool, Transaction } from "kysely";
import { countFacets, type Facets } from "../../db/query/facets.ts";
import { holdsText } from "../../db/query/like.ts";
import { idsAmong } from "../../db/query/ids-among.ts";
import { idRanges, inRange } from "../../db/query/id-ranges.ts";
import { selectIn } from "../../db/query/select-in.ts";
import { inTurn } from "../../db/locks/lock-tenant.ts";
import type { Schema } from "../../db/schema.ts";
import { siteExists, sitesExist } from "../../db/locks/site-exists.ts";
import type { Position } from "../../gateway/cursor.ts";
import type { Rows } from "../../gateway/page.ts";
import { type ActionRow, countActions, listActions } from "./actions-store.ts";
import type { AlertRow } from "./reaction/store.ts";
import type { AlertMatter, MuteRow } from "./reaction/mutes.ts";

const SEARCHED = ["title", "description", "subject", "device_ip"] as const;

/** Columns of which values are counted. */
const FACETS = ["severity", "status", "source", "type", "site_id", "device_id"] as const;

type AlertSortField = (typeof ALERT_SORT_FIELDS)[number];

/** What a list of alerts is narrowed to. */
export interface AlertFilter {
  readonly source?: Choice<string> | undefined;
  readonly severity?: Choice<string> | undefined;
  readonly status?: Choice<string> | undefined;
  readonly type?: Choice<string> | undefined;
  readonly siteId?: Choice<string> | undefined;
  readonly deviceId?: Choice<string> | undefined;
  /** Seen at or after this instant; begun before that one. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly search?: string | undefined;
}

/** Alerts and mutes as people read and change them. What events change is in `reaction-store.ts`. */
export interface AlertsStore {
  list(tenantId: string, filter: AlertFilter, page: {
    readonly field: AlertSortField; readonly descending: boolean; readonly limit: number;
    /** Rows to skip, or the row after which to go on. */
    readonly from: number | Position;
  }): Promise<readonly AlertRow[]>;
  count(tenantId: string, filter: AlertFilter): Promise<number>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Whether all of these are sites of the tenant. */
  sitesExist(tenantId: string, siteIds: readonly string[]): Promise<boolean>;
  byId(tenantId: string, alertId: string): Promise<AlertRow | null>;
  /** Ids of alerts that match, in their order, some at a time. */
  ids(tenantId: string, filter: AlertFilter): AsyncIterable<readonly string[]>;
  /** Which of these ids are alerts of the tenant, in their order. */
  idsAmong(tenantId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** What alerts are about, as many as there are of these ids. */
  mattersOf(tenantId: string, ids: readonly string[]): Promise<readonly AlertMatter[]>;
  /** What people did with an alert, the newest first. */
  actions(alertId: string, rows: Rows): Promise<readonly ActionRow[]>;
  countActions(alertId: string): Promise<number>;
  /** How often values occur in the alerts that a filter leaves. */
  countFacets(tenantId: string, filter: AlertFilter): Promise<Facets<(typeof FACETS)[number]>>;
  write(work: (trx: Transaction<Schema>) => Promise<void>): Promise<void>;
  /**
   * Changes alerts while no event can.
   * @param wanted.isUnflushed Whether the disk gets it only with what is committed next.
   * @param decide Which of them to change, and what to set, having done what goes with it.
   * @returns Those that there are, as they then are.
   */
  change(tenantId: string, wanted: { readonly ids: readonly string[]; readonly isUnflushed?: boolean }, decide: (trx: Transaction<Schema>, rows: readonly AlertRow[]) => Promise<{
    readonly ids: readonly string[]; readonly columns: Partial<AlertRow>;
  }>): Promise<readonly AlertRow[]>;
  /** Those that count at `now`, in the order in which they were made. */
  mutes(tenantId: string, now: string): Promise<readonly MuteRow[]>;
  /** How many count at `now`, with those that the transaction has made. */
  countMutes(trx: Transaction<Schema>, tenantId: string, now: string): Promise<number>;
  /** While nobody else makes one. @param also Refuses it, or does what goes with it. */
  addMute(mute: Insertable<Schema["alert_mutes"]>, also: (trx: Transaction<Schema>) => Promise<void>): Promise<void>;
  /** @returns False when there is none. */
  removeMute(tenantId: string, muteId: string, also: (trx: Transaction<Schema>, mute: MuteRow) => Promise<void>): Promise<boolean>;
}

/** The column that a list is sorted by; each has an index that begins with the tenant and ends with the id. */
export const SORT_COLUMNS = {
  last_seen: "last_seen", first_seen: "first_seen", severity: "severity_rank", count: "count",
} as const satisfies Record<AlertSortField, keyof AlertRow>;

/** `change` holds the tenant's lock, under which events are applied too; lists read committed rows. */
export function createAlertsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): AlertsStore {
  const inRanges = async function* inRanges(tenantId: string, filter: AlertFilter) {
    for await (const range of idRanges(reads, "alerts")) yield reads.selectFrom("alerts").where((eb) => matches(eb, tenantId, filter)).where(inRange("alerts.id", range));
  };
  const columnsOf = async function* columns(tenantId: string, filter: AlertFilter) {
    for await (const some of inRanges(tenantId, filter)) yield some.select(FACETS);
  };
  return {
    list(tenantId, filter, { field, descending, limit, from }) {
      const column = SORT_COLUMNS[field];
      const direction = descending ? "desc" : "asc";
      const query = reads.selectFrom("alerts").selectAll().where((eb) => matches(eb, tenantId, filter)).orderBy(column, direction)
        .orderBy("id", direction).limit(limit);
      if (typeof from === "number") return query.offset(from).execute();
      const value = column === "severity_rank" || column === "count" ? Number(from.value) : from.value;
      return query.where((eb) => eb(eb.refTuple(column, "id"), descending ? "<" : ">", eb.tuple(value, from.id))).execute();
    },
    async count(tenantId, filter) {
      const row = await reads.selectFrom("alerts").select((eb) => eb.fn.countAll<number>().as("total"))
        .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow();
      return row.total;
    },
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    sitesExist: (tenantId, siteIds) => sitesExist(reads, tenantId, siteIds),
    async byId(tenantId, alertId) {
      const row = await reads.selectFrom("alerts").selectAll().where("tenant_id", "=", tenantId).where("id", "=", alertId)
        .executeTakeFirst();
      return row ?? null;
    },
    async *ids(tenantId, filter) {
      for await (const some of inRanges(tenantId, filter)) yield (await some.select("id").orderBy("id").execute()).map(({ id }) => id);
    },
    idsAmong: (tenantId, ids) => idsAmong(reads, "alerts", { tenantId, ids }),
    mattersOf: (tenantId, ids) => selectIn(ids, (list) =>
      reads.selectFrom("alerts").select(["source", "type", "subject", "site_id"]).where("tenant_id", "=", tenantId).where("id", "in", list).execute()),
    actions: (alertId, rows) => listActions(reads, alertId, rows),
    countActions: (alertId) => countActions(reads, alertId),
    countFacets: (tenantId, filter) => countFacets(reads, { columns: FACETS, most: MAX_FACET_VALUES, pieces: columnsOf(tenantId, filter) }),
    write: (work) => db.transaction().execute(work),
    change: (tenantId, wanted, decide) => inTurn(db, tenantId, async (trx) => {
      const rows = await trx.selectFrom("alerts").selectAll().where("tenant_id", "=", tenantId).where("id", "in", wanted.ids).orderBy("id").execute();
      const { ids, columns } = await decide(trx, rows);
      if (ids.length > 0) await trx.updateTable("alerts").set(columns).where("id", "in", ids).execute();
      return rows.map((row) => (ids.includes(row.id) ? { ...row, ...columns } : row));
    }, wanted),
    mutes: (tenantId, now) =>
      reads.selectFrom("alert_mutes").selectAll().where("tenant_id", "=", tenantId).where("expires_at", ">", now).orderBy("id").execute(),
    countMutes: async (trx, tenantId, now) => (await trx.selectFrom("alert_mutes").select((eb) => eb.fn.countAll<number>().as("total"))
      .where("tenant_id", "=", tenantId).where("expires_at", ">", now).executeTakeFirstOrThrow()).total,
    addMute: (mute, also) => inTurn(db, mute.tenant_id, async (trx) => {
      await trx.insertInto("alert_mutes").values(mute).execute();
      await also(trx);
    }),
    removeMute: (tenantId, muteId, also) => db.transaction().execute(async (trx) => {
      const mute = await trx.deleteFrom("alert_mutes").where("tenant_id", "=", tenantId).where("id", "=", muteId).returningAll()
        .executeTakeFirst();
      if (mute) await also(trx, mute);
      return mute !== undefined;
    }),
  };
}

function matches(eb: ExpressionBuilder<Schema, "alerts">, tenantId: string, filter: AlertFilter) {
  const all: Expression<SqlBool>[] = [eb("tenant_id", "=", tenantId)];
  const { siteId: site_id, deviceId: device_id, source, severity, status, type } = filter;
  for (const [column, choice] of Object.entries({ source, severity, status, type, site_id, device_id })) {
    if (choice?.any.length) all.push(eb(column as "source", "in", choice.any));
    // What is of no site is of none of those that are left out.
    if (choice?.none.length) all.push(eb.or([eb(column as "source", "is", null), eb(column as "source", "not in", choice.none)]));
  }
  if (filter.since !== undefined) all.push(eb("last_seen", ">=", filter.since));
  if (filter.until !== undefined) all.push(eb("first_seen", "<", filter.until));
  const { search } = filter;
  if (search) all.push(eb.or(SEARCHED.map((column) => holdsText(eb.ref(column), search))));
  return eb.and(all);
}
