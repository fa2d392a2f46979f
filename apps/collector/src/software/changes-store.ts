import { createId } from "@lanthorn/runtime";
import type { Kysely, Selectable, Transaction } from "kysely";
import { among, selectIn } from "../db/query/select-in.ts";
import { upsertMany } from "../db/query/write-many.ts";
import type { Schema } from "../db/schema.ts";

type SoftwareChange = Selectable<Schema["software_changes"]>;

/**
 * Notes that devices' software is another than before, in the transaction that changes it. A device has one row, whatever changes of it:
 * `since` is when the first change came that nobody has taken in yet, `revision` is another one with each change.
 * @param devices No device twice.
 */
export async function noteSoftwareChanges(
  trx: Transaction<Schema>, devices: readonly { readonly device_id: string; readonly tenant_id: string; readonly since: string }[],
): Promise<void> {
  await upsertMany(trx, "software_changes", { key: ["device_id"], update: ["revision"] }, devices.map(({ device_id, tenant_id, since }) => ({
    device_id, tenant_id, since, revision: createId(),
  })));
}

/** Those that have waited longest, to be taken in. What is read of their software after this is as new as their `revision`, or newer. */
export function waitingChanges(reads: Kysely<Schema>, limit: number): Promise<readonly SoftwareChange[]> {
  return reads.selectFrom("software_changes").selectAll().orderBy("since").orderBy("device_id").limit(limit).execute();
}

/**
 * Takes changes from the queue, in the transaction that writes what came of them.
 * @returns Ids of devices of which it was the last change. The software of the others has changed again meanwhile: they stay, and what was
 * written of them is written anew.
 */
export async function settleChanges(trx: Transaction<Schema>, changes: readonly SoftwareChange[]): Promise<ReadonlySet<string>> {
  const settled = await selectIn(changes.map(({ device_id: id, revision }) => [id, revision] as const), (list) =>
    trx.deleteFrom("software_changes").where(among(["device_id", "revision"], list)).returning("device_id").execute());
  return new Set(settled.map(({ device_id: id }) => id));
}
