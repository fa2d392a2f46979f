import { randomBytes } from "node:crypto";
import { ROLE_SCOPES, type TokenResponse } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Identity } from "../../gateway/environment.ts";
import { ApiError, rateLimited } from "../../gateway/errors.ts";
import { createLoginThrottle } from "./login-throttle.ts";
import { hashPassword, passwordMatches } from "./passwords.ts";
import type { PeopleStore } from "./store.ts";
import type { Tokens } from "./tokens.ts";

export interface PeopleService {
  /**
   * @param login.address The client's, as the gateway knows it.
   * @throws ApiError UNAUTHORIZED, the same for a wrong name and a wrong password; RATE_LIMITED after five of them.
   */
  login(login: { readonly username: string; readonly password: string; readonly address: string }): Promise<TokenResponse>;
  /** A new token for the bearer of one that still counts, with the role that the user has now. */
  refresh(identity: Identity): Promise<TokenResponse>;
  /** The bearer of a token, or in words why it does not count. */
  readonly authenticate: (token: string) => Promise<Identity | string>;
}

/** Each takes 19 MiB and a core for some tens of milliseconds; more at once would starve all other work. */
const MOST_LOGINS_AT_ONCE = 16;

export function createPeopleService(deps: { readonly store: PeopleStore; readonly tokens: Tokens; readonly clock: Clock; readonly log: Log }): PeopleService {
  const { store, tokens, log } = deps;
  const throttle = createLoginThrottle({ clock: deps.clock });
  // Compared against when there is no such user, so that the answer takes as long.
  const nobodysHash = hashPassword(randomBytes(16).toString("hex"));
  let loginsUnderWay = 0;

  const respond = async (subject: Parameters<Tokens["issue"]>[0]): Promise<TokenResponse> => {
    const { token, expiresInSeconds } = await tokens.issue(subject);
    return { access_token: token, token_type: "bearer", expires_in: expiresInSeconds };
  };

  return {
    async login({ username, password, address }) {
      const waitMs = throttle.waitMs(username, address);
      if (waitMs > 0) throw rateLimited("too many failed logins: wait, or ask an administrator", waitMs);
      if (loginsUnderWay >= MOST_LOGINS_AT_ONCE) {
        throw new ApiError("SERVICE_UNAVAILABLE", "too many logins at once", { headers: { "retry-after": "1" } });
      }
      throttle.begin(username, address);
      loginsUnderWay += 1;
      try {
        const user = await store.userByName(username);
        const matches = await passwordMatches(user?.passwordHash ?? (await nobodysHash), password);
        if (!user || !matches) {
          log.warn({ username, address }, "login refused");
          throw new ApiError("UNAUTHORIZED", "the user name or the password is wrong");
        }
        throttle.succeeded(username, address);
        return await respond({ userId: user.id, tenantId: user.tenantId, role: user.role });
      } finally {
        loginsUnderWay -= 1;
      }
    },

    async refresh(identity) {
      const user = await store.userOfToken({ ...identity, issuedAt: toInstant(identity.issuedAt) });
      if (!user) throw new ApiError("UNAUTHORIZED", "the token is not valid any more");
      return respond({ userId: user.id, tenantId: user.tenantId, role: user.role });
    },

    async authenticate(token) {
      const claims = await tokens.read(token);
      if (typeof claims === "string") return claims;
      const user = await store.userOfToken({ ...claims, issuedAt: toInstant(claims.issuedAt) });
      // The user's own row says the role, so that a changed one counts at once.
      return user ? { ...claims, username: user.username, role: user.role, scopes: new Set(ROLE_SCOPES[user.role]) } : "the token is not valid any more";
    },
  };
}
