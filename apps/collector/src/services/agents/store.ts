import type { Insertable, Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { siteExists } from "../../db/locks/site-exists.ts";
import type { Rows } from "../../gateway/page.ts";

/** A probe with its site's settings revision, and the watermark of the queue it uses now: null before its first batch. */
export type ProbeRow = Selectable<Schema["probes"]> & { readonly watermark: number | null; readonly site_revision: number };
/** Known by when it was taken. */
export interface HealthRow {
  readonly id: string;
  readonly health: string;
}
interface Period {
  readonly since: string | undefined;
  readonly until: string | undefined;
}
/** An enrollment token as stored: `secret_sha256` in hexadecimal, `used_at` and `probe_id` null until a probe has enrolled with it. */
export type TokenRow = Selectable<Schema["enrollment_tokens"]>;

type Trx = Transaction<Schema>;

/** Tokens by which probes enroll. */
interface TokensStore {
  createToken(trx: Trx, token: Insertable<Schema["enrollment_tokens"]>): Promise<void>;
  tokenBySecret(secretSha256: string): Promise<TokenRow | null>;
  /** Newest first; of those that were not used, no older than `expiredAfter`. */
  listTokens(tenantId: string, expiredAfter: string, rows: Rows): Promise<readonly TokenRow[]>;
  countTokens(tenantId: string, expiredAfter: string): Promise<number>;
  /** Null where `listTokens` does not show it either. */
  tokenById(tenantId: string, expiredAfter: string, tokenId: string): Promise<TokenRow | null>;
  /** Only one that was not used goes. @returns It as it was; null when there is none. */
  removeToken(trx: Trx, tenantId: string, tokenId: string): Promise<TokenRow | null>;
}

/** Enrolled probes and their samples of health. */
interface ProbesStore {
  /** @returns The name that it had; null when there is no such probe. */
  rename(trx: Trx, tenantId: string, probeId: string, name: string): Promise<string | null>;
  /** Newest first. */
  listHealth(probeId: string, period: Period, rows: Rows): Promise<readonly HealthRow[]>;
  countHealth(probeId: string, period: Period): Promise<number>;
  /** In the order of enrollment. */
  listProbes(tenantId: string, rows: Rows): Promise<readonly ProbeRow[]>;
  countProbes(tenantId: string): Promise<number>;
  probeById(tenantId: string, probeId: string): Promise<ProbeRow | null>;
  /** @returns When it was revoked: at another time than `at` when it was already; null when there is no such probe. */
  revoke(trx: Trx, tenantId: string, probeId: string, at: string): Promise<Pick<Schema["probes"], "name" | "revoked_at"> | null>;
}

/** The keys with which probes may come in. */
interface CertificatesStore {
  /**
   * Uses the token up and makes the probe.
   * @returns False when the token was used, or ran out, in the meantime: of two at once one wins.
   */
  enroll(trx: Trx, tokenId: string, probe: Insertable<Schema["probes"]>): Promise<boolean>;
  /**
   * The tenant of a probe that is not revoked and whose key counts: the current one, or the one before until the current one is first used,
   * which is noted here.
   * @param key Of its certificate, SubjectPublicKeyInfo in Base64.
   * @returns `supersedes` says that this was the first use of the current key: from now on the one before is refused.
   */
  admit(probeId: string, key: string): Promise<{ readonly tenantId: string; readonly supersedes: boolean } | null>;
  /** @returns Null for a probe that is unknown or revoked, and for one whose key was superseded meanwhile. */
  renew(
    trx: Trx, probeId: string, certificate: {
      readonly serial: string; readonly expiresAt: string; readonly publicKey: string;
      /** Of the certificate with which it asked: it counts until the new one is first used. */
      readonly previousPublicKey: string;
    },
  ): Promise<Pick<Schema["probes"], "tenant_id" | "name"> | null>;
}

/** Rows of probes, enrollment tokens and health samples. */
export interface AgentsStore extends TokensStore, ProbesStore, CertificatesStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
}

/** `admit` and `renew` take a probe's id without a tenant: callers have it from the probe's own certificate. */
export function createAgentsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): AgentsStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    ...tokensStore(reads), ...probesStore(reads), ...certificatesStore(db, reads),
  };
}

