import { toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** Something that a probe is to hear about one of its captures. */
export interface Errand {
  readonly id: string;
  readonly kind: "delete" | "fetch";
}

/** What probes are still to hear. */
export interface ErrandsStore {
  /** A probe's, behind the capture `after`, by their ids; a hundred at most. */
  of(probeId: string, after: string): Promise<readonly Errand[]>;
  deletionHeard(id: string): Promise<void>;
  /** The probe sends the file of a locked capture. */
  sent(id: string, now: number): Promise<void>;
  /** The probe has no such file any more. */
  gone(id: string, detail: string, now: number): Promise<void>;
  /** Probes that are online and have something to hear. */
  probes(): Promise<readonly { readonly tenantId: string; readonly probeId: string }[]>;
}

const AT_ONCE = 100;

/** Over the collector's database. */
export function createErrandsStore({ db }: { readonly db: Kysely<Schema> }): ErrandsStore {
  const open = () => db.selectFrom("pcaps").where((eb) => eb.or([
    eb.and([eb("pcaps.deleted_at", "is not", null), eb("pcaps.deletion_heard", "=", 0)]),
    eb.and([eb("pcaps.deleted_at", "is", null), eb("pcaps.locked_at", "is not", null), eb("pcaps.state", "=", "at_probe")]),
  ]));
  return {
    async of(probeId, after) {
      const rows = await open().select(["pcaps.id", "pcaps.deleted_at"]).where("pcaps.probe_id", "=", probeId).where("pcaps.id", ">", after)
        .orderBy("pcaps.id").limit(AT_ONCE).execute();
      return rows.map(({ id, deleted_at: deletedAt }) => ({ id, kind: deletedAt === null ? "fetch" : "delete" }));
    },
    async deletionHeard(id) {
      await db.updateTable("pcaps").set({ deletion_heard: 1 }).where("id", "=", id).where("deleted_at", "is not", null).execute();
    },
    async sent(id, now) {
      await db.updateTable("pcaps").set({ state: "uploading", updated_at: toInstant(now) }).where("id", "=", id).where("state", "=", "at_probe").execute();
    },
    async gone(id, detail, now) {
      await db.updateTable("pcaps").set({ state: "expired", detail: detail.slice(0, 512), updated_at: toInstant(now) }).where("id", "=", id)
        .where("state", "in", ["at_probe", "uploading"]).where("stored_at", "is", null).where("deleted_at", "is", null).execute();
    },
    async probes() {
      const rows = await open().innerJoin("probes", "probes.id", "pcaps.probe_id").where("probes.state", "=", "online").where("probes.revoked_at", "is", null)
        .select(["probes.tenant_id", "probes.id"]).distinct().limit(1000).execute();
      return rows.map((row) => ({ tenantId: row.tenant_id, probeId: row.id }));
    },
  };
}
