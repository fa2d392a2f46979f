import type { Kysely, Selectable, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";
import type { VersionRef } from "../rules/tasks.ts";

/** A rule set as stored. */
export type RulesetRow = Selectable<Schema["ids_rulesets"]>;
/** A version as stored. */
export type VersionRow = Selectable<Schema["ids_ruleset_versions"]>;
type Trx = Transaction<Schema>;

/** Rule sets and their versions. What decides reads on the write connection. */
export interface RulesetsStore {
  /** Work under the tenant's lock. */
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** In the order in which they were made. */
  all(handle: Trx | null, tenantId: string): Promise<readonly RulesetRow[]>;
  byId(handle: Trx | null, tenantId: string, id: string): Promise<RulesetRow | null>;
  /** Those that are due, whoever's. */
  due(now: string): Promise<readonly RulesetRow[]>;
  /** Those that are downloaded or read from files, and those of which something was reported, whoever's. */
  watched(): Promise<readonly RulesetRow[]>;
  add(trx: Trx, row: RulesetRow): Promise<void>;
  set(handle: Trx | null, id: string, columns: Partial<RulesetRow>): Promise<void>;
  remove(trx: Trx, id: string): Promise<void>;
  /** The newest first. */
  versions(handle: Trx | null, rulesetId: string): Promise<readonly VersionRow[]>;
  addVersion(trx: Trx, row: VersionRow, content: Uint8Array): Promise<void>;
  setVersion(trx: Trx, ref: VersionRef, columns: Partial<VersionRow>): Promise<void>;
  removeVersion(trx: Trx, ref: VersionRef): Promise<void>;
  /** A version's packed content; null where it is gone. */
  content(ref: VersionRef): Promise<Uint8Array | null>;
}

const PIECE_BYTES = 256 * 1024;

/** Over the collector's database. Content is in Base64 pieces, so that every collector has it. */
export function createRulesetsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): RulesetsStore {
  const ofVersion = ({ rulesetId, version }: VersionRef) => ({ ruleset_id: rulesetId, version });
  return {
    locked: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    all: (handle, tenantId) => (handle ?? reads).selectFrom("ids_rulesets").selectAll().where("tenant_id", "=", tenantId).orderBy("id").execute(),
    byId: async (handle, tenantId, id) =>
      (await (handle ?? reads).selectFrom("ids_rulesets").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
    due: (now) => db.selectFrom("ids_rulesets").selectAll().where("is_enabled", "=", 1).where("next_at", "<=", now).orderBy("next_at").execute(),
    watched: () => reads.selectFrom("ids_rulesets").selectAll().where((eb) => eb.or([eb("kind", "!=", "local"), eb("reported", "!=", "")])).orderBy("id").execute(),
    async add(trx, row) {
      await trx.insertInto("ids_rulesets").values(row).execute();
    },
    async set(handle, id, columns) {
      await (handle ?? db).updateTable("ids_rulesets").set(columns).where("id", "=", id).execute();
    },
    async remove(trx, id) {
      await trx.deleteFrom("ids_rulesets").where("id", "=", id).execute();
    },
    versions: (handle, rulesetId) => (handle ?? reads).selectFrom("ids_ruleset_versions").selectAll().where("ruleset_id", "=", rulesetId).orderBy("version", "desc").execute(),
    async addVersion(trx, row, content) {
      await trx.insertInto("ids_ruleset_versions").values(row).execute();
      const all = Buffer.from(content.buffer, content.byteOffset, content.length);
      for (let at = 0; at < all.length; at += PIECE_BYTES) {
        const piece = { piece: at / PIECE_BYTES, content: all.toString("base64", at, Math.min(at + PIECE_BYTES, all.length)) };
        await trx.insertInto("ids_version_pieces").values({ ruleset_id: row.ruleset_id, version: row.version, ...piece }).execute();
      }
    },
    async setVersion(trx, ref, columns) {
      const { ruleset_id: rulesetId, version } = ofVersion(ref);
      await trx.updateTable("ids_ruleset_versions").set(columns).where("ruleset_id", "=", rulesetId).where("version", "=", version).execute();
    },
    async removeVersion(trx, ref) {
      for (const table of ["ids_version_pieces", "ids_ruleset_versions"] as const) {
        await trx.deleteFrom(table).where("ruleset_id", "=", ref.rulesetId).where("version", "=", ref.version).execute();
      }
    },
    async content({ rulesetId, version }) {
      const pieces = await reads.selectFrom("ids_version_pieces").select("content").where("ruleset_id", "=", rulesetId).where("version", "=", version)
        .orderBy("piece").execute();
      return pieces.length === 0 ? null : Buffer.concat(pieces.map(({ content }) => Buffer.from(content, "base64")));
    },
  };
}