function tokensStore(reads: Kysely<Schema>): TokensStore {
  const tokens = (tenantId: string, expiredAfter: string) => reads.selectFrom("enrollment_tokens").where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("used_at", "is not", null), eb("expires_at", ">", expiredAfter)]));
  return {
    async createToken(trx, token) {
      await trx.insertInto("enrollment_tokens").values(token).execute();
    },
    async tokenBySecret(secretSha256) {
      return (await reads.selectFrom("enrollment_tokens").selectAll().where("secret_sha256", "=", secretSha256).executeTakeFirst()) ?? null;
    },
    listTokens(tenantId, expiredAfter, { from, limit }) {
      const query = tokens(tenantId, expiredAfter).selectAll().orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    async countTokens(tenantId, expiredAfter) {
      return (await tokens(tenantId, expiredAfter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    async tokenById(tenantId, expiredAfter, tokenId) {
      return (await tokens(tenantId, expiredAfter).selectAll().where("id", "=", tokenId).executeTakeFirst()) ?? null;
    },
    async removeToken(trx, tenantId, tokenId) {
      const removed = await trx.deleteFrom("enrollment_tokens").where("tenant_id", "=", tenantId).where("id", "=", tokenId).where(
        "used_at", "is", null,
      )
        .returningAll().executeTakeFirst();
      return removed ?? (await trx.selectFrom("enrollment_tokens").selectAll().where("tenant_id", "=", tenantId).where("id", "=", tokenId)
        .executeTakeFirst()) ?? null;
    },
  };
}

function probesStore(reads: Kysely<Schema>): ProbesStore {
  // The queue that was written to last is the one in use: an older one is left behind when a probe's queue file is made anew.
  const probes = () => reads.selectFrom("probes").innerJoin("sites", "sites.id", "probes.site_id").selectAll("probes")
    .select("sites.configuration_revision as site_revision").select((eb) => eb.selectFrom("probe_queues").select("watermark")
      .whereRef("probe_queues.probe_id", "=", "probes.id").orderBy("updated_at", "desc").limit(1).as("watermark"));
  const samples = (probeId: string, { since, until }: Period) => {
    let query = reads.selectFrom("probe_health").where("probe_id", "=", probeId);
    if (since !== undefined) query = query.where("at", ">=", since);
    return until === undefined ? query : query.where("at", "<", until);
  };
  return {
    async rename(trx, tenantId, probeId, name) {
      const before = await trx.selectFrom("probes").select("name").where("tenant_id", "=", tenantId).where("id", "=", probeId)
        .executeTakeFirst();
      if (!before) return null;
      await trx.updateTable("probes").set({ name }).where("id", "=", probeId).execute();
      return before.name;
    },
    listHealth(probeId, period, { from, limit }) {
      const query = samples(probeId, period).select(["at as id", "health"]).orderBy("at", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("at", "<", from)).execute();
    },
    async countHealth(probeId, period) {
      return (await samples(probeId, period).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    listProbes(tenantId, { from, limit }) {
      const query = probes().where("probes.tenant_id", "=", tenantId).orderBy("probes.id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("probes.id", ">", from)).execute();
    },
    async countProbes(tenantId) {
      const row = await reads.selectFrom("probes").select((eb) => eb.fn.countAll<number>().as("total")).where("tenant_id", "=", tenantId)
        .executeTakeFirstOrThrow();
      return row.total;
    },
    async probeById(tenantId, probeId) {
      return (await probes().where("probes.tenant_id", "=", tenantId).where("probes.id", "=", probeId).executeTakeFirst()) ?? null;
    },
    async revoke(trx, tenantId, probeId, at) {
      return (await trx.updateTable("probes").set((eb) => ({ revoked_at: eb.fn.coalesce("revoked_at", eb.val(at)) }))
        .where("tenant_id", "=", tenantId).where("id", "=", probeId).returning(["name", "revoked_at"]).executeTakeFirst()) ?? null;
    },
  };
}

function certificatesStore(db: Kysely<Schema>, reads: Kysely<Schema>): CertificatesStore {
  return {
    async enroll(trx, tokenId, probe) {
      const { numUpdatedRows } = await trx.updateTable("enrollment_tokens").set({ used_at: probe.enrolled_at, probe_id: probe.id })
        .where("id", "=", tokenId).where("used_at", "is", null).where("expires_at", ">", probe.enrolled_at).executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await trx.insertInto("probes").values(probe).execute();
      return true;
    },
    async admit(probeId, key) {
      const row = await reads.selectFrom("probes").select(["tenant_id", "public_key", "previous_public_key"]).where("id", "=", probeId)
        .where("revoked_at", "is", null).executeTakeFirst();
      if (!row) return null;
      const { tenant_id: tenantId, public_key: current, previous_public_key: previous } = row;
      if (key === current && previous === null) return { tenantId, supersedes: false };
      if (key === previous) return { tenantId, supersedes: false };
      // A probe of before keys were noted has none: the first one that it shows is its own.
      if (key !== current && current !== null) return null;
      const { numUpdatedRows } = await db.updateTable("probes").set({ public_key: key, previous_public_key: null }).where("id", "=", probeId)
        .where("revoked_at", "is", null).where((eb) => eb.or([eb("public_key", "=", key), eb("public_key", "is", null)])).executeTakeFirst();
      return numUpdatedRows === 0n ? null : { tenantId, supersedes: true };
    },
    async renew(trx, probeId, { serial, expiresAt, publicKey, previousPublicKey }) {
      const keys = { public_key: publicKey, previous_public_key: previousPublicKey };
      return (await trx.updateTable("probes").set({ certificate_serial: serial, certificate_expires_at: expiresAt, ...keys })
        .where("id", "=", probeId).where("revoked_at", "is", null)
        .where((eb) => eb.or([eb("public_key", "=", previousPublicKey), eb("previous_public_key", "=", previousPublicKey)]))
        .returning(["tenant_id", "name"]).executeTakeFirst()) ?? null;
    },
  };
}
