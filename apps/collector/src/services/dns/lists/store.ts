import type { Kysely, Selectable, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";

/** A list as stored. */
export type ListRow = Selectable<Schema["dns_lists"]>;
/** A version as stored. */
export type VersionRow = Selectable<Schema["dns_list_versions"]>;
type Trx = Transaction<Schema>;

/** Lists and their versions. What decides reads on the write connection. */
export interface ListsStore {
  /** Work under the tenant's lock. */
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** In the order in which they were made. */
  all(handle: Trx | null, tenantId: string): Promise<readonly ListRow[]>;
  byId(handle: Trx | null, tenantId: string, id: string): Promise<ListRow | null>;
  /** Which of some lists are there, whoever's. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those that are due, whoever's. */
  due(now: string): Promise<readonly ListRow[]>;
  /** Those that are downloaded or read from files, and those of which something was reported, whoever's. */
  watched(): Promise<readonly ListRow[]>;
  add(trx: Trx, row: ListRow): Promise<void>;
  set(handle: Trx | null, id: string, columns: Partial<ListRow>): Promise<void>;
  remove(trx: Trx, id: string): Promise<void>;
  /** The newest first. */
  versions(handle: Trx | null, listId: string): Promise<readonly VersionRow[]>;
  addVersion(trx: Trx, row: VersionRow, content: Uint8Array): Promise<void>;
  setVersion(trx: Trx, listId: string, version: number, columns: Partial<VersionRow>): Promise<void>;
  removeVersion(trx: Trx, listId: string, version: number): Promise<void>;
  /** A version's parts; null where it is gone. */
  parts(row: Pick<VersionRow, "list_id" | "version" | "parts">): Promise<readonly Buffer[] | null>;
}

const PIECE_BYTES = 256 * 1024;

/** Over the collector's database. Content is in Base64 pieces, so that every collector has it. */
export function createListsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): ListsStore {
  return {
    locked: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    all: (handle, tenantId) => (handle ?? reads).selectFrom("dns_lists").selectAll().where("tenant_id", "=", tenantId).orderBy("id").execute(),
    byId: async (handle, tenantId, id) =>
      (await (handle ?? reads).selectFrom("dns_lists").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
    existing: async (ids) => new Set((await selectIn(ids, (list) => db.selectFrom("dns_lists").select("id").where("id", "in", list).execute())).map(({ id }) => id)),
    due: (now) => db.selectFrom("dns_lists").selectAll().where("is_enabled", "=", 1).where("next_at", "<=", now).orderBy("next_at").execute(),
    watched: () => reads.selectFrom("dns_lists").selectAll().where((eb) => eb.or([eb("kind", "!=", "local"), eb("reported", "!=", "")])).orderBy("id").execute(),
    async add(trx, row) {
      await trx.insertInto("dns_lists").values(row).execute();
    },
    async set(handle, id, columns) {
      await (handle ?? db).updateTable("dns_lists").set(columns).where("id", "=", id).execute();
    },
    async remove(trx, id) {
      await trx.deleteFrom("dns_lists").where("id", "=", id).execute();
    },
    versions: (handle, listId) => (handle ?? reads).selectFrom("dns_list_versions").selectAll().where("list_id", "=", listId).orderBy("version", "desc").execute(),
    async addVersion(trx, row, content) {
      await trx.insertInto("dns_list_versions").values(row).execute();
      const all = Buffer.from(content.buffer, content.byteOffset, content.length);
      for (let at = 0; at < all.length; at += PIECE_BYTES) {
        const piece = { piece: at / PIECE_BYTES, content: all.toString("base64", at, Math.min(at + PIECE_BYTES, all.length)) };
        await trx.insertInto("dns_list_pieces").values({ list_id: row.list_id, version: row.version, ...piece }).execute();
      }
    },
    async setVersion(trx, listId, version, columns) {
      await trx.updateTable("dns_list_versions").set(columns).where("list_id", "=", listId).where("version", "=", version).execute();
    },
    async removeVersion(trx, listId, version) {
      for (const table of ["dns_list_pieces", "dns_list_versions"] as const) await trx.deleteFrom(table).where("list_id", "=", listId).where("version", "=", version).execute();
    },
    async parts({ list_id: listId, version, parts }) {
      const pieces = await reads.selectFrom("dns_list_pieces").select("content").where("list_id", "=", listId).where("version", "=", version).orderBy("piece").execute();
      const content = Buffer.concat(pieces.map((piece) => Buffer.from(piece.content, "base64")));
      let end = 0;
      const cut = (JSON.parse(parts) as readonly number[]).map((length) => content.subarray(end, (end += length)));
      return end === content.length && cut.length > 0 ? cut : null;
    },
  };
}
