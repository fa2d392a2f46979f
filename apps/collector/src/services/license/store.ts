import type { License } from "@lanthorn/contract";
import type { Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A tenant's license as it was uploaded. `published_state` is the state that was last published, as `stateKey` writes it. */
export type LicenseRow = Selectable<Schema["licenses"]>;
type Trx = Transaction<Schema>;

/** Uploaded licenses, at most one of each tenant, and what the tenant uses. */
export interface LicenseStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  byTenant(tenantId: string): Promise<LicenseRow | null>;
  list(): Promise<readonly LicenseRow[]>;
  /** Instead of the one that is there. */
  put(trx: Trx, row: LicenseRow): Promise<void>;
  /** @returns The row that was there; null for none. */
  remove(trx: Trx, tenantId: string): Promise<LicenseRow | null>;
  /** @returns False when another process has published it, or the license is another one by now. */
  setPublished(trx: Trx, row: LicenseRow, state: string): Promise<boolean>;
  usage(tenantId: string): Promise<License["usage"]>;
}

/** `usage` counts probes that are not revoked, and devices from `device_counts` rather than from their rows. */
export function createLicenseStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): LicenseStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    async byTenant(tenantId) {
      return (await reads.selectFrom("licenses").selectAll().where("tenant_id", "=", tenantId).executeTakeFirst()) ?? null;
    },
    list: () => reads.selectFrom("licenses").selectAll().orderBy("tenant_id").execute(),
    async put(trx, row) {
      const { tenant_id: _, ...columns } = row;
      await trx.insertInto("licenses").values(row).onConflict((conflict) => conflict.column("tenant_id").doUpdateSet(columns)).execute();
    },
    async remove(trx, tenantId) {
      return (await trx.deleteFrom("licenses").where("tenant_id", "=", tenantId).returningAll().executeTakeFirst()) ?? null;
    },
    async setPublished(trx, { tenant_id: tenantId, license, published_state: before }, state) {
      const { numUpdatedRows } = await trx.updateTable("licenses").set({ published_state: state }).where("tenant_id", "=", tenantId).where(
        "license", "=", license,
      )
        .where("published_state", "=", before).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async usage(tenantId) {
      const probes = await reads.selectFrom("probes").select((eb) => eb.fn.countAll<number>().as("total")).where("tenant_id", "=", tenantId)
        .where("revoked_at", "is", null).executeTakeFirstOrThrow();
      const devices = await reads.selectFrom("device_counts").select((eb) => eb.fn.sum<string | number | null>("devices").as("total"))
        .where("tenant_id", "=", tenantId).executeTakeFirstOrThrow();
      // A sum of PostgreSQL's comes as text, as it may be longer than any number.
      return { probes: probes.total, devices: Number(devices.total ?? 0) };
    },
  };
}
