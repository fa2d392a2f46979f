import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Authentication } from "../../gateway/authentication.ts";
import type { ServiceModule } from "../../service-module.ts";
import { createAuthentication } from "./authentication.ts";
import { createConfirmations, type IsConfirmed } from "./login/confirmations.ts";
import { keysRoutes } from "./keys/routes.ts";
import { createKeysService } from "./keys/service.ts";
import { createKeysStore } from "./keys/store.ts";
import { createLoginThrottle } from "./login/throttle.ts";
import type { Passwords } from "./login/passwords.ts";
import { authRoutes } from "./routes.ts";
import { createAuthService } from "./service.ts";
import type { AuthStore } from "./store.ts";
import { createTokens, type TokenKey } from "./tokens.ts";
import { createMaintenance } from "./maintenance.ts";
import { usersRoutes } from "./users/routes.ts";
import { createUsersService } from "./users/service.ts";
import { createUsersStore } from "./users/store.ts";

/** Users, and what others ask about who somebody is. */
export interface Auth extends ServiceModule {
  readonly authentication: Authentication;
  readonly isConfirmed: IsConfirmed;
  readonly close: () => Promise<void>;
}

/** Users, their tokens and API keys: everything that says who somebody is. */
export function createAuth(deps: {
  readonly store: AuthStore;
  readonly passwords: Passwords;
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly tokenKey: TokenKey;
  readonly tokenLifetimeSeconds: number;
  /** A token, a user or a key of the tenant may do less than before; called after that is committed. */
  readonly onAccessChanged: (tenantId: string) => void;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
}): Auth {
  const { store, passwords, db, onAccessChanged, audit, clock, log } = deps;
  const tokens = createTokens({ key: deps.tokenKey, lifetimeSeconds: deps.tokenLifetimeSeconds, clock });
  const maintenance = createMaintenance({ db, clock, log });
  const authentication = createAuthentication({ store, tokens, clock, onKeyUsed: (keyId) => maintenance.keyUsed(keyId) });
  const confirmations = createConfirmations(deps);
  const auth = createAuthService({
    store, tokens, passwords, confirmations, throttle: createLoginThrottle({ db, clock }), onAccessChanged, audit, clock, log,
  });
  return {
    name: "auth", mount: "gateway", authentication,
    routes: [
      authRoutes({ service: auth, authentication, clock }),
      keysRoutes(createKeysService({ store: createKeysStore(deps), onAccessChanged, audit, clock })),
      usersRoutes(createUsersService({ store: createUsersStore(deps), passwords, onAccessChanged, audit, clock })),
    ],
    isConfirmed: confirmations.isConfirmed,
    jobs: [maintenance.job], close: () => maintenance.close(),
  };
}
