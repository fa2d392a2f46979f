import type { Kysely, Selectable, Transaction } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import { hasRowLocks } from "../../../../db/row-locks.ts";
import type { Schema } from "../../../../db/schema.ts";
import { SOFTWARE_COLUMNS, type SoftwareColumns } from "../../../../software/columns.ts";

/** A device whose software has changed. */
export type ChangedDevice = Selectable<Schema["software_changes"]>;

/** Software as it was found on a device. */
export interface FoundSoftware extends SoftwareColumns {
  readonly device_id: string;
  readonly service_key: string;
  readonly port: number | null;
  readonly protocol: string;
  readonly service: string;
}

/** A device that shows more services lies. */
const MAX_PORTS = 2048;

/** The next tenant that has changed devices, in the order of ids; null behind the last. */
export async function nextTenant(reads: Kysely<Schema>, after: string): Promise<string | null> {
  const row = await reads.selectFrom("software_changes").select("tenant_id").where("tenant_id", ">", after).orderBy("tenant_id").limit(1).executeTakeFirst();
  return row?.tenant_id ?? null;
}

/**
 * Changed devices of a tenant, those that have waited longest first.
 * @param options.except Devices that are to wait.
 * @param options.isNewestFirst Those that have changed last come first.
 */
export function changedDevices(
  reads: Kysely<Schema>, tenantId: string,
  { limit, except, isNewestFirst = false }: { readonly limit: number; readonly except: readonly string[]; readonly isNewestFirst?: boolean },
): Promise<readonly ChangedDevice[]> {
  const order = isNewestFirst ? "desc" : "asc";
  const query = reads.selectFrom("software_changes").selectAll().where("tenant_id", "=", tenantId);
  return (except.length === 0 ? query : query.where("device_id", "not in", except)).orderBy("since", order).orderBy("device_id", order).limit(limit).execute();
}

/** All software of devices, and what their systems were taken for. */
export async function softwareOfDevices(reads: Kysely<Schema>, deviceIds: readonly string[]): Promise<{
  readonly found: readonly FoundSoftware[]; readonly systems: ReadonlyMap<string, string>;
}> {
  const devices = await selectIn(deviceIds, (list) => reads.selectFrom("devices").select(["id", "os_guess"]).where("id", "in", list).execute());
  const ports = await selectIn(deviceIds, (list) => reads.selectFrom("ports").select(["device_id", "port", "protocol", "service", ...SOFTWARE_COLUMNS])
    .where("device_id", "in", list).where("product", "<>", "").orderBy("device_id").orderBy("port").limit(list.length * MAX_PORTS).execute());
  const host = await selectIn(deviceIds, (list) => reads.selectFrom("device_software").select(["device_id", "source", ...SOFTWARE_COLUMNS])
    .where("device_id", "in", list).where("product", "<>", "").execute());
  return {
    systems: new Map(devices.map(({ id, os_guess: guess }) => [id, guess])),
    found: [
      ...ports.map((row) => ({ ...row, service_key: `${row.protocol}/${row.port}` })),
      ...host.map(({ source, ...row }) => ({ ...row, service_key: `host/${source}/${row.product}`, port: null, protocol: "", service: row.product })),
    ],
  };
}

/** Those of the devices that are there, which they stay until the transaction ends. */
export async function holdDevices(trx: Transaction<Schema>, deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await selectIn([...deviceIds].toSorted(), (list) => {
    const query = trx.selectFrom("devices").select("id").where("id", "in", list).orderBy("id");
    return (hasRowLocks(trx) ? query.forKeyShare() : query).execute();
  });
  return new Set(rows.map(({ id }) => id));
}
