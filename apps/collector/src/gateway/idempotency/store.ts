import { createHash, hkdfSync } from "node:crypto";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { singleKey } from "../../sealing/keyring.ts";
import { createSealing, type Sealing } from "../../sealing/sealing.ts";

/** Whose key, and for which request. */
export interface KeyedRequest {
  readonly tenantId: string;
  /** The user or API key, which outlives a token. */
  readonly caller: string;
  readonly key: string;
  /** A digest of method, path and body. */
  readonly fingerprint: string;
}

/** An answer as it is kept. `body` is base64; null for none. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** What is known of a request that comes with a key. */
export type Begun =
  /** Nobody has done it: it is the caller's to do, and to `keep` or `release` by this id. */
  | { readonly state: "mine"; readonly runId: string }
  | { readonly state: "running" }
  | { readonly state: "done"; readonly answer: KeptAnswer }
  /** Done, but the answer was lost, or the deployment's secret has been changed since. */
  | { readonly state: "unreadable" }
  /** The key was used for something else. */
  | { readonly state: "other" };

/**
 * Requests by idempotency key, kept for 24 hours. A request without an answer can be repeated after 60 seconds.
 * @see draft-ietf-httpapi-idempotency-key-header
 */
export interface IdempotencyStore {
  begin(request: KeyedRequest): Promise<Begun>;
  /** @param answer Null when it is not known. */
  keep(runId: string, request: KeyedRequest, answer: KeptAnswer | null): Promise<void>;
  /** Forgets the key: the request may be done again. */
  release(runId: string): Promise<void>;
  /** Forgets what is over. */
  purge(): Promise<void>;
}

const KEEP_MS = 24 * 3_600_000;
/** Twice a request's time limit: whoever has not answered by then has died, and the next one may try. */
const LEASE_MS = 60_000;

/**
 * Keys and answers in the database, so that every replica knows them. An answer may be nobody else's business, so it lies there
 * sealed, by a key made of the deployment's secret and the client's own key, of which only a digest is kept.
 */
export function createIdempotencyStore(deps: {
  readonly db: Kysely<Schema>;
  readonly clock: Pick<Clock, "now">;
  readonly secret: Uint8Array;
}): IdempotencyStore {
  const { db, clock, secret } = deps;
  return {
    async begin(request) {
      const { tenantId, caller, key, fingerprint } = request;
      const now = clock.now();
      const at = toInstant(now);
      const row = {
        tenant_id: tenantId, caller, key_sha256: digest(key), fingerprint, run_id: createId(), leased_until: toInstant(now + LEASE_MS),
        expires_at: toInstant(now + KEEP_MS), answer: null,
      };
      const taken = await db.insertInto("idempotency_keys").values(row)
        .onConflict((conflict) => conflict.columns(["tenant_id", "caller", "key_sha256"])
        .doUpdateSet({ fingerprint, run_id: row.run_id, leased_until: row.leased_until, expires_at: row.expires_at, answer: null })
        .where((eb) => eb.or([
          eb("idempotency_keys.expires_at", "<=", at),
          eb.and([eb("idempotency_keys.answer", "is", null), eb("idempotency_keys.leased_until", "<=", at),
            eb("idempotency_keys.fingerprint", "=", fingerprint)]),
        ]))).returning("run_id").executeTakeFirst();
      if (taken) return { state: "mine", runId: taken.run_id };
      const known = await db.selectFrom("idempotency_keys").select(["fingerprint", "answer"])
        .where("tenant_id", "=", tenantId).where("caller", "=", caller).where("key_sha256", "=", row.key_sha256).executeTakeFirst();
      if (known && known.fingerprint !== fingerprint) return { state: "other" };
      // Gone between the two questions: whoever had it has released it, and asking again takes it.
      if (!known || known.answer === null) return { state: "running" };
      const text = openAnswer(sealingFor(secret, request), known.answer);
      return text === null ? { state: "unreadable" } : { state: "done", answer: JSON.parse(text) as KeptAnswer };
    },

    async keep(runId, request, answer) {
      const sealed = answer === null ? "" : sealingFor(secret, request).seal(JSON.stringify(answer), OWNER);
      await db.updateTable("idempotency_keys").set({ answer: sealed }).where("run_id", "=", runId).execute();
    },

    async release(runId) {
      await db.deleteFrom("idempotency_keys").where("run_id", "=", runId).execute();
    },

    async purge() {
      await db.deleteFrom("idempotency_keys").where("expires_at", "<=", toInstant(clock.now())).execute();
    },
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What binds an answer to its request is the key itself. */
const OWNER = "kept answer";

function sealingFor(secret: Uint8Array, { tenantId, caller, key }: KeyedRequest): Sealing {
  return createSealing(singleKey(new Uint8Array(hkdfSync("sha256", secret, key, `lanthorn kept answer\n${tenantId}\n${caller}`, 32))));
}

/** @returns Null when the answer was lost, or the deployment's secret has been changed since. */
function openAnswer(sealing: Sealing, sealed: string): string | null {
  try {
    return sealing.open(sealed, OWNER);
  } catch {
    return null;
  }
}
