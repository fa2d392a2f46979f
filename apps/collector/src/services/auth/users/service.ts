import { type List, ROLE_SCOPES, type Role, type User, type UserCreate, type UsersQuery, type UserUpdate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { isDuplicate } from "../../../db/constraints.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Caller, Identity } from "../../../gateway/environment.ts";
import { ApiError, forbidden, notFound } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { Passwords } from "../login/passwords.ts";
import type { UserRow } from "../store.ts";
import { nextTokensValidFrom } from "../tokens.ts";
import type { UsersStore } from "./store.ts";

/**
 * A tenant's users. Nobody makes, changes or removes a user whose role stands for more than the caller's own scopes: that is
 * FORBIDDEN with the first scope that is missing. A tenant's last administrator stays one: CONFLICT.
 */
export interface UsersService {
  list(tenantId: string, query: UsersQuery): Promise<List<User>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, userId: string): Promise<User>;
  /** @throws ApiError CONFLICT for a name that is taken. */
  create(caller: Caller, user: UserCreate): Promise<User>;
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for one's own password, which is changed with the old one at hand. */
  update(caller: Caller, userId: string, change: UserUpdate): Promise<User>;
  /** Ends the user's tokens and API keys. @throws ApiError NOT_FOUND. */
  remove(caller: Caller, userId: string): Promise<void>;
}

interface UsersDependencies {
  readonly store: UsersStore;
  readonly passwords: Passwords;
  readonly onAccessChanged: (tenantId: string) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}

/** @param deps.onAccessChanged Called after the commit of a changed or removed user; it closes streams that the user no longer may have. */
export function createUsersService({ store, passwords, onAccessChanged, audit, clock }: UsersDependencies): UsersService {
  return {
    list(tenantId, { search, role, ...page }) {
      const filter = { tenantId, search, role };
      return pageById(page, { read: (rows) => store.list(filter, rows), count: () => store.count(filter), show: toUser });
    },

    async read(tenantId, userId) {
      const row = await store.byId(tenantId, userId);
      if (!row) throw notFound("user");
      return toUser(row);
    },

    async create({ identity, actor }, { username, password, role, email }) {
      checkReach(identity, role);
      checkPassword(username, password, "password");
      const domain = await store.loginDomain(identity.tenantId);
      if (domain !== null && !username.toLowerCase().endsWith(`@${domain}`)) {
        throw badRequest([{ path: ["username"], message: `must end with @${domain}: all tenants of this collector share one list of names` }]);
      }
      const hash = await passwords.hash(password);
      return store.transaction(async (trx) => {
        const user = newUser({ tenantId: identity.tenantId, username, hash, role, email, now: clock.now() });
        const row = await store.create(trx, user).catch((error: unknown) => {
          throw isDuplicate(error) ? new ApiError("CONFLICT", `the user name ${username} is taken`) : error;
        });
        await audit(trx, { actor, action: "user.create", target: { type: "user", id: row.id }, before: null, after: toUser(row) });
        return toUser(row);
      });
    },

    async update({ identity, actor }, userId, { password, role, email }) {
      const known = await store.byId(identity.tenantId, userId);
      if (!known) throw notFound("user");
      if (password !== undefined && userId === identity.userId) {
        throw badRequest([{ path: ["password"], message: "change your own with POST /api/v1/auth/password" }]);
      }
      checkReach(identity, known.role);
      if (password !== undefined) checkPassword(known.username, password, "password");
      const hash = password === undefined ? null : await passwords.hash(password);
      const user = await store.transaction(async (trx) => {
        await store.holdTenant(trx, identity.tenantId);
        const before = await store.find(trx, identity.tenantId, userId);
        if (!before) throw notFound("user");
        checkReach(identity, before.role);
        checkReach(identity, role ?? before.role);
        if (role !== undefined && role !== "admin") await keepAnAdmin(store, trx, before);
        const after = await store.update(trx, userId, {
          role: role ?? before.role, email: email === undefined ? before.email : email,
          ...(hash === null ? {} : { password_hash: hash, tokens_valid_from: nextTokensValidFrom(before.tokens_valid_from, clock.now()) }),
        });
        await audit(trx, {
          actor, action: "user.update", target: { type: "user", id: userId }, before: toUser(before),
          after: { ...toUser(after), ...(hash === null ? {} : { password_changed: true }) },
        });
        return toUser(after);
      });
      onAccessChanged(identity.tenantId);
      return user;
    },

    async remove({ identity, actor }, userId) {
      await store.transaction(async (trx) => {
        await store.holdTenant(trx, identity.tenantId);
        const user = await store.find(trx, identity.tenantId, userId);
        if (!user) throw notFound("user");
        checkReach(identity, user.role);
        await keepAnAdmin(store, trx, user);
        const keyIds = await store.remove(trx, userId);
        const before = { ...toUser(user), api_key_ids: keyIds };
        await audit(trx, { actor, action: "user.delete", target: { type: "user", id: userId }, before, after: null });
      });
      onAccessChanged(identity.tenantId);
    },
  };
}

/** @throws ApiError CONFLICT where the user is the tenant's last administrator. */
async function keepAnAdmin(store: UsersStore, trx: Parameters<UsersStore["find"]>[0], user: UserRow): Promise<void> {
  if (user.role !== "admin" || (await store.countAdmins(trx, user.tenant_id)) > 1) return;
  throw new ApiError("CONFLICT", "the last administrator must stay one", { details: { reason: "last-admin" } });
}

/** The first password that anybody tries. @throws ApiError BAD_REQUEST, naming the field. */
export function checkPassword(username: string, password: string, field: string): void {
  if (password.toLowerCase() !== username.toLowerCase()) return;
  throw badRequest([{ path: [field], message: "must not be the user name" }]);
}

/** Else an API key that may write users would make itself an administrator. */
function checkReach({ scopes }: Identity, role: Role): void {
  const missing = ROLE_SCOPES[role].find((scope) => !scopes.has(scope));
  if (missing !== undefined) throw forbidden(`the role ${role} allows more than you may do`, missing);
}

/** A new user's row. */
export function newUser(user: {
  readonly tenantId: string;
  readonly username: string;
  readonly hash: string;
  readonly role: Role;
  readonly email: string | null;
  readonly now: number;
}) {
  return {
    id: createId(), tenant_id: user.tenantId, username: user.username,
    username_key: user.username.toLowerCase(), password_hash: user.hash, role: user.role, email: user.email,
    created_at: toInstant(user.now),
    // A token's `iat` has whole seconds: one issued in this very second must count.
    tokens_valid_from: toInstant(Math.floor(user.now / 1000) * 1000),
  };
}

/** A user's row as the API shows it. */
export function toUser({ id, username, email, role, created_at, last_login_at }: UserRow): User {
  return { id, username, email, role, created_at, last_login_at };
}
