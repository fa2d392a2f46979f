import type { PasswordChange, PasswordConfirmed, TokenResponse } from "@lanthorn/contract";
import type { Actor, Identity } from "../../../gateway/environment.ts";
import { ApiError, forbidden } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { Confirmations } from "./confirmations.ts";
import { beginAttempt, issueToken, requireUser, type SessionsDependencies } from "./sessions.ts";
import { nextTokensValidFrom } from "../tokens.ts";
import { checkPassword } from "../users/service.ts";

/** What users do with their own password. */
export interface OwnPassword {
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

/** What changing and confirming a password needs. */
export interface OwnPasswordDependencies extends SessionsDependencies {
  readonly confirmations: Pick<Confirmations, "confirm">;
}

/** Changes a user's own password, and confirms it again for what needs that. */
export function ownPassword(deps: OwnPasswordDependencies): OwnPassword {
  const { store, tokens, passwords, throttle, onAccessChanged, audit, clock } = deps;
  return {
    async changePassword(identity, actor, { old_password, new_password }) {
      const user = await requireUser(store, identity);
      const target = { type: "user", id: user.id };
      // Whoever holds a stolen token could otherwise try passwords here without end.
      await beginAttempt(deps, user.username, actor.address);
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
      return issueToken(tokens, { ...user, tokens_valid_from: tokensValidFrom });
    },

    async confirm(identity, actor, password) {
      const user = await requireUser(store, identity);
      const target = { type: "user", id: user.id };
      await beginAttempt(deps, user.username, actor.address);
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
