import { randomBytes } from "node:crypto";
import type { Me, PasswordChange, PasswordConfirmed, TokenResponse } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor, Identity } from "../../gateway/environment.ts";
import { ApiError, forbidden, rateLimited } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import type { Confirmations } from "./confirmations.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Passwords } from "./passwords.ts";
import type { AuthStore, UserRow } from "./store.ts";
import { nextTokensValidFrom, type Tokens } from "./tokens.ts";
import { checkPassword, toUser } from "./users-service.ts";

/** Logins, tokens and passwords of users. Every password that was compared is in the audit log, right or wrong. */
export interface AuthService {
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
  /**
   * Ends every token of the user's, and answers a new one.
   * @throws ApiError FORBIDDEN for a wrong old password; RATE_LIMITED as at login; CONFLICT when it was changed meanwhile.
   */
  changePassword(identity: Identity, actor: Actor, change: PasswordChange): Promise<TokenResponse>;
  /**
   * Marks the token that was sent as one whose bearer has given the password again.
   * @throws ApiError FORBIDDEN for a wrong password; RATE_LIMITED as at login.
   */
  confirm(identity: Identity, actor: Actor, password: string): Promise<PasswordConfirmed>;
}

interface AuthDependencies {
  readonly store: AuthStore;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly confirmations: Pick<Confirmations, "confirm">;
  readonly onAccessChanged: (tenantId: string) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/**
 * A login with an unknown name takes as long as one with a wrong password.
 * @param deps.onAccessChanged Called after the commit of a logout or a new password; it closes streams of ended tokens.
 */
export function createAuthService(deps: AuthDependencies): AuthService {
  const { store, tokens, passwords, throttle, onAccessChanged, audit, clock, log } = deps;
  // Compared against when there is no such user, so that the answer takes as long.
  const nobodysHash = passwords.hash(randomBytes(16).toString("hex"));
  const now = () => toInstant(clock.now());

  const respond = async (user: UserRow): Promise<TokenResponse> => {
    const { id: userId, tenant_id: tenantId, role, tokens_valid_from: tokensValidFrom } = user;
    const { token, expiresInSeconds } = await tokens.issue({ userId, tenantId, role, tokensValidFrom });
    return { access_token: token, token_type: "bearer", expires_in: expiresInSeconds };
  };
  const begin = async (username: string, address: string) => {
    passwords.checkRoom();
    const waitMs = await throttle.begin(username, address);
    if (waitMs > 0) throw rateLimited("too many wrong passwords: try again later, or ask an administrator", waitMs);
  };
  const stillThere = async (identity: Identity): Promise<UserRow> => {
    const user = await store.userOfToken(identity);
    if (!user) throw new ApiError("UNAUTHORIZED", "the token is no longer valid");
    return user;
  };

  return {
    async login({ username, password, address }) {
      await begin(username, address);
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
        await store.setLastLogin(trx, user.id, now());
        await audit(trx, { actor, action: "auth.login", target, before: null, after: null, isCounted: true });
      });
      return respond(user);
    },

    async me({ userId, tenantId, key, scopes, expiresAt }) {
      const found = await store.userWithTenant(tenantId, userId);
      if (!found) throw new ApiError("UNAUTHORIZED", "the token is no longer valid");
      return {
        user: toUser(found.user), tenant: { id: tenantId, name: found.tenantName }, api_key: key && { id: key.id, name: key.name },
        scopes: [...scopes] as Me["scopes"], expires_at: expiresAt === null ? null : toInstant(expiresAt),
      };
    },

    refresh: async (identity) => respond(await stillThere(identity)),

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

    async changePassword(identity, actor, { old_password, new_password }) {
      const user = await stillThere(identity);
      const target = { type: "user", id: user.id };
      // Whoever holds a stolen token could otherwise try passwords here without end.
      await begin(user.username, actor.address);
      if (!(await passwords.matches(user.password_hash, old_password))) {
        await store.transaction((trx) => audit(trx, {
          actor, action: "auth.password_failed", target, before: null, after: null, isCounted: true,
        }));
        throw forbidden("the old password is wrong", "old_password");
      }
      checkPassword(user.username, new_password, "new_password");
      if (new_password === old_password) throw badRequest([{ path: ["new_password"], message: "the same as the old one" }]);
      const tokensValidFrom = nextTokensValidFrom(user.tokens_valid_from, clock.now());
      const hash = await passwords.hash(new_password);
      await store.transaction(async (trx) => {
        const isSet = await store.setPassword(trx, user, { hash, tokensValidFrom });
        if (!isSet) throw new ApiError("CONFLICT", "the password was changed by another request");
        await throttle.succeeded(trx, user.username, actor.address);
        await audit(trx, { actor, action: "auth.password", target, before: null, after: null });
      });
      onAccessChanged(user.tenant_id);
      return respond({ ...user, tokens_valid_from: tokensValidFrom });
    },

    async confirm(identity, actor, password) {
      const user = await stillThere(identity);
      const target = { type: "user", id: user.id };
      await begin(user.username, actor.address);
      if (!(await passwords.matches(user.password_hash, password))) {
        await store.transaction((trx) => audit(trx, { actor, action: "auth.confirm_failed", target, before: null, after: null }));
        throw forbidden("the password is wrong", "password");
      }
      return store.transaction(async (trx) => {
        await throttle.succeeded(trx, user.username, actor.address);
        await audit(trx, { actor, action: "auth.confirm", target, before: null, after: null });
        return { confirmed_until: await deps.confirmations.confirm(trx, identity) };
      });
    },
  };
}
