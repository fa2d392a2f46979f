import type { Expression, ExpressionBuilder, Insertable, Kysely, Selectable, SqlBool, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Position } from "../../../gateway/cursor.ts";

/** A capture as stored. */
export type PcapRow = Selectable<Schema["pcaps"]>;
type Trx = Transaction<Schema>;

/** Links by kind, of which one is enough; with a value at least. */
export type LinkChoice = readonly (readonly [kind: "alert" | "mac" | "ip", values: readonly string[]])[];

/** Which captures a list has. Those that a person deleted are in none. */
export interface PcapFilter {
  readonly siteId?: string | undefined;
  readonly probeId?: string | undefined;
  /** One link at least of each of these. */
  readonly links?: readonly LinkChoice[] | undefined;
  readonly trigger?: readonly string[] | undefined;
  readonly state?: readonly string[] | undefined;
  readonly locked?: boolean | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** What is stored of a site: files and their bytes, locked ones apart. */
export interface SiteUsage {
  readonly files: number;
  readonly bytes: number;
  readonly locked_files: number;
  readonly locked_bytes: number;
}

/** Captures as people read and change them. What probes report of them is in `reaction-store.ts`. */
export interface PcapsStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Newest first. */
  list(tenantId: string, filter: PcapFilter, page: { readonly from: number | Position; readonly limit: number }): Promise<readonly PcapRow[]>;
  count(tenantId: string, filter: PcapFilter): Promise<number>;
  /** Null for none of the tenant, and for one that was deleted. */
  byId(tenantId: string, id: string): Promise<PcapRow | null>;
  add(row: PcapRow, also: (trx: Trx) => Promise<void>): Promise<void>;
  /**
   * Changes a capture while no event can.
   * @param decide What to set, having done what goes with it; null to leave it as it is.
   * @returns The capture as it then is; null when there is none.
   */
  change(tenantId: string, id: string, decide: (trx: Trx, row: PcapRow) => Promise<Partial<PcapRow> | null>): Promise<PcapRow | null>;
  /** Sets the state and the detail of one that is in one of these states. */
  setState(id: string, from: readonly string[], to: { readonly state: string; readonly detail: string }, at: string): Promise<void>;
  /** Where a request ends, as JSON: its probe may allow less. */
  setLimits(id: string, limits: string): Promise<void>;
  /** Takes back a request that the probe has refused. */
  takeBack(id: string): Promise<void>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Bytes of a site's locked captures, those too that are still to come from their probes. */
  lockedBytes(trx: Trx, siteId: string): Promise<number>;
  siteUsage(handle: Trx | null, siteId: string): Promise<SiteUsage>;
  /** MACs and addresses of a device, with its site; null for none of the tenant. */
  deviceLinks(tenantId: string, deviceId: string): Promise<{ readonly siteId: string; readonly macs: readonly string[]; readonly ips: readonly string[] } | null>;
  /** What says by which other ids probes may know an alert; null for none of the tenant. */
  alertFacts(tenantId: string, alertId: string): Promise<Pick<Selectable<Schema["alerts"]>, "probe_id" | "reporters" | "evidence"> | null>;
  /** The file on its way from the probe; null where none has begun. */
  upload(probeId: string, id: string): Promise<Pick<Selectable<Schema["probe_files"]>, "received" | "state" | "updated_at"> | null>;
}

