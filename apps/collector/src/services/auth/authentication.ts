import { createHash, randomBytes } from "node:crypto";
import { API_KEY_PATTERN, ROLE_SCOPES } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Authentication } from "../../gateway/authentication.ts";
import type { Identity } from "../../gateway/environment.ts";
import type { KeyBearer, AuthStore, UserRow } from "./store.ts";
import type { TokenClaims, Tokens } from "./tokens.ts";

const TICKET_LIFETIME_MS = 30_000;
const INVALID_TOKEN = "the token is no longer valid";
const INVALID_KEY = "the API key is not valid";
const INVALID_TICKET = "the ticket is not valid: each opens one stream, within 30 s";

interface AuthenticationDependencies {
  readonly store: AuthStore;
  readonly tokens: Tokens;
  readonly clock: Pick<Clock, "now">;
  /** Called for each use of a key. */
  readonly onKeyUsed: (keyId: string) => void;
}

/** Every check reads the database, so a revoked token or key stops working at once. API keys and tickets are stored as SHA-256 only. */
export function createAuthentication({ store, tokens, clock, onKeyUsed }: AuthenticationDependencies): Authentication {
  const ofClaims = async (claims: TokenClaims): Promise<Identity | string> => {
    const user = await store.userOfToken(claims);
    if (!user) return INVALID_TOKEN;
    const { tokenId, issuedAt, expiresAt } = claims;
    return { ...ofUser(user), key: null, scopes: new Set(ROLE_SCOPES[user.role]), tokenId, issuedAt, expiresAt };
  };
  const ofBearer = (bearer: KeyBearer | null): Identity | string => {
    if (!bearer) return INVALID_KEY;
    const { user, key } = bearer;
    const expiresAt = key.expiresAt === null ? null : Date.parse(key.expiresAt);
    if (expiresAt !== null && expiresAt <= clock.now()) return "the API key has expired";
    onKeyUsed(key.id);
    // Never more than its maker may now.
    const scopes = new Set(ROLE_SCOPES[user.role].filter((scope) => key.scopes.includes(scope)));
    const { id, name, createdAt } = key;
    return { ...ofUser(user), key: { id, name }, scopes, tokenId: id, issuedAt: Date.parse(createdAt), expiresAt };
  };

  return {
    async byToken(token) {
      const claims = await tokens.read(token);
      return typeof claims === "string" ? claims : ofClaims(claims);
    },

    async byKey(key) {
      return API_KEY_PATTERN.test(key) ? ofBearer(await store.bearerOfKey({ secretSha256: sha256(key) })) : INVALID_KEY;
    },

    async again(identity) {
      if (identity.key) return ofBearer(await store.bearerOfKey({ id: identity.key.id }));
      if (identity.expiresAt !== null && identity.expiresAt <= clock.now()) return "the token has expired";
      return ofClaims({ ...identity, expiresAt: identity.expiresAt ?? clock.now() });
    },

    async byTicket(ticket) {
      const row = await store.takeTicket(sha256(ticket));
      if (!row || row.expires_at <= toInstant(clock.now())) return INVALID_TICKET;
      if (row.key_id !== null) return ofBearer(await store.bearerOfKey({ id: row.key_id }));
      const expiresAt = Date.parse(row.token_expires_at ?? row.expires_at);
      if (expiresAt <= clock.now()) return "the token has expired";
      const issuedAt = Date.parse(row.token_issued_at);
      return ofClaims({ userId: row.user_id, tenantId: row.tenant_id, tokenId: row.token_id, issuedAt, expiresAt });
    },

    async createTicket({ userId, tenantId, key, tokenId, issuedAt, expiresAt }) {
      const ticket = randomBytes(32).toString("base64url");
      const row = {
        secret_sha256: sha256(ticket), tenant_id: tenantId, user_id: userId, key_id: key?.id ?? null,
        token_id: tokenId, token_issued_at: toInstant(issuedAt), token_expires_at: expiresAt === null ? null : toInstant(expiresAt),
        expires_at: toInstant(clock.now() + TICKET_LIFETIME_MS),
      };
      await store.addTicket(row);
      return { ticket, expires_at: row.expires_at };
    },
  };
}

/** How keys and tickets are kept. They have 190 bits of chance and more, so nothing slower is needed. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function ofUser({ id, tenant_id, username, role }: UserRow) {
  return { userId: id, tenantId: tenant_id, username, role };
}
