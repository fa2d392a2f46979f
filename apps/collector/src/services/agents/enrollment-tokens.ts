import { createHash, randomBytes } from "node:crypto";
import { type EnrollmentToken, type EnrollmentTokenRecord, formatEnrollmentToken, type List } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Authority } from "../../certificates/authority.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import { toTokenRecord } from "./records.ts";
import type { AgentsStore } from "./store.ts";

/** The tokens with which probes enroll. */
export interface EnrollmentTokens {
  /** The token is shown in the answer and nowhere else: what is kept is its hash. */
  createToken(actor: Actor, token: { readonly site_id: string; readonly ttl_seconds: number }): Promise<EnrollmentToken>;
  /** Newest first; those that ran out are there for a day. */
  listTokens(tenantId: string, page: IdPage): Promise<List<EnrollmentTokenRecord>>;
  /** @throws ApiError NOT_FOUND, also a day after it ran out unused. */
  readToken(tenantId: string, tokenId: string): Promise<EnrollmentTokenRecord>;
  /** It is good for nothing from here on. @throws ApiError NOT_FOUND; CONFLICT for one that was used. */
  removeToken(actor: Actor, tokenId: string): Promise<void>;
}

/** What managing the tokens needs. */
export interface EnrollmentTokensDependencies {
  readonly store: AgentsStore;
  readonly audit: Audit;
  readonly authority: Pick<Authority, "pin">;
  readonly clock: Pick<Clock, "now">;
}

/** Whoever made one sees that it ran out. */
const TOKEN_SHOWN_MS = 86_400_000;

/** Creates tokens, lists them and removes those that were not used. */
export function enrollmentTokens({ store, audit, authority, clock }: EnrollmentTokensDependencies): EnrollmentTokens {
  const shownFrom = () => toInstant(clock.now() - TOKEN_SHOWN_MS);
  return {
    async createToken(actor, { site_id, ttl_seconds }) {
      const { tenantId } = actor;
      await requireSite(store, tenantId, site_id);
      const id = createId();
      const secret = randomBytes(32).toString("base64url");
      const expires_at = toInstant(clock.now() + ttl_seconds * 1000);
      await store.transaction(async (trx) => {
        await store.createToken(trx, {
          id, tenant_id: tenantId, site_id, secret_sha256: hashOfSecret(secret), created_by: actor.id, created_at: toInstant(clock.now()),
          expires_at, used_at: null, probe_id: null,
        });
        const target = { type: "enrollment_token", id };
        await audit(trx, { actor, action: "enrollment_token.create", target, before: null, after: { site_id, expires_at } });
      });
      return { id, token: formatEnrollmentToken({ secret, caPin: authority.pin }), site_id, expires_at };
    },

    listTokens: (tenantId, page) => pageById(page, {
      read: (rows) => store.listTokens(tenantId, shownFrom(), rows),
      count: () => store.countTokens(tenantId, shownFrom()), show: toTokenRecord,
    }),

    async readToken(tenantId, tokenId) {
      const row = await store.tokenById(tenantId, shownFrom(), tokenId);
      if (!row) throw notFound("enrollment token");
      return toTokenRecord(row);
    },

    removeToken: (actor, tokenId) => store.transaction(async (trx) => {
      const token = await store.removeToken(trx, actor.tenantId, tokenId);
      if (!token) throw notFound("enrollment token");
      if (token.used_at !== null) {
        throw new ApiError("CONFLICT", "the token was used: revoke its probe instead", { details: { probe_id: token.probe_id } });
      }
      const target = { type: "enrollment_token", id: tokenId };
      const { site_id, expires_at } = token;
      await audit(trx, { actor, action: "enrollment_token.delete", target, before: { site_id, expires_at }, after: null });
    }),
  };
}

/** @returns What the collector keeps of a token's secret: its SHA-256 in hex. */
export function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