/** Over the collector's database. `change` holds the tenant's lock, under which events are applied too; lists read committed rows. */
export function createPcapsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): PcapsStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    list(tenantId, filter, { from, limit }) {
      const query = reads.selectFrom("pcaps").selectAll().where((eb) => matches(eb, tenantId, filter)).orderBy("happened_at", "desc")
        .orderBy("id", "desc").limit(limit);
      if (typeof from === "number") return query.offset(from).execute();
      return query.where((eb) => eb(eb.refTuple("happened_at", "id"), "<", eb.tuple(from.value, from.id))).execute();
    },
    count: async (tenantId, filter) => (await reads.selectFrom("pcaps").select((eb) => eb.fn.countAll<number>().as("total"))
      .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow()).total,
    byId: async (tenantId, id) => (await db.selectFrom("pcaps").selectAll().where("id", "=", id).where("tenant_id", "=", tenantId)
      .where("deleted_at", "is", null).executeTakeFirst()) ?? null,
    add: (row, also) => db.transaction().execute(async (trx) => {
      await trx.insertInto("pcaps").values(row satisfies Insertable<Schema["pcaps"]>).execute();
      await also(trx);
    }),
    change: (tenantId, id, decide) => inTurn(db, tenantId, async (trx) => {
      const row = await trx.selectFrom("pcaps").selectAll().where("id", "=", id).where("tenant_id", "=", tenantId)
        .where("deleted_at", "is", null).executeTakeFirst();
      if (!row) return null;
      const columns = await decide(trx, row);
      if (columns) await trx.updateTable("pcaps").set(columns).where("id", "=", id).execute();
      return { ...row, ...columns };
    }),
    async setLimits(id, limits) {
      await db.updateTable("pcaps").set({ limits }).where("id", "=", id).execute();
    },
    async setState(id, from, { state, detail }, at) {
      await db.updateTable("pcaps").set({ state, detail, updated_at: at }).where("id", "=", id).where("state", "in", from).execute();
    },
    async takeBack(id) {
      await db.deleteFrom("pcaps").where("id", "=", id).where("state", "=", "requested").execute();
    },
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    async lockedBytes(trx, siteId) {
      const { bytes } = await trx.selectFrom("pcaps").select((eb) => eb.fn.sum<number | null>(
        eb.case().when("stored_at", "is", null).then(eb.ref("size_bytes")).else(eb.ref("stored_bytes")).end(),
      ).as("bytes")).where("site_id", "=", siteId).where("locked_at", "is not", null).where("deleted_at", "is", null)
        .where("state", "in", ["ready", "at_probe", "uploading"]).executeTakeFirstOrThrow();
      return bytes ?? 0;
    },
    async siteUsage(handle, siteId) {
      const rows = await (handle ?? reads).selectFrom("pcaps").select((eb) => [
        eb.case().when("locked_at", "is", null).then(0).else(1).end().as("locked"), eb.fn.countAll<number>().as("files"),
        eb.fn.sum<number>("stored_bytes").as("bytes"),
      ]).where("site_id", "=", siteId).where("stored_at", "is not", null)
        .groupBy((eb) => eb.case().when("locked_at", "is", null).then(0).else(1).end()).execute();
      const of = (locked: number) => rows.find((row) => row.locked === locked);
      return {
        files: of(0)?.files ?? 0, bytes: of(0)?.bytes ?? 0, locked_files: of(1)?.files ?? 0, locked_bytes: of(1)?.bytes ?? 0,
      };
    },
    async deviceLinks(tenantId, deviceId) {
      const device = await reads.selectFrom("devices").select(["site_id", "ip", "mac"]).where("id", "=", deviceId).where("tenant_id", "=", tenantId)
        .executeTakeFirst();
      if (!device) return null;
      const interfaces = await reads.selectFrom("interfaces").select("mac").where("device_id", "=", deviceId).limit(64).execute();
      const addresses = await reads.selectFrom("addresses").select("ip").where("device_id", "=", deviceId).limit(256).execute();
      return {
        siteId: device.site_id, macs: [...new Set([device.mac, ...interfaces.map(({ mac }) => mac)])].filter(Boolean),
        ips: [...new Set([device.ip, ...addresses.map(({ ip }) => ip)])].filter(Boolean),
      };
    },
    alertFacts: async (tenantId, alertId) => (await reads.selectFrom("alerts").select(["probe_id", "reporters", "evidence"])
      .where("tenant_id", "=", tenantId).where("id", "=", alertId).executeTakeFirst()) ?? null,
    upload: async (probeId, id) => (await reads.selectFrom("probe_files").select(["received", "state", "updated_at"]).where("probe_id", "=", probeId)
      .where("id", "=", id).executeTakeFirst()) ?? null,
  };
}

function matches(eb: ExpressionBuilder<Schema, "pcaps">, tenantId: string, filter: PcapFilter) {
  const all: Expression<SqlBool>[] = [eb("tenant_id", "=", tenantId), eb("deleted_at", "is", null)];
  if (filter.siteId !== undefined) all.push(eb("site_id", "=", filter.siteId));
  if (filter.probeId !== undefined) all.push(eb("probe_id", "=", filter.probeId));
  if (filter.trigger) all.push(eb("trigger", "in", filter.trigger));
  if (filter.state) all.push(eb("state", "in", filter.state));
  if (filter.locked !== undefined) all.push(eb("locked_at", filter.locked ? "is not" : "is", null));
  if (filter.since !== undefined) all.push(eb("happened_at", ">=", filter.since));
  if (filter.until !== undefined) all.push(eb("happened_at", "<", filter.until));
  for (const choice of filter.links ?? []) {
    const links = choice.filter(([, values]) => values.length > 0);
    all.push(eb("id", "in", eb.selectFrom("pcap_links").select("pcap_id").where("tenant_id", "=", tenantId).where((one) =>
      one.or(links.map(([kind, values]) => one.and([one("kind", "=", kind), one("value", "in", values)]))))));
  }
  return eb.and(all);
}
