import type { FileBegin } from "@lanthorn/contract";
import type { Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

/** A file of a probe as stored: `open` while pieces come, `received` when verified, `taken` when its content has become a capture, `failed` when damaged three times. Sizes in bytes. */
export type FileRow = Selectable<Schema["probe_files"]>;

/** What a probe has of its quotas. */
export interface FileUse {
  readonly open: number;
  readonly keptBytes: number;
  readonly dayFiles: number;
  readonly dayBytes: number;
}

/** The rows of files that probes send up. A file is found by the probe that sends it and its id, never by the id alone. */
export interface FilesStore {
  find(probeId: string, id: string): Promise<FileRow | null>;
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  probeExists(tenantId: string, probeId: string): Promise<boolean>;
  /** A probe's files by their ids. */
  list(tenantId: string, probeId: string, rows: Rows): Promise<readonly FileRow[]>;
  count(tenantId: string, probeId: string): Promise<number>;
  /** @param dayStart Since when files count for the day's quota. */
  use(probeId: string, dayStart: string): Promise<FileUse>;
  insert(probe: { readonly id: string; readonly tenantId: string }, file: FileBegin, at: string): Promise<void>;
  update(probeId: string, id: string, change: Partial<Pick<FileRow, "received" | "state" | "attempts">>, at: string): Promise<void>;
  /** Files whose time is over: unfinished and failed ones, and whole ones, last touched before these moments. */
  expired(before: { readonly open: string; readonly failed: string; readonly received: string }): Promise<readonly FileRow[]>;
  remove(probeId: string, id: string): Promise<void>;
}

/** What decides about a piece or a quota reads on the write connection; lists read committed rows. */
export function createFilesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): FilesStore {
  const ofProbe = (tenantId: string, probeId: string) =>
    reads.selectFrom("probe_files").where("tenant_id", "=", tenantId).where("probe_id", "=", probeId);
  return {
    transaction: (work) => db.transaction().execute(work),
    probeExists: async (tenantId, probeId) =>
      (await reads.selectFrom("probes").select("id").where("tenant_id", "=", tenantId).where("id", "=", probeId).executeTakeFirst()) !== undefined,
    list(tenantId, probeId, { from, limit }) {
      const query = ofProbe(tenantId, probeId).selectAll().orderBy("id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", ">", from)).execute();
    },
    count: async (tenantId, probeId) =>
      (await ofProbe(tenantId, probeId).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total,
    async find(probeId, id) {
      return (await db.selectFrom("probe_files").selectAll().where("probe_id", "=", probeId).where("id", "=", id).executeTakeFirst()) ?? null;
    },
    async use(probeId, dayStart) {
      const rows = await db.selectFrom("probe_files").select(["size", "state", "attempts", "created_at"]).where("probe_id", "=", probeId)
        .execute();
      const today = rows.filter(({ created_at }) => created_at >= dayStart);
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
      return {
        open: rows.filter(({ state }) => state === "open").length,
        keptBytes: sum(rows.filter(({ state }) => state === "open" || state === "received").map(({ size }) => size)),
        dayFiles: today.length,
        dayBytes: sum(today.map(({ size, attempts, state }) => size * (attempts + (state === "failed" ? 0 : 1)))),
      };
    },
    async insert({ id: probeId, tenantId }, { id, kind, size, sha256 }, at) {
      await db.insertInto("probe_files").values({
        probe_id: probeId, id, tenant_id: tenantId, kind, size, sha256, received: 0, state: "open", attempts: 0, created_at: at,
        updated_at: at,
      }).execute();
    },
    async update(probeId, id, change, at) {
      await db.updateTable("probe_files").set({ ...change, updated_at: at }).where("probe_id", "=", probeId).where("id", "=", id).execute();
    },
    expired: (before) => reads.selectFrom("probe_files").selectAll().where((eb) => eb.or(
      (["open", "failed", "received", "taken"] as const).map((state) =>
        eb.and([eb("state", "=", state), eb("updated_at", "<", before[state === "taken" ? "received" : state])])),
    )).limit(1000).execute(),
    async remove(probeId, id) {
      await db.deleteFrom("probe_files").where("probe_id", "=", probeId).where("id", "=", id).execute();
    },
  };
}
