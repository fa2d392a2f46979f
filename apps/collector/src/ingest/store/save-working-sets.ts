import type { Transaction } from "kysely";
import { hostnameKey } from "../../db/keys/hostname-key.ts";
import { among, selectIn } from "../../db/query/select-in.ts";
import { insertMany, updateMany, upsertMany } from "../../db/query/write-many.ts";
import type { Schema } from "../../db/schema.ts";
import { noteSoftwareChanges } from "../../software/changes-store.ts";
import { SOFTWARE_COLUMNS } from "../../software/columns.ts";
import { COLUMN_GROUPS, type ColumnGroup, type DeviceDraft } from "../devices/devices-draft.ts";
import type { WorkingSet } from "../working-set.ts";

/** Writes what batches changed at their sites, table by table, parents first: one statement serves all sites. */
export async function saveWorkingSets(trx: Transaction<Schema>, sets: readonly WorkingSet[]): Promise<void> {
  await insertMany(trx, "devices", sets.flatMap(({ site: { tenantId, siteId }, devices }) =>
    [...devices.values()].filter(({ isNew }) => isNew).map(({ id, fields }) => ({
      id, tenant_id: tenantId, site_id: siteId, ip: fields.ip, ip_key: fields.ip_key, mac: fields.mac, hostname: fields.hostname,
      hostname_key: hostnameKey(fields.hostname), vendor: fields.vendor,
      os_guess: fields.os_guess, device_type: fields.device_type, verdicts: fields.verdicts,
      is_online: fields.is_online, presence_state: fields.presence_state,
      first_seen: fields.first_seen, last_seen: fields.last_seen, open_ports: fields.open_ports, tags: "[]", locked_fields: "[]",
    }))));
  const known = sets.flatMap(({ devices }) => [...devices.values()].filter(({ isNew }) => !isNew));
  for (const group of Object.keys(COLUMN_GROUPS) as ColumnGroup[]) {
    await updateMany(trx, "devices", known.filter(({ changed }) => changed.has(group)).map((device) => columnsOf(device, group)));
  }
  await upsertMany(trx, "interfaces", { key: ["site_id", "mac"], update: ["vendor"] }, sets.flatMap((set) => [...set.interfaces.values()]));
  await upsertMany(
    trx, "addresses", { key: ["device_id", "mac", "ip"], update: ["first_seen", "last_seen", "current"] },
    sets.flatMap((set) => [...set.addresses.values()]),
  );
  await upsertMany(
    trx, "evidence", { key: ["device_id", "field", "source", "value"], update: ["confidence", "seen_at"], newerBy: "seen_at" },
    sets.flatMap((set) => [...set.evidence.values()]),
  );
  await upsertMany(
    trx, "ports", { key: ["device_id", "port", "protocol"], update: ["state", "service", "version", "banner", "last_scanned", ...SOFTWARE_COLUMNS] },
    sets.flatMap((set) => [...set.ports.values()]),
  );
  await saveSoftware(trx, sets);
  await insertMany(trx, "device_changes", sets.flatMap(({ changes }) => changes));
  await upsertMany(trx, "device_keys", { key: ["site_id", "key", "device_id"], update: ["source"] }, sets.flatMap(({ keys }) => keys));
  await updateMany(trx, "interfaces", sets.flatMap(({ site: { siteId }, interfacePresence }) =>
    [...interfacePresence].map(([mac, presence_state]) => ({ site_id: siteId, mac, presence_state }))), ["site_id", "mac"]);
}

/** What hosts run, and of whom that is other software than before, at their ports too. */
async function saveSoftware(trx: Transaction<Schema>, sets: readonly WorkingSet[]): Promise<void> {
  await deleteSoftware(trx, sets.flatMap(({ software }) => [...software.gone.values()]));
  await upsertMany(
    trx, "device_software", { key: ["device_id", "source", "product"], update: [...SOFTWARE_COLUMNS.filter((column) => column !== "product"), "last_seen"] },
    sets.flatMap(({ software }) => [...software.rows.values()]),
  );
  await noteSoftwareChanges(trx, sets.flatMap(({ site, softwareChanges }) =>
    [...softwareChanges].map(([device_id, since]) => ({ device_id, tenant_id: site.tenantId, since }))));
}

async function deleteSoftware(trx: Transaction<Schema>, gone: readonly Pick<Schema["device_software"], "device_id" | "source" | "product">[]): Promise<void> {
  await selectIn(gone.map(({ device_id, source, product }) => [device_id, source, product] as const), async (list) => {
    await trx.deleteFrom("device_software").where(among(["device_id", "source", "product"], list)).execute();
    return [];
  });
}

function columnsOf(device: DeviceDraft, group: ColumnGroup): { readonly id: string } & Record<string, string | number> {
  const row: { id: string } & Record<string, string | number> = { id: device.id };
  for (const column of COLUMN_GROUPS[group]) row[column] = device.fields[column];
  if (group === "identity") row["hostname_key"] = hostnameKey(device.fields.hostname);
  return row;
}
