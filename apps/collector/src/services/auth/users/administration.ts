import { type Role, UserCreate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { CollectorError } from "../../../errors.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { addTenant, addUser, everybody, isDomainTaken, replacePassword, tenantsCalled, userCalled } from "./administration-store.ts";
import { createLoginThrottle } from "../login/throttle.ts";
import type { Passwords } from "../login/passwords.ts";
import { nextTokensValidFrom } from "../tokens.ts";
import { newUser } from "./service.ts";

/**
 * What only the operator of the machine may do: across tenants, and without a password. It works on the database alone,
 * so it does whether the daemon runs or not, and what it does counts at once. Each write is in the audit log.
 * @throws CollectorError `admin-refused` from every one, naming what is wrong.
 */
export interface Administration {
  /** With a site called `default`. @returns `loginDomain` too: names of users that the tenant makes by the API end with `@` and this. */
  createTenant(name: string): Promise<{ readonly tenantId: string; readonly siteId: string; readonly loginDomain: string }>;
  /** @param user.tenant Its name or id. */
  createUser(user: { readonly username: string; readonly tenant: string; readonly role: Role; readonly password: string }): Promise<void>;
  /** Ends the user's tokens, and what had been counted of failed logins. */
  resetPassword(username: string, password: string): Promise<void>;
  /** Users by tenant and name; a tenant without users is there with none. */
  list(): Promise<readonly { readonly id: string; readonly name: string; readonly users: readonly ListedUser[] }[]>;
}

interface ListedUser {
  readonly username: string;
  readonly role: string;
  readonly lastLoginAt: string | null;
}

/**
 * Passwords are 12 to 1024 characters and never the user name. A new tenant's domain comes from its name, with a number where it is
 * taken.
 */
export function createAdministration(deps: {
  readonly db: Kysely<Schema>;
  readonly passwords: Pick<Passwords, "hash">;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  /** Who is at the machine, for the audit log. */
  readonly operator: string;
  /** The settings of a new site's probes, as JSON text. */
  readonly siteConfiguration: string;
}): Administration {
  const { db, passwords, audit, clock } = deps;
  const throttle = createLoginThrottle({ db, clock });
  const actor = (tenantId: string): Actor => ({ type: "system", id: "operator", name: deps.operator, tenantId, address: "" });
  const checkPassword = (username: string, password: string) => {
    if (username.toLowerCase() === password.toLowerCase()) throw refused("the password must not be the user name");
    if (!UserCreate.shape.password.safeParse(password).success) throw refused("a password has 12 to 1024 characters");
  };

  return {
    async createTenant(name) {
      const [tenantId, siteId] = [createId(), createId()];
      const created_at = toInstant(clock.now());
      if (name.trim() === "" || name.length > 255) throw refused("a tenant's name has 1 to 255 characters");
      const loginDomain = await db.transaction().execute(async (trx) => {
        if ((await tenantsCalled(trx, name)).length > 0) throw refused(`the tenant name ${name} is taken`);
        const domain = await freeDomain(trx, name);
        await addTenant(trx, {
          tenant: { id: tenantId, name, created_at, login_domain: domain },
          site: { id: siteId, tenant_id: tenantId, name: "default", probe_configuration: deps.siteConfiguration, created_at },
        });
        await audit(trx, {
          actor: actor(tenantId), action: "tenant.create", target: { type: "tenant", id: tenantId }, before: null,
          after: { name, login_domain: domain },
        });
        return domain;
      });
      return { tenantId, siteId, loginDomain };
    },

    async createUser({ username, tenant, role, password }) {
      checkPassword(username, password);
      if (!UserCreate.shape.username.safeParse(username).success) throw refused("a user's name has letters, digits and . _ @ + - only");
      const hash = await passwords.hash(password);
      await db.transaction().execute(async (trx) => {
        const tenantId = await findTenant(trx, tenant);
        const user = newUser({ tenantId, username, hash, role, email: null, now: clock.now() });
        if (!(await addUser(trx, user))) throw refused(`the user name ${username} is taken`);
        await audit(trx, {
          actor: actor(tenantId), action: "user.create", target: { type: "user", id: user.id }, before: null, after: { username, role },
        });
      });
    },

    async resetPassword(username, password) {
      checkPassword(username, password);
      const password_hash = await passwords.hash(password);
      await db.transaction().execute(async (trx) => {
        const user = await userCalled(trx, username);
        if (!user) throw refused(`there is no user called ${username}`);
        const tokens_valid_from = nextTokensValidFrom(user.tokens_valid_from, clock.now());
        await replacePassword(trx, user.id, { password_hash, tokens_valid_from });
        await throttle.forget(trx, username);
        const target = { type: "user", id: user.id };
        await audit(trx, {
          actor: actor(user.tenant_id), action: "user.update", target, before: null, after: { username, password_changed: true },
        });
      });
    },

    async list() {
      const { tenants, users } = await everybody(db);
      return tenants.map(({ id, name }) => ({
        id, name, users: users.filter((user) => user.tenant_id === id)
          .map((user) => ({ username: user.username, role: user.role, lastLoginAt: user.last_login_at })),
      }));
    },
  };
}

/** A short word of the tenant's name that no other tenant has. */
async function freeDomain(trx: Transaction<Schema>, name: string): Promise<string> {
  const word = name.toLowerCase().normalize("NFKD").replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "").slice(0, 40) || "tenant";
  for (let number = 1; ; number += 1) {
    const domain = number === 1 ? word : `${word}-${number}`;
    if (!(await isDomainTaken(trx, domain))) return domain;
  }
}

async function findTenant(trx: Transaction<Schema>, nameOrId: string): Promise<string> {
  const [tenant, another] = await tenantsCalled(trx, nameOrId);
  if (tenant === undefined) throw refused(`there is no tenant called ${nameOrId}`);
  if (another !== undefined) throw refused(`several tenants are called ${nameOrId}: give the id (admin list shows it)`);
  return tenant;
}

function refused(message: string): CollectorError {
  return new CollectorError("admin-refused", message);
}
