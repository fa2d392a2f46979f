import { createHash } from "node:crypto";
import { silentLog, systemClock } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";
import { createInventoryRetention } from "../../apps/collector/src/retention/inventory.ts";
import type { World } from "./hostile-world.ts";

/** What people and the good probes know of a device; when it was last seen, and whether it is there now, is no part of it. */
const DEVICE = "id, site_id, ip, mac, hostname, vendor, os_guess, device_type, tags, locked_fields";
/** Room for a site's devices that is soon used up, as 250,000 is within a day. */
const KEEP_DEVICES = 1000;

/** Digests of rows that no attack may change, by table and key. */
export type ForeignRows = ReadonlyMap<string, string>;

/**
 * Every row of the tenant that stands by, whatever its table; and the devices of the good tenant that were there before the attacks.
 * @param known Of the good tenant only these, or all where it is left out.
 */
export function readForeignRows({ file, bystanderId, good }: World, known?: ForeignRows): ForeignRows {
  const rows = new Map<string, string>();
  const database = new Sqlite(file, { readonly: true });
  const add = (name: string, row: unknown) => {
    const digest = createHash("sha256").update(JSON.stringify(row)).digest("base64");
    rows.set(name, digest);
  };
  try {
    for (const table of tablesOfTenants(database)) {
      const all = database.prepare<[string]>(`SELECT * FROM "${table}" WHERE tenant_id = ?`).all(bystanderId);
      for (const row of all) add(`${table} ${createHash("sha256").update(JSON.stringify(row)).digest("base64")}`, row);
    }
    const devices = database.prepare<[string], { readonly id: string }>(`SELECT ${DEVICE} FROM devices WHERE tenant_id = ?`);
    for (const row of devices.all(good.tenantId)) if (known === undefined || known.has(`device ${row.id}`)) add(`device ${row.id}`, row);
  } finally {
    database.close();
  }
  return rows;
}

/** @returns How many rows are gone, are others, or are new. */
export function countChanged(before: ForeignRows, after: ForeignRows): number {
  const changed = [...before].filter(([key, digest]) => after.get(key) !== digest).length;
  return changed + [...after.keys()].filter((key) => !before.has(key)).length;
}

/** Lets go of what a site has too many of, with the collector's own code, as the collector does every ten minutes. */
export async function makeRoom({ database }: World): Promise<void> {
  const retention = createInventoryRetention({ db: database.db, reads: database.reads, clock: systemClock, log: silentLog }, {
    keepDays: 365, keepMerges: 50, keepDevices: KEEP_DEVICES,
    keep: { device_changes: 1000, addresses: 256, evidence: 256, ports: 4096, device_keys: 64, port_looks: 16 },
  });
  try {
    await retention.run();
  } finally {
    await retention.close();
  }
}

/** Events of the good probe that are not in the log, of so many that it has said. */
export function countLost({ file }: World, queueId: string, said: number): number {
  const database = new Sqlite(file, { readonly: true });
  try {
    const row = database.prepare<[string], { readonly stored: number }>(
      "SELECT count(DISTINCT probe_seq) AS stored FROM events WHERE queue_id = ?",
    ).get(queueId);
    return said - (row?.stored ?? 0);
  } finally {
    database.close();
  }
}

/** Alerts that there are, of all tenants. */
export function countAlerts({ file }: World): number {
  const database = new Sqlite(file, { readonly: true });
  try {
    return database.prepare<[], { readonly alerts: number }>("SELECT count(*) AS alerts FROM alerts").get()?.alerts ?? 0;
  } finally {
    database.close();
  }
}

function tablesOfTenants(database: Sqlite.Database): readonly string[] {
  const tables = database.prepare<[], { readonly name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  return tables.map(({ name }) => name).filter((table) => {
    const columns = database.prepare<[string], { readonly name: string }>("SELECT name FROM pragma_table_info(?)").all(table);
    return columns.some(({ name }) => name === "tenant_id");
  });
}
