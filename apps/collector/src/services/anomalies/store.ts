import { type Expression, type ExpressionBuilder, type Kysely, type Selectable, sql, type SqlBool, type Transaction } from "kysely";
import { reviseSite } from "../../db/locks/hold-site.ts";
import { siteExists } from "../../db/locks/site-exists.ts";
import { selectIn } from "../../db/query/select-in.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

/** An anomaly as stored. */
export type AnomalyRecord = Selectable<Schema["anomalies"]>;
/** With the alert that it raised or became part of. */
export interface RaisedAnomaly extends AnomalyRecord {
  readonly alertId: string | null;
}
/** What somebody said is normal. */
export type FeedbackRow = Selectable<Schema["anomaly_feedback"]>;
type Trx = Transaction<Schema>;

/** Which anomalies are wanted; until is not within. */
export interface AnomalyFilter {
  readonly siteId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly isAlert?: boolean | undefined;
  readonly isNormal?: boolean | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** What happened at a site beside an anomaly. */
export interface Happening {
  readonly type: string;
  readonly occurred_at: string;
  readonly device_id: string | null;
}

/** A probe with what it last reported. */
export interface WatchingProbe {
  readonly id: string;
  readonly site_id: string;
  readonly name: string;
  readonly presence: string;
  readonly health: string | null;
}

/** A device, with the names by which probes may know it. */
export interface NamedDevice {
  readonly siteId: string;
  /** MAC addresses, then addresses, those it had last first. */
  readonly names: readonly string[];
}

/** Anomalies of devices, and what people say of them. Feedback is that which has not expired at `now`. */
export interface AnomaliesStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Counts the site's configuration up and holds its row until the transaction ends. @returns Whether the tenant has the site. */
  reviseSite(trx: Trx, tenantId: string, siteId: string): Promise<boolean>;
  /** Newest first. */
  list(tenantId: string, filter: AnomalyFilter, rows: Rows): Promise<readonly AnomalyRecord[]>;
  count(tenantId: string, filter: AnomalyFilter): Promise<number>;
  byId(tenantId: string, id: string): Promise<AnomalyRecord | null>;
  /** With their alerts, in their order. */
  withAlerts(tenantId: string, rows: readonly AnomalyRecord[]): Promise<readonly RaisedAnomaly[]>;
  /** New devices, changed configurations and scans, so many of each, oldest first. */
  happenings(siteId: string, period: { readonly since: string; readonly until: string; readonly limit: number }): Promise<readonly Happening[]>;
  /** Of a tenant, or of a site, in the order in which it was given. */
  feedback(handle: Trx | null, of: { readonly tenantId?: string; readonly siteId?: string | undefined }, now: string): Promise<readonly FeedbackRow[]>;
  addFeedback(trx: Trx, row: FeedbackRow): Promise<void>;
  /** @returns What was removed; its anomalies are as if nobody had said anything. */
  removeFeedback(trx: Trx, tenantId: string, id: string): Promise<FeedbackRow | null>;
  forgetExpired(trx: Trx, siteId: string, now: string): Promise<void>;
  /** What is covered by it is normal. @returns Those that raised an alert, the newest ones. */
  markNormal(trx: Trx, feedback: FeedbackRow, limit: number): Promise<readonly AnomalyRecord[]>;
  /** Probes that are not revoked: of a tenant, of one of its sites, or the one of this id. */
  probes(tenantId: string, of?: { readonly siteId?: string; readonly probeId?: string }): Promise<readonly WatchingProbe[]>;
  /** @param maxNames Of what it is known by. */
  device(tenantId: string, deviceId: string, maxNames: number): Promise<NamedDevice | null>;
  /** Forgets anomalies found before this. @returns How many. */
  forget(before: string): Promise<number>;
}

