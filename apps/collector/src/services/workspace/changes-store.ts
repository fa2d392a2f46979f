import { nextTurn } from "@lanthorn/runtime";
import { type Kysely, sql } from "kysely";
import { siteExists } from "../../db/locks/site-exists.ts";
import { inTurns } from "../../db/query/in-turns.ts";
import { selectIn } from "../../db/query/select-in.ts";
import type { Schema } from "../../db/schema.ts";
import { firstSince } from "../../events/first-since-store.ts";

/** What has changed, each kind by itself: of a site, or of none. */
export interface ChangesStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  devices(period: ChangePeriod, count: Count<string>): Promise<void>;
  /** By severity. */
  alerts(period: ChangePeriod, count: Count<string | null>): Promise<void>;
  resolved(period: ChangePeriod, count: Count<string | null>): Promise<void>;
  /** Of what the event log has: vulnerabilities, as many as an event stands for; configurations; and devices that went offline and still are. */
  logged(period: ChangePeriod, count: Count<string | null>): Promise<void>;
  silentProbes(period: ChangePeriod, count: Count<string>): Promise<void>;
}

/** Of whom, and since which instant. */
interface ChangePeriod {
  readonly tenantId: string;
  /** One of the tenant's; undefined for all, and for what is of none. */
  readonly siteId?: string | undefined;
  readonly since: string;
}

/** Called for each that has changed. @param kind Which of several kinds. */
type Count<Site> = (siteId: Site, kind: string, times: number) => void;

/** Rows read between two turns of the event loop: some milliseconds. */
const AT_ONCE = 2000;
/** They are found one by one. */
const DEVICES_AT_ONCE = 512;
/** The index of the log has these, and is found by these words alone. */
const LOGGED = sql<boolean>`type in ('host_offline', 'vuln_found', 'config_changed')`;

/** What an index begins with: all rows of a site are its tenant's. */
function scopeOf({ tenantId, siteId }: ChangePeriod) {
  return [siteId === undefined ? "tenant_id" : "site_id", "=", siteId ?? tenantId] as const;
}

/** Every kind walks an index from the instant on, and reads nothing from before it; of one site nothing of others but their events, which `count` is given too. */
export function createChangesStore({ reads }: { readonly reads: Kysely<Schema> }): ChangesStore {
  const stillOffline = async (ids: ReadonlySet<string>, count: Count<string | null>) => {
    for await (const piece of inTurns(ids, DEVICES_AT_ONCE)) {
      const gone = await selectIn(piece, (list) => reads.selectFrom("devices").select("site_id").where("id", "in", list).where("presence_state", "=", "offline").execute());
      for (const { site_id: site } of gone) count(site, "gone", 1);
    }
  };
  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),

    devices: (period, count) => walk({ at: period.since, id: "" }, async ({ at, id }) =>
      (await reads.selectFrom("devices").select(["first_seen as at", "id", "site_id"]).where(...scopeOf(period))
        .where((eb) => eb(eb.refTuple("first_seen", "id"), ">", eb.tuple(at, id))).orderBy("first_seen").orderBy("id").limit(AT_ONCE).execute()),
    ({ site_id: site }) => count(site, "new", 1)),

    alerts: (period, count) => walk({ at: period.since, id: "" }, async ({ at, id }) =>
      (await reads.selectFrom("alerts").select(["first_seen as at", "id", "site_id", "severity"]).where(...scopeOf(period))
        .where((eb) => eb(eb.refTuple("first_seen", "id"), ">", eb.tuple(at, id))).orderBy("first_seen").orderBy("id").limit(AT_ONCE).execute()),
    ({ site_id: site, severity }) => count(site, severity, 1)),

    resolved: (period, count) => walk({ at: period.since, id: "" }, async ({ at, id }) =>
      (await reads.selectFrom("alerts").select((eb) => [eb.ref("resolved_at").$notNull().as("at"), "id", "site_id"]).where(...scopeOf(period)).where("resolved_at", "is not", null)
        .where((eb) => eb(eb.refTuple("resolved_at", "id"), ">", eb.tuple(at, id))).orderBy("resolved_at").orderBy("id").limit(AT_ONCE).execute()),
    ({ site_id: site }) => count(site, "resolved", 1)),

    async logged({ tenantId, since }, count) {
      const offline = new Set<string>();
      await walk({ seq: await firstSince(reads, tenantId, since) - 1 }, async ({ seq }) =>
        (await reads.selectFrom("events").select(["seq", "type", "site_id", "device_id"])
          .select(sql<string | null>`case when type = 'vuln_found' then data end`.as("data"))
          .where("tenant_id", "=", tenantId).where(LOGGED).where("seq", ">", seq).orderBy("seq").limit(AT_ONCE).execute()),
      ({ type, site_id: site, device_id: device, data }) => {
        if (type === "host_offline" && device !== null) offline.add(device);
        else if (type !== "host_offline") count(site, type, data === null ? 1 : 1 + othersIn(data));
      });
      await stillOffline(offline, count);
    },

    async silentProbes(period, count) {
      const probes = await reads.selectFrom("probes").select("site_id").where(...scopeOf(period)).where("revoked_at", "is", null)
        .where("state", "=", "silent").where("silent_since", ">=", period.since).execute();
      for (const { site_id: site } of probes) count(site, "silent", 1);
    },
  };
}

/** Reads on from one row to the next, some at a time. @param read The rows behind one, in their order. */
async function walk<P, R extends P>(from: P, read: (after: P) => Promise<readonly R[]>, take: (row: R) => void): Promise<void> {
  for (let after: P | undefined = from; after !== undefined;) {
    const rows: readonly R[] = await read(after);
    for (const row of rows) take(row);
    after = rows.length < AT_ONCE ? undefined : rows.at(-1);
    await nextTurn();
  }
}

/** Vulnerabilities that were found with one, and have no event of their own. */
function othersIn(data: string): number {
  const { others } = JSON.parse(data) as { readonly others?: number };
  return others ?? 0;
}
