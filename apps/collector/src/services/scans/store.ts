import type { Expression, ExpressionBuilder, Kysely, Selectable, SqlBool, Transaction } from "kysely";
import { inTurn } from "../../db/locks/lock-tenant.ts";
import type { Schema } from "../../db/schema.ts";
import { selectIn } from "../../db/query/select-in.ts";
import type { Rows } from "../../gateway/page.ts";
import type { ScanRow } from "./reaction-store.ts";

interface ScanFilter {
  readonly siteId?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly profile?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

type SiteRow = Pick<Selectable<Schema["sites"]>, "id" | "scan_networks" | "probe_configuration">;
type ProbeRow = Pick<Selectable<Schema["probes"]>, "id" | "name" | "state" | "silent_since" | "run_id" | "health">;
/** A host that a scan found. `ip_key` orders hosts by address; `port_counts` is JSON text, null from probes that do not report it. */
export type HostRow = Selectable<Schema["scan_hosts"]>;
/** A port of a host that a scan found; `ip_key` is the host's. */
export type PortRow = Selectable<Schema["scan_ports"]>;
/** What is known now of the hosts that answered: by MAC, and by address for those without one. */
export interface DeviceNames {
  readonly byMac: ReadonlyMap<string, { readonly id: string; readonly hostname: string }>;
  readonly byIp: ReadonlyMap<string, { readonly id: string; readonly hostname: string }>;
}

/** Scans as people read and change them. What events change is in `reaction-store.ts`. */
export interface ScansStore {
  /** Newest first. */
  list(tenantId: string, filter: ScanFilter, rows: Rows): Promise<readonly ScanRow[]>;
  count(tenantId: string, filter: ScanFilter): Promise<number>;
  byId(tenantId: string, scanId: string): Promise<ScanRow | null>;
  /** At most two, which is enough to know whether there is only one. */
  sites(tenantId: string): Promise<readonly SiteRow[]>;
  site(tenantId: string, siteId: string): Promise<SiteRow | null>;
  /** Of a site, not revoked. */
  probes(siteId: string): Promise<readonly ProbeRow[]>;
  /** Adds a scan, unless one that has not ended has a target that overlaps. @returns The id of that one, or null. */
  add(scan: ScanRow, also: (trx: Transaction<Schema>) => Promise<void>): Promise<string | null>;
  /** Changes a scan while no event can. @returns The scan as it then is; null when there is none. */
  change(
    tenantId: string, scanId: string, decide: (trx: Transaction<Schema>, row: ScanRow) => Promise<Partial<ScanRow> | null>,
  ): Promise<ScanRow | null>;
  /** In the order of their addresses. @param rows.from Rows to skip, or the `ip_key` after which to go on. */
  hosts(scanId: string, rows: Rows): Promise<readonly HostRow[]>;
  countHosts(scanId: string): Promise<number>;
  ports(scanId: string, ipKeys: readonly string[]): Promise<readonly PortRow[]>;
  deviceNames(siteId: string, hosts: readonly HostRow[]): Promise<DeviceNames>;
}

/** `add` and `change` hold the tenant's lock, so no event changes the scan meanwhile. */
export function createScansStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): ScansStore {
  const siteColumns = ["id", "scan_networks", "probe_configuration"] as const;
  return {
    list(tenantId, filter, { from, limit }) {
      const query = reads.selectFrom("scans").selectAll().where((eb) => matches(eb, tenantId, filter)).orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    async count(tenantId, filter) {
      const row = await reads.selectFrom("scans").select((eb) => eb.fn.countAll<number>().as("total"))
        .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow();
      return row.total;
    },
    async byId(tenantId, scanId) {
      const row = await reads.selectFrom("scans").selectAll().where("tenant_id", "=", tenantId).where("id", "=", scanId).executeTakeFirst();
      return row ?? null;
    },
    sites: (tenantId) => reads.selectFrom("sites").select(siteColumns).where("tenant_id", "=", tenantId).orderBy("id").limit(2).execute(),
    async site(tenantId, siteId) {
      const row = await reads.selectFrom("sites").select(siteColumns).where("tenant_id", "=", tenantId).where("id", "=", siteId)
        .executeTakeFirst();
      return row ?? null;
    },
    probes: (siteId) => reads.selectFrom("probes").select(["id", "name", "state", "silent_since", "run_id", "health"])
      .where("site_id", "=", siteId).where("revoked_at", "is", null).orderBy("id").execute(),
    add: (scan, also) => inTurn(db, scan.tenant_id, async (trx) => {
      const other = await trx.selectFrom("scans").select("id")
        .where("site_id", "=", scan.site_id).where("status", "in", ["queued", "running"])
        .where("target_first", "<=", scan.target_last).where("target_last", ">=", scan.target_first).limit(1).executeTakeFirst();
      if (other) return other.id;
      await trx.insertInto("scans").values(scan).execute();
      await also(trx);
      return null;
    }),
    change: (tenantId, scanId, decide) => inTurn(db, tenantId, async (trx) => {
      const row = await trx.selectFrom("scans").selectAll().where("tenant_id", "=", tenantId).where("id", "=", scanId).executeTakeFirst();
      if (!row) return null;
      const columns = await decide(trx, row);
      if (columns) await trx.updateTable("scans").set(columns).where("id", "=", scanId).execute();
      return { ...row, ...columns };
    }),
    hosts(scanId, { from, limit }) {
      const query = reads.selectFrom("scan_hosts").selectAll().where("scan_id", "=", scanId).orderBy("ip_key").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("ip_key", ">", from)).execute();
    },
    async countHosts(scanId) {
      const row = await reads.selectFrom("scan_hosts").select((eb) => eb.fn.countAll<number>().as("total")).where("scan_id", "=", scanId)
        .executeTakeFirstOrThrow();
      return row.total;
    },
    async ports(scanId, ipKeys) {
      if (ipKeys.length === 0) return [];
      return reads.selectFrom("scan_ports").selectAll().where("scan_id", "=", scanId).where("ip_key", "in", ipKeys).orderBy("port")
        .orderBy("protocol").execute();
    },
    async deviceNames(siteId, hosts) {
      const macs = hosts.map(({ mac }) => mac).filter(Boolean);
      const ips = hosts.filter(({ mac }) => mac === "").map(({ ip }) => ip);
      const withMac = await selectIn(macs, (list) =>
        reads.selectFrom("interfaces").innerJoin("devices", "devices.id", "interfaces.device_id")
        .select(["interfaces.mac as key", "devices.id", "devices.hostname"])
        .where("interfaces.site_id", "=", siteId).where("interfaces.mac", "in", list).execute());
      const withIp = await selectIn(ips, (list) => reads.selectFrom("addresses").innerJoin("devices", "devices.id", "addresses.device_id")
        .select(["addresses.ip as key", "devices.id", "devices.hostname"])
        .where("addresses.site_id", "=", siteId).where("addresses.ip", "in", list).where("addresses.current", "=", 1).execute());
      const byKey = (rows: readonly { readonly key: string; readonly id: string; readonly hostname: string }[]) =>
        new Map(rows.map((row) => [row.key, row]));
      return { byMac: byKey(withMac), byIp: byKey(withIp) };
    },
  };
}

function matches(eb: ExpressionBuilder<Schema, "scans">, tenantId: string, filter: ScanFilter) {
  const all: Expression<SqlBool>[] = [eb("tenant_id", "=", tenantId)];
  if (filter.siteId !== undefined) all.push(eb("site_id", "=", filter.siteId));
  if (filter.status) all.push(eb("status", "in", filter.status));
  if (filter.profile !== undefined) all.push(eb("profile", "=", filter.profile));
  if (filter.since !== undefined) all.push(eb("created_at", ">=", filter.since));
  if (filter.until !== undefined) all.push(eb("created_at", "<", filter.until));
  return eb.and(all);
}
