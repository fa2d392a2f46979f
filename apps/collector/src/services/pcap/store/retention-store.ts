import type { Kysely, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";
import type { PcapRow } from "./pcaps-store.ts";

/** A stored file as retention sees it. */
export type StoredPcap = Pick<PcapRow, "id" | "tenant_id" | "site_id" | "stored_bytes">;

/** What removes captures whose time is over. */
export interface PcapRetentionStore {
  /** Files that are not locked and were stored before `before`, the oldest first. */
  old(before: string, limit: number): Promise<readonly StoredPcap[]>;
  /** Sites whose files that are not locked have more bytes together than `bytes`. */
  sitesBeyond(bytes: number): Promise<readonly { readonly siteId: string; readonly bytes: number }[]>;
  /** A site's files that are not locked, the oldest first. */
  oldest(siteId: string, limit: number): Promise<readonly StoredPcap[]>;
  /**
   * The file is no longer here. Nobody can lock the capture meanwhile.
   * @param also What goes with it, given the capture as it was.
   * @returns False where it was locked or removed before.
   */
  expire(one: Pick<PcapRow, "id" | "tenant_id">, to: { readonly detail: string; readonly at: string }, also: (trx: Transaction<Schema>, row: PcapRow) => Promise<void>): Promise<boolean>;
  /** Those of the ids that have a file here. */
  stored(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Fails what should have gone on long ago. */
  failStale(before: { readonly requested: string; readonly recording: string }, at: string): Promise<void>;
  /** Forgets captures without a file that were last changed before `before`, and deleted ones. @returns How many. */
  forget(before: string, limit: number): Promise<number>;
  /** Forgets commands and live views that are over. */
  forgetCommands(before: string): Promise<void>;
  /** Captures by state, over all tenants. */
  byState(): Promise<Readonly<Record<string, number>>>;
  storedBytes(): Promise<number>;
  /** How many reports of captures were refused. */
  refused(): Promise<number>;
}

/** Over the collector's database. */
export function createPcapRetentionStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): PcapRetentionStore {
  const free = () => db.selectFrom("pcaps").select(["id", "tenant_id", "site_id", "stored_bytes"]).where("stored_at", "is not", null)
    .where("locked_at", "is", null).orderBy("stored_at").orderBy("id");
  return {
    old: (before, limit) => free().where("stored_at", "<", before).limit(limit).execute(),
    async sitesBeyond(bytes) {
      const rows = await db.selectFrom("pcaps").select((eb) => ["site_id", eb.fn.sum<number>("stored_bytes").as("bytes")])
        .where("stored_at", "is not", null).where("locked_at", "is", null).groupBy("site_id").execute();
      return rows.map((row) => ({ siteId: row.site_id, bytes: row.bytes })).filter((row) => row.bytes > bytes);
    },
    oldest: (siteId, limit) => free().where("site_id", "=", siteId).limit(limit).execute(),
    expire: ({ id, tenant_id: tenantId }, { detail, at }, also) => inTurn(db, tenantId, async (trx) => {
      const row = await trx.selectFrom("pcaps").selectAll().where("id", "=", id).where("stored_at", "is not", null).where("locked_at", "is", null).executeTakeFirst();
      if (!row) return false;
      await trx.updateTable("pcaps").set({ state: "expired", detail, stored_at: null, stored_bytes: 0, key_sealed: null, updated_at: at }).where("id", "=", id).execute();
      await also(trx, row);
      return true;
    }),
    async stored(ids) {
      const rows = await selectIn(ids, (list) => db.selectFrom("pcaps").select("id").where("id", "in", list).where("deleted_at", "is", null)
        .where((eb) => eb.or([eb("stored_at", "is not", null), eb("state", "in", ["uploading", "at_probe", "recording"])])).execute());
      return new Set(rows.map(({ id }) => id));
    },
    async failStale(before, at) {
      const fail = (state: string, earlier: string, detail: string) => db.updateTable("pcaps").set({ state: "failed", detail, updated_at: at })
        .where("state", "=", state).where("updated_at", "<", earlier).execute();
      await fail("requested", before.requested, "the probe did not answer");
      await fail("recording", before.recording, "the probe has not said for more than a day how it goes on");
    },
    async forget(before, limit) {
      const rows = await db.selectFrom("pcaps").select("id").where("stored_at", "is", null).where("locked_at", "is", null)
        .where("updated_at", "<", before).limit(limit).execute();
      for (const { id } of rows) await db.deleteFrom("pcaps").where("id", "=", id).where("stored_at", "is", null).where("locked_at", "is", null).execute();
      return rows.length;
    },
    async forgetCommands(before) {
      await db.deleteFrom("pcap_commands").where("expires_at", "<", before).execute();
      await db.deleteFrom("pcap_watches").where("used_at", "<", before).execute();
    },
    async byState() {
      const rows = await reads.selectFrom("pcaps").select((eb) => ["state", eb.fn.countAll<number>().as("total")]).where("deleted_at", "is", null)
        .groupBy("state").execute();
      return Object.fromEntries(rows.map(({ state, total }) => [state, total]));
    },
    storedBytes: async () => (await reads.selectFrom("pcaps").select((eb) => eb.fn.sum<number | null>("stored_bytes").as("bytes"))
      .executeTakeFirstOrThrow()).bytes ?? 0,
    refused: async () => (await reads.selectFrom("pcap_quotas").select((eb) => eb.fn.sum<number | null>("refused").as("total"))
      .executeTakeFirstOrThrow()).total ?? 0,
  };
}
