import { randomBytes } from "node:crypto";
import type { Me, TokenResponse } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor, Identity } from "../../../gateway/environment.ts";
import { ApiError, rateLimited } from "../../../gateway/errors.ts";
import type { LoginThrottle } from "./throttle.ts";
import type { Passwords } from "./passwords.ts";
import type { AuthStore, UserRow } from "../store.ts";
import type { Tokens } from "../tokens.ts";
import { toUser } from "../users/service.ts";

/** How users get tokens, and end them. */
export interface Sessions {
  /**
   * @param login.address The client's, as the gateway knows it.
   * @throws ApiError UNAUTHORIZED, the same for a wrong name and a wrong password; RATE_LIMITED after five of them.
   */
  login(login: { readonly username: string; readonly password: string; readonly address: string }): Promise<TokenResponse>;
  /** A new token for the bearer of one that still counts, with the role that the user has now. */
  refresh(identity: Identity): Promise<TokenResponse>;
  /** Who the bearer is and what he may do now. */
  me(identity: Identity): Promise<Me>;
  /** Ends the one token that was sent. */
  logout(identity: Identity, actor: Actor): Promise<void>;
}

/** What signing users in needs. */
export interface SessionsDependencies {
  readonly store: AuthStore;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly onAccessChanged: (tenantId: string) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** Signs users in, renews their tokens and ends them. */
export function sessions(deps: SessionsDependencies): Sessions {
  const { store, tokens, passwords, throttle, onAccessChanged, audit, clock, log } = deps;
  // Compared against when there is no such user, so that the answer takes as long.
  const nobodysHash = passwords.hash(randomBytes(16).toString("hex"));

  return {
    async login({ username, password, address }) {
      await beginAttempt(deps, username, address);
      const user = await store.userByName(username);
      const matches = await passwords.matches(user?.password_hash ?? (await nobodysHash), password);
      const actor: Actor = { type: "user", id: user?.id ?? "", name: user?.username ?? "", tenantId: user?.tenant_id ?? "", address };
      const target = { type: "user", id: actor.id };
      if (!user || !matches) {
        log.warn({ user: user?.id, address }, "login refused");
        // Also for a user that does not exist, in no tenant: a write more or less would tell one from the other.
        await store.transaction((trx) => audit(trx, { actor, action: "auth.login_failed", target, before: null, after: null, isCounted: true }));
        throw new ApiError("UNAUTHORIZED", "the user name or the password is wrong");
      }
      await store.transaction(async (trx) => {
        await throttle.succeeded(trx, username, address);
        await store.setLastLogin(trx, user.id, toInstant(clock.now()));
        await audit(trx, { actor, action: "auth.login", target, before: null, after: null, isCounted: true });
      });
      return issueToken(tokens, user);
    },

    async me({ userId, tenantId, key, scopes, expiresAt }) {
      const found = await store.userWithTenant(tenantId, userId);
      if (!found) throw new ApiError("UNAUTHORIZED", "the token is no longer valid");
      return {
        user: toUser(found.user), tenant: { id: tenantId, name: found.tenantName }, api_key: key && { id: key.id, name: key.name },
        scopes: [...scopes] as Me["scopes"], expires_at: expiresAt === null ? null : toInstant(expiresAt),
      };
    },

    refresh: async (identity) => issueToken(tokens, await requireUser(store, identity)),

    async logout(identity, actor) {
      await store.transaction(async (trx) => {
        const expiresAt = toInstant(identity.expiresAt ?? clock.now());
        await store.revokeToken(trx, { jti: identity.tokenId, tenant_id: identity.tenantId, expires_at: expiresAt });
        await audit(trx, {
          actor, action: "auth.logout", target: { type: "user", id: identity.userId }, before: null, after: null, isCounted: true,
        });
      });
      onAccessChanged(identity.tenantId);
    },
  };
}

/**
 * Counts an attempt with a password, before it is compared.
 * @throws ApiError RATE_LIMITED after five wrong ones; SERVICE_UNAVAILABLE while too many passwords are being compared.
 */
export async function beginAttempt(
  { passwords, throttle }: Pick<SessionsDependencies, "passwords" | "throttle">, username: string, address: string,
): Promise<void> {
  passwords.checkRoom();
  const waitMs = await throttle.begin(username, address);
  if (waitMs > 0) throw rateLimited("too many wrong passwords: try again later, or ask an administrator", waitMs);
}

/** The user whose token was sent. @throws ApiError UNAUTHORIZED when the token no longer counts. */
export async function requireUser(store: AuthStore, identity: Identity): Promise<UserRow> {
  const user = await store.userOfToken(identity);
  if (!user) throw new ApiError("UNAUTHORIZED", "the token is no longer valid");
  return user;
}

/** A new token with the role that the user has now. */
export async function issueToken(tokens: Tokens, user: UserRow): Promise<TokenResponse> {
  const { id: userId, tenant_id: tenantId, role, tokens_valid_from: tokensValidFrom } = user;
  const { token, expiresInSeconds } = await tokens.issue({ userId, tenantId, role, tokensValidFrom });
  return { access_token: token, token_type: "bearer", expires_in: expiresInSeconds };
}
