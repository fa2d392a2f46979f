import type { Insertable, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { LookedHost } from "./looks/take-looks.ts";

type Trx = Transaction<Schema>;

/** A scan as it is stored. */
export type ScanRow = Selectable<Schema["scans"]>;

/** What scans found, by the keys of its rows, so that none is twice in a statement. */
export interface Found {
  readonly hosts: Map<string, Insertable<Schema["scan_hosts"]>>;
  readonly ports: Map<string, Insertable<Schema["scan_ports"]>>;
  /** Which ports scans ask. */
  readonly scopes: Map<string, Schema["port_scopes"]>;
  /** Hosts of each scan whose ports have all been asked. */
  readonly looked: Map<string, Map<string, LookedHost>>;
}

/** Those of the tenant's scans that are still there. */
export function loadScans(trx: Trx, tenantId: string, ids: readonly string[]): Promise<ScanRow[]> {
  return trx.selectFrom("scans").selectAll().where("tenant_id", "=", tenantId).where("id", "in", ids).execute();
}

/** Writes a scan as it is now. */
export async function saveScan(trx: Trx, scan: ScanRow): Promise<void> {
  const { id, tenant_id: _, ...columns } = scan;
  await trx.updateTable("scans").set(columns).where("id", "=", id).execute();
}

/** Raises an ended scan's counts to what is known of its hosts and ports; they are never fewer than its probe said. */
export async function raiseCounts(trx: Trx, scanId: string): Promise<void> {
  const count = (table: "scan_hosts" | "scan_ports") =>
    trx.selectFrom(table).select((eb) => eb.fn.countAll<number | string>().as("count")).where("scan_id", "=", scanId);
  const hosts = Number((await count("scan_hosts").executeTakeFirstOrThrow()).count);
  const ports = Number((await count("scan_ports").where("state", "=", "open").executeTakeFirstOrThrow()).count);
  await trx.updateTable("scans").set({ hosts_up: hosts }).where("id", "=", scanId).where("hosts_up", "<", hosts).execute();
  await trx.updateTable("scans").set({ ports_open: ports }).where("id", "=", scanId).where("ports_open", "<", ports).execute();
}

/** Rows in one statement: nine columns of each stay far below SQLite's 32,766 parameters. */
const ROWS_AT_ONCE = 500;

/** Writes hosts and ports that were found; what is known of them already is overwritten. */
export async function saveFound(trx: Trx, { hosts, ports }: Pick<Found, "hosts" | "ports">): Promise<void> {
  for (const values of chunks([...hosts.values()])) {
    await trx.insertInto("scan_hosts").values(values)
      .onConflict((conflict) => conflict.columns(["scan_id", "ip_key"]).doUpdateSet((eb) => ({
        mac: eb.ref("excluded.mac"), port_counts: eb.fn.coalesce("excluded.port_counts", "scan_hosts.port_counts"),
      }))).execute();
  }
  for (const values of chunks([...ports.values()])) {
    await trx.insertInto("scan_ports").values(values)
      .onConflict((conflict) => conflict.columns(["scan_id", "ip_key", "port", "protocol"]).doUpdateSet((eb) => ({
        state: eb.ref("excluded.state"), service: eb.ref("excluded.service"), version: eb.ref("excluded.version"),
        banner: eb.ref("excluded.banner"),
      }))).execute();
  }
}

function chunks<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / ROWS_AT_ONCE) }, (_, index) =>
    rows.slice(index * ROWS_AT_ONCE, (index + 1) * ROWS_AT_ONCE));
}