/** Over the collector's database. */
export function createAnomaliesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): AnomaliesStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    reviseSite,
    list(tenantId, filter, { from, limit }) {
      const all = reads.selectFrom("anomalies").selectAll().where((eb) => matches(eb, tenantId, filter)).orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? all.offset(from) : all.where("id", "<", from)).execute();
    },
    count: async (tenantId, filter) => (await reads.selectFrom("anomalies").select((eb) => eb.fn.countAll<number>().as("total"))
      .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow()).total,
    byId: async (tenantId, id) => (await reads.selectFrom("anomalies").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
    withAlerts: (tenantId, rows) => withAlerts(reads, tenantId, rows),
    async happenings(siteId, { since, until, limit }) {
      const found: Happening[] = [];
      for (const type of HAPPENINGS) {
        found.push(...await reads.selectFrom("events").select(["type", "occurred_at", "device_id"]).where("site_id", "=", siteId).where(isHappening).where("type", "=", type)
          .where("occurred_at", ">=", since).where("occurred_at", "<=", until).orderBy("occurred_at").limit(limit).execute());
      }
      return found.toSorted((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1));
    },
    feedback(handle, { tenantId, siteId }, now) {
      const current = (handle ?? reads).selectFrom("anomaly_feedback").selectAll().where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).orderBy("id");
      const ofTenant = tenantId === undefined ? current : current.where("tenant_id", "=", tenantId);
      return (siteId === undefined ? ofTenant : ofTenant.where("site_id", "=", siteId)).execute();
    },
    async addFeedback(trx, row) {
      await trx.insertInto("anomaly_feedback").values(row).execute();
    },
    async removeFeedback(trx, tenantId, id) {
      const row = await trx.deleteFrom("anomaly_feedback").where("tenant_id", "=", tenantId).where("id", "=", id).returningAll().executeTakeFirst();
      await trx.updateTable("anomalies").set({ feedback_id: null }).where("tenant_id", "=", tenantId).where("feedback_id", "=", id).execute();
      return row ?? null;
    },
    async forgetExpired(trx, siteId, now) {
      await trx.deleteFrom("anomaly_feedback").where("site_id", "=", siteId).where("expires_at", "<=", now).execute();
    },
    async markNormal(trx, { id, site_id: siteId, kind, device, device_group: group }, limit) {
      const marked = await trx.updateTable("anomalies").set({ feedback_id: id }).where("site_id", "=", siteId).where("kind", "=", kind)
        .where(device === null ? "device_group" : "device", "=", device ?? group ?? "").where("feedback_id", "is", null).returningAll().execute();
      return marked.filter(({ is_alert: isAlert }) => isAlert === 1).toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
    },
    probes: (tenantId, { siteId, probeId } = {}) => reads.selectFrom("probes").innerJoin("sites", "sites.id", "probes.site_id")
      .select(["probes.id", "probes.site_id", "probes.name", "probes.state as presence", "probes.health"]).where("sites.tenant_id", "=", tenantId).where("probes.revoked_at", "is", null)
      .$if(siteId !== undefined, (query) => query.where("probes.site_id", "=", siteId ?? "")).$if(probeId !== undefined, (query) => query.where("probes.id", "=", probeId ?? ""))
      .orderBy("probes.id").execute(),
    async device(tenantId, deviceId, maxNames) {
      const device = await reads.selectFrom("devices").select(["site_id", "mac", "ip"]).where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst();
      if (!device) return null;
      const macs = await reads.selectFrom("interfaces").select("mac").where("device_id", "=", deviceId).orderBy("mac").limit(maxNames).execute();
      const ips = await reads.selectFrom("addresses").select("ip").where("device_id", "=", deviceId).orderBy("last_seen", "desc").orderBy("ip").limit(maxNames).execute();
      const names = [device.mac, ...macs.map(({ mac }) => mac), device.ip, ...ips.map(({ ip }) => ip)].filter((name) => name !== "");
      return { siteId: device.site_id, names: [...new Set(names)].slice(0, maxNames) };
    },
    forget: async (before) => Number((await db.deleteFrom("anomalies").where("found_at", "<", before).executeTakeFirst()).numDeletedRows),
  };
}

/** Adds an anomaly; one of the same incident stays as it was. The oldest of the site gives way to one beyond `max`. */
export async function addAnomaly(trx: Trx, row: AnomalyRecord, max: number): Promise<void> {
  await trx.insertInto("anomalies").values(row).onConflict((conflict) => conflict.columns(["site_id", "incident_id"]).doNothing()).execute();
  const last = await trx.selectFrom("anomalies").select("id").where("site_id", "=", row.site_id).orderBy("id", "desc").offset(max).limit(1).executeTakeFirst();
  if (last) await trx.deleteFrom("anomalies").where("site_id", "=", row.site_id).where("id", "<=", last.id).execute();
}

/** The index `events_happenings` has these, and is found by the same words. */
const HAPPENINGS = ["host_found", "config_changed", "scan_started"] as const;
const isHappening = sql<SqlBool>`type in (${sql.join(HAPPENINGS.map((type) => sql.lit(type)))})`;
/** Alerts of anomalies that are looked through: a site has five a day. */
const MAX_ALERTS = 1000;

/** One that is like an alert that is open raises none of its own: it is a part of that. */
async function withAlerts(reads: Kysely<Schema>, tenantId: string, rows: readonly AnomalyRecord[]): Promise<readonly RaisedAnomaly[]> {
  const subjectOf = ({ kind, device }: AnomalyRecord) => `${kind} ${device}`;
  const raised = rows.filter(({ is_alert: isAlert }) => isAlert === 1);
  const last = raised.reduce((latest, { found_at: at }) => (at > latest ? at : latest), "");
  const alerts = await selectIn([...new Set(raised.map(subjectOf))], (subjects) => reads.selectFrom("alerts").select(["id", "site_id", "subject", "first_seen"])
    .where("tenant_id", "=", tenantId).where("type", "=", "anomaly").where("first_seen", "<=", last).where("subject", "in", subjects).orderBy("first_seen", "desc").limit(MAX_ALERTS).execute());
  return rows.map((row) => {
    const own = row.is_alert === 1 && alerts.find((one) => one.site_id === row.site_id && one.subject === subjectOf(row) && one.first_seen <= row.found_at);
    return { ...row, alertId: own ? own.id : null };
  });
}

function matches(eb: ExpressionBuilder<Schema, "anomalies">, tenantId: string, { siteId, deviceId, kinds, isAlert, isNormal, since, until }: AnomalyFilter): Expression<SqlBool> {
  const all: Expression<SqlBool>[] = [eb("tenant_id", "=", tenantId)];
  if (siteId !== undefined) all.push(eb("site_id", "=", siteId));
  if (deviceId !== undefined) all.push(eb("device_id", "=", deviceId));
  if (kinds !== undefined) all.push(eb("kind", "in", kinds));
  if (isAlert !== undefined) all.push(eb("is_alert", "=", isAlert ? 1 : 0));
  if (isNormal !== undefined) all.push(eb("feedback_id", isNormal ? "is not" : "is", null));
  if (since !== undefined) all.push(eb("found_at", ">=", since));
  if (until !== undefined) all.push(eb("found_at", "<", until));
  return eb.and(all);
}
