import type { Insertable, Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

type Trx = Transaction<Schema>;
/** A version as stored. `version` counts from 1 for each device. `content_sealed` is gzip, base64, sealed; sizes are of the plain text. */
export type VersionRow = Selectable<Schema["config_versions"]>;
/** Without the text, which may be large. */
export type ListedVersion = Omit<VersionRow, "content_sealed">;
/** What an event about a device's configuration names it by. */
export type DeviceRow = Pick<Schema["devices"], "id" | "site_id" | "ip" | "hostname">;

const LISTED = [
  "id", "tenant_id", "device_id", "version", "size_bytes", "lines", "lines_added", "lines_removed", "changed_by", "comment", "captured_at",
  "created_at",
] as const;

/** Versions of one tenant's devices. They stay when their device is deleted. */
export interface ConfigVersionsStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  device(tenantId: string, deviceId: string): Promise<DeviceRow | null>;
  /** Newest first. */
  list(tenantId: string, deviceId: string, rows: Rows): Promise<readonly ListedVersion[]>;
  count(tenantId: string, deviceId: string): Promise<number>;
  byId(tenantId: string, deviceId: string, versionId: string): Promise<VersionRow | null>;
  byNumber(tenantId: string, deviceId: string, version: number): Promise<VersionRow | null>;
  latest(tenantId: string, deviceId: string): Promise<VersionRow | null>;
  /** The number of the version before, where there is one. */
  before(tenantId: string, deviceId: string, version: number): Promise<number | null>;
  latestNumber(trx: Trx, deviceId: string): Promise<number>;
  create(trx: Trx, row: Insertable<Schema["config_versions"]>): Promise<void>;
  /** Forgets all but the newest `keep`. */
  prune(trx: Trx, deviceId: string, keep: number): Promise<void>;
  remove(trx: Trx, versionId: string): Promise<void>;
  /** Forgets versions made before `at`, but for the newest one of each device that is still there. @returns How many. */
  forget(at: string): Promise<number>;
}

/** Two uploads with one version number violate a unique key, which is thrown as the database's own error. */
export function createConfigVersionsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): ConfigVersionsStore {
  const of = (tenantId: string, deviceId: string) =>
    reads.selectFrom("config_versions").where("tenant_id", "=", tenantId).where("device_id", "=", deviceId);
  return {
    transaction: (work) => db.transaction().execute(work),
    async device(tenantId, deviceId) {
      return (await reads.selectFrom("devices").select(["id", "site_id", "ip", "hostname"]).where("tenant_id", "=", tenantId).where(
        "id", "=", deviceId,
      )
        .executeTakeFirst()) ?? null;
    },
    list(tenantId, deviceId, { from, limit }) {
      const query = of(tenantId, deviceId).select(LISTED).orderBy("version", "desc").limit(limit);
      if (typeof from === "number") return query.offset(from).execute();
      return query.where(
        "version", "<", (eb) => eb.selectFrom("config_versions as last").select("last.version").where("last.id", "=", from),
      ).execute();
    },
    async count(tenantId, deviceId) {
      return (await of(tenantId, deviceId).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    async byId(tenantId, deviceId, versionId) {
      return (await of(tenantId, deviceId).selectAll().where("id", "=", versionId).executeTakeFirst()) ?? null;
    },
    async byNumber(tenantId, deviceId, version) {
      return (await of(tenantId, deviceId).selectAll().where("version", "=", version).executeTakeFirst()) ?? null;
    },
    async latest(tenantId, deviceId) {
      return (await of(tenantId, deviceId).selectAll().orderBy("version", "desc").limit(1).executeTakeFirst()) ?? null;
    },
    async before(tenantId, deviceId, version) {
      const row = await of(tenantId, deviceId).select("version").where("version", "<", version).orderBy("version", "desc").limit(1)
        .executeTakeFirst();
      return row?.version ?? null;
    },
    async latestNumber(trx, deviceId) {
      const row = await trx.selectFrom("config_versions").select("version").where("device_id", "=", deviceId).orderBy(
        "version", "desc",
      ).limit(1)
        .executeTakeFirst();
      return row?.version ?? 0;
    },
    async create(trx, row) {
      await trx.insertInto("config_versions").values(row).execute();
    },
    async prune(trx, deviceId, keep) {
      const oldest = await trx.selectFrom("config_versions").select("version").where("device_id", "=", deviceId).orderBy(
        "version", "desc",
      ).offset(keep).limit(1)
        .executeTakeFirst();
      if (oldest) {
        await trx.deleteFrom("config_versions").where("device_id", "=", deviceId).where("version", "<=", oldest.version).execute();
      }
    },
    async remove(trx, versionId) {
      await trx.deleteFrom("config_versions").where("id", "=", versionId).execute();
    },
    async forget(at) {
      const { numDeletedRows } = await db.deleteFrom("config_versions").where("created_at", "<", at).where((eb) => eb.or([
        eb.not(eb.exists(eb.selectFrom("devices").select("devices.id").whereRef("devices.id", "=", "config_versions.device_id"))),
        eb.exists(eb.selectFrom("config_versions as newer").select("newer.id").whereRef("newer.device_id", "=", "config_versions.device_id")
          .whereRef("newer.version", ">", "config_versions.version")),
      ])).executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
