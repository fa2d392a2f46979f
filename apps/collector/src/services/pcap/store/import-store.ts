import type { ExpressionBuilder, Kysely, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import type { PcapRow } from "./pcaps-store.ts";

/** A capture with the file that its probe has sent. */
export interface ReceivedPcap {
  readonly row: PcapRow;
  readonly file: { readonly size: number; readonly sha256: string };
}

/** What brings files of probes and what was said of them together. */
export interface ImportStore {
  /** Captures whose files have come whole and are not stored yet; deleted ones too, whose files are not wanted. Behind the id `after`. */
  received(page: { readonly after: string; readonly limit: number }): Promise<readonly ReceivedPcap[]>;
  /**
   * Changes a capture whose file is not stored, while no event can. The state of its file becomes `file`.
   * @returns False where it was stored or deleted meanwhile.
   */
  settle(row: PcapRow, change: Partial<PcapRow>, file: "taken" | "failed", also: (trx: Transaction<Schema>) => Promise<void>): Promise<boolean>;
  /** Gives up the file of a capture that was deleted. */
  drop(probeId: string, id: string): Promise<void>;
  /** A file of the probe is on its way. */
  uploading(probeId: string, id: string, at: string): Promise<void>;
  /** The file was not taken; the probe says at the next download whether it still has it. */
  backAtProbe(probeId: string, id: string, detail: string, at: string): Promise<void>;
  /** Moves captures on whose files do not come any more: `failed` where the file was given up, else back to the probe, which may have it. */
  endUploads(staleBefore: string, at: string): Promise<void>;
}

/** Over the collector's database. */
export function createImportStore({ db }: { readonly db: Kysely<Schema> }): ImportStore {
  const setFile = (handle: Kysely<Schema>, probeId: string, id: string, state: string) =>
    handle.updateTable("probe_files").set({ state }).where("probe_id", "=", probeId).where("id", "=", id).execute();
  const uploads = (state: string, detail: string, at: string) => db.updateTable("pcaps").set({ state, detail, updated_at: at })
    .where("state", "=", "uploading").where("stored_at", "is", null).where("deleted_at", "is", null);
  const fileOf = (eb: ExpressionBuilder<Schema, "pcaps">) => eb.selectFrom("probe_files").select("probe_files.id")
    .whereRef("probe_files.id", "=", "pcaps.id").whereRef("probe_files.probe_id", "=", "pcaps.probe_id");
  return {
    async received({ after, limit }) {
      const rows = await db.selectFrom("pcaps").innerJoin("probe_files", (join) =>
        join.onRef("probe_files.id", "=", "pcaps.id").onRef("probe_files.probe_id", "=", "pcaps.probe_id"))
        .selectAll("pcaps").select(["probe_files.size as file_size", "probe_files.sha256 as file_sha256"])
        .where("probe_files.kind", "=", "capture").where("probe_files.state", "=", "received").where("pcaps.stored_at", "is", null).where("pcaps.id", ">", after)
        .where((eb) => eb.or([eb("pcaps.deleted_at", "is not", null), eb("pcaps.sha256", "!=", "")])).orderBy("pcaps.id").limit(limit).execute();
      return rows.map(({ file_size: size, file_sha256: sha256, ...row }) => ({ row, file: { size, sha256 } }));
    },
    settle: (row, change, file, also) => inTurn(db, row.tenant_id, async (trx) => {
      const changed = await trx.updateTable("pcaps").set(change).where("id", "=", row.id).where("probe_id", "=", row.probe_id)
        .where("stored_at", "is", null).where("deleted_at", "is", null).returning("id").executeTakeFirst();
      if (!changed) return false;
      await setFile(trx, row.probe_id, row.id, file);
      await also(trx);
      return true;
    }),
    async drop(probeId, id) {
      await setFile(db, probeId, id, "failed");
    },
    async uploading(probeId, id, at) {
      await db.updateTable("pcaps").set({ state: "uploading", updated_at: at }).where("id", "=", id).where("probe_id", "=", probeId)
        .where("state", "in", ["requested", "recording", "at_probe"]).where("deleted_at", "is", null).execute();
    },
    async backAtProbe(probeId, id, detail, at) {
      await db.updateTable("pcaps").set({ state: "at_probe", detail, updated_at: at }).where("id", "=", id).where("probe_id", "=", probeId)
        .where("state", "in", ["at_probe", "uploading"]).where("stored_at", "is", null).where("deleted_at", "is", null).execute();
    },
    async endUploads(staleBefore, at) {
      await uploads("failed", "the file came damaged again and again; it was given up", at)
        .where((eb) => eb.exists(fileOf(eb).where("probe_files.state", "=", "failed"))).execute();
      const isMissing = (eb: ExpressionBuilder<Schema, "pcaps">) => eb.not(eb.exists(fileOf(eb)));
      await uploads("at_probe", "the file did not come, or not whole; a download asks the probe for it again", at)
        .where("updated_at", "<", staleBefore).where("sha256", "!=", "").where(isMissing).execute();
      await uploads("failed", "the file did not come, and the probe has not said that it is whole", at)
        .where("updated_at", "<", staleBefore).where("sha256", "=", "").where(isMissing).execute();
    },
  };
}
