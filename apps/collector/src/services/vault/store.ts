import type { Insertable, Kysely, Selectable, Transaction, Updateable } from "kysely";
import { insertMany } from "../../db/query/write-many.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

type Trx = Transaction<Schema>;

/** Whom a credential is handed to. */
export interface Assigned {
  readonly site_ids: readonly string[];
  readonly probe_ids: readonly string[];
}

/** A credential with whom it is handed to. `settings` and `networks` are JSON text, `secret_sealed` is sealed JSON. */
export type CredentialRow = Selectable<Schema["credentials"]> & { readonly assigned: Assigned };

/** Rows of credentials and their assignments. Secrets go in and out sealed. */
export interface VaultStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** In the order in which they were made. */
  list(tenantId: string, rows: Rows): Promise<readonly CredentialRow[]>;
  count(tenantId: string): Promise<number>;
  byId(tenantId: string, credentialId: string): Promise<CredentialRow | null>;
  /** As the transaction sees it; until it ends, no other changes it. */
  hold(trx: Trx, tenantId: string, credentialId: string): Promise<CredentialRow | null>;
  /** Fails by the name's constraint when the tenant has one of this name. */
  create(trx: Trx, row: Insertable<Schema["credentials"]>): Promise<void>;
  update(trx: Trx, credentialId: string, change: Updateable<Schema["credentials"]>): Promise<void>;
  remove(trx: Trx, credentialId: string): Promise<void>;
  /** In place of whom it was handed to. */
  assign(trx: Trx, credential: { readonly id: string; readonly tenantId: string }, to: Assigned): Promise<void>;
  /** @returns Ids that are no site or probe of the tenant's; a revoked probe is none. */
  unknown(trx: Trx, tenantId: string, to: Assigned): Promise<readonly string[]>;
  /** Raises the settings revision of these probes and of the probes of these sites. @returns Those probes. */
  touch(trx: Trx, tenantId: string, to: Assigned): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** How many a probe is handed. */
  countFor(handle: Kysely<Schema>, probeId: string): Promise<number>;
  /** What a probe is handed, by name. */
  ofProbe(probeId: string): Promise<readonly Selectable<Schema["credentials"]>[]>;
  /** The keys that a probe may have now, SubjectPublicKeyInfo in Base64. */
  keysOf(probeId: string): Promise<readonly string[]>;
}

/** `keysOf`, `ofProbe` and `countFor` take a probe's id without a tenant: callers have it from the probe's own connection. */
export function createVaultStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): VaultStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    async list(tenantId, { from, limit }) {
      const query = reads.selectFrom("credentials").selectAll().where("tenant_id", "=", tenantId).orderBy("id").limit(limit);
      return withAssigned(reads, await (typeof from === "number" ? query.offset(from) : query.where("id", ">", from)).execute());
    },
    async count(tenantId) {
      return (await reads.selectFrom("credentials").select((eb) => eb.fn.countAll<number>().as("total")).where("tenant_id", "=", tenantId)
        .executeTakeFirstOrThrow()).total;
    },
    async byId(tenantId, credentialId) {
      const rows = await reads.selectFrom("credentials").selectAll().where("tenant_id", "=", tenantId).where("id", "=", credentialId)
        .execute();
      return (await withAssigned(reads, rows))[0] ?? null;
    },
    // A write of nothing: both databases lock the row by it, and SQLite knows no SELECT … FOR UPDATE.
    async hold(trx, tenantId, credentialId) {
      const rows = await trx.updateTable("credentials").set((eb) => ({ name: eb.ref("name") }))
        .where("tenant_id", "=", tenantId).where("id", "=", credentialId).returningAll().execute();
      return (await withAssigned(trx, rows))[0] ?? null;
    },
    async create(trx, row) {
      await trx.insertInto("credentials").values(row).execute();
    },
    async update(trx, credentialId, change) {
      await trx.updateTable("credentials").set(change).where("id", "=", credentialId).execute();
    },
    async remove(trx, credentialId) {
      await trx.deleteFrom("credentials").where("id", "=", credentialId).execute();
    },
    async assign(trx, { id: credential_id, tenantId: tenant_id }, to) {
      await trx.deleteFrom("credential_assignments").where("credential_id", "=", credential_id).execute();
      await insertMany(trx, "credential_assignments", [
        ...to.site_ids.map((site_id) => ({ credential_id, tenant_id, site_id, probe_id: null })),
        ...to.probe_ids.map((probe_id) => ({ credential_id, tenant_id, site_id: null, probe_id })),
      ]);
    },
    async unknown(trx, tenantId, { site_ids: sites, probe_ids: probes }) {
      const known = new Set([
        ...(sites.length === 0 ? [] : await trx.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).where("id", "in", sites)
          .execute()),
        ...(probes.length === 0 ? [] : await trx.selectFrom("probes").select("id").where("tenant_id", "=", tenantId).where(
          "id", "in", probes,
        )
          .where("revoked_at", "is", null).execute()),
      ].map(({ id }) => id));
      return [...sites, ...probes].filter((id) => !known.has(id));
    },
    async touch(trx, tenantId, { site_ids: sites, probe_ids: probes }) {
      if (sites.length + probes.length === 0) return [];
      return trx.updateTable("probes").set((eb) => ({ configuration_revision: eb("configuration_revision", "+", 1) }))
        .where("tenant_id", "=", tenantId).where("revoked_at", "is", null)
        .where((eb) => eb.or([
          ...(sites.length > 0 ? [eb("site_id", "in", sites)] : []), ...(probes.length > 0 ? [eb("id", "in", probes)] : []),
        ]))
        .returning(["id", "name"]).execute();
    },
    async countFor(handle, probeId) {
      return (await handedTo(handle, probeId).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    ofProbe: (probeId) => handedTo(reads, probeId).selectAll("credentials").orderBy("credentials.name").execute(),
    async keysOf(probeId) {
      const row = await reads.selectFrom("probes").select(["public_key", "previous_public_key"]).where("id", "=", probeId)
        .where("revoked_at", "is", null).executeTakeFirst();
      return [row?.public_key, row?.previous_public_key].filter((key) => typeof key === "string");
    },
  };
}

async function withAssigned(handle: Kysely<Schema>, rows: readonly Selectable<Schema["credentials"]>[]): Promise<CredentialRow[]> {
  if (rows.length === 0) return [];
  const all = await handle.selectFrom("credential_assignments").select(["credential_id", "site_id", "probe_id"])
    .where("credential_id", "in", rows.map(({ id }) => id)).execute();
  return rows.map((row) => {
    const mine = all.filter(({ credential_id: id }) => id === row.id);
    const ids = (column: "site_id" | "probe_id") => mine.flatMap((entry) => entry[column] ?? []).toSorted();
    return { ...row, assigned: { site_ids: ids("site_id"), probe_ids: ids("probe_id") } };
  });
}

/** Of a probe, by itself or by its site; its own row says which that is. */
function handedTo(handle: Kysely<Schema>, probeId: string) {
  return handle.selectFrom("credentials").where("credentials.id", "in", (eb) =>
    eb.selectFrom("credential_assignments").innerJoin("probes", (join) => join.on((on) => on.or([
      on("probes.site_id", "=", on.ref("credential_assignments.site_id")), on("probes.id", "=", on.ref("credential_assignments.probe_id")),
    ]))).select("credential_id").where("probes.id", "=", probeId));
}
