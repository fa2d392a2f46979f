import { randomBytes } from "node:crypto";
import type { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeysQuery, ApiKeyUpdate, List, Scope } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../../gateway/audit.ts";
import type { Caller, Identity } from "../../../gateway/environment.ts";
import { ApiError, forbidden, notFound } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { sha256 } from "../authentication.ts";
import type { KeyRow, KeysStore } from "./store.ts";

/** One's own API keys; with `users:read` one sees everybody's of the tenant, with `users:write` one may end them. */
export interface KeysService {
  /** @throws ApiError FORBIDDEN for another user's without the scope. */
  list(identity: Identity, query: ApiKeysQuery): Promise<List<ApiKey>>;
  /** @throws ApiError FORBIDDEN for a scope that the maker does not have; BAD_REQUEST for an end in the past; CONFLICT for too many. */
  create(caller: Caller, key: ApiKeyCreate): Promise<ApiKeyCreated>;
  /** @throws ApiError NOT_FOUND, also for another user's without the scope. */
  read(identity: Identity, keyId: string): Promise<ApiKey>;
  /** @throws ApiError NOT_FOUND; FORBIDDEN for a new scope that the caller does not have; BAD_REQUEST for an end in the past. */
  update(caller: Caller, keyId: string, change: ApiKeyUpdate): Promise<ApiKey>;
  /** From here on it counts nowhere. @throws ApiError NOT_FOUND. */
  remove(caller: Caller, keyId: string): Promise<void>;
}

const PREFIX = "svc_live_";
/** 48 hexadecimal digits. */
const KEY_BYTES = 24;
const HINT_CHARACTERS = 4;
/** A person does not keep track of more, and a program that makes keys in a loop is stopped. */
const MAX_KEYS_OF_A_USER = 100;

interface KeysDependencies {
  readonly store: KeysStore;
  readonly onAccessChanged: (tenantId: string) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}

/**
 * A key has 192 random bits and is shown once. A user has at most 100.
 * @param deps.onAccessChanged Called after the commit of a changed or removed key; it closes streams that the key no longer allows.
 */
export function createKeysService({ store, onAccessChanged, audit, clock }: KeysDependencies): KeysService {
  const endOf = (moment: string | null): string | null => {
    if (moment === null) return null;
    const at = Date.parse(moment);
    if (at <= clock.now()) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
    return toInstant(at);
  };

  return {
    async list({ tenantId, userId, scopes }, { user_id, search, scope, ...page }) {
      const seesAll = scopes.has("users:read");
      if (!seesAll && user_id !== undefined && user_id !== userId) throw forbidden("this needs the scope users:read", "users:read");
      const filter = { tenantId, userId: seesAll ? user_id : userId, search, scope };
      return pageById(page, { read: (rows) => store.list(filter, rows), count: () => store.count(filter), show: toApiKey });
    },

    async create({ identity, actor }, { name, scopes, expires_at }) {
      checkScopes(identity, scopes);
      const expiresAt = endOf(expires_at);
      const secret = randomBytes(KEY_BYTES).toString("hex");
      const key = `${PREFIX}${secret}`;
      const row = {
        id: createId(), tenant_id: identity.tenantId, user_id: identity.userId, name, secret_sha256: sha256(key),
        hint: `${PREFIX}${secret.slice(0, HINT_CHARACTERS)}`, scopes: JSON.stringify([...new Set(scopes)]),
        created_at: toInstant(clock.now()), expires_at: expiresAt, last_used_at: null,
      };
      const record = toApiKey({ ...row, username: identity.username });
      await store.transaction(async (trx) => {
        const has = await store.countOf(trx, identity.userId);
        if (has >= MAX_KEYS_OF_A_USER) throw new ApiError("CONFLICT", `you already have ${has} keys: delete one first`);
        await store.create(trx, row);
        await audit(trx, { actor, action: "api_key.create", target: { type: "api_key", id: row.id }, before: null, after: record });
      });
      return { ...record, key };
    },

    async read({ tenantId, userId, scopes }, keyId) {
      const row = await store.byId({ tenantId, userId: scopes.has("users:read") ? undefined : userId }, keyId);
      if (!row) throw notFound("API key");
      return toApiKey(row);
    },

    async update({ identity, actor }, keyId, { name, scopes, expires_at }) {
      const record = await store.transaction(async (trx) => {
        const userId = identity.scopes.has("users:write") ? undefined : identity.userId;
        const before = await store.hold(trx, { tenantId: identity.tenantId, userId }, keyId);
        if (!before) throw notFound("API key");
        const had = new Set(JSON.parse(before.scopes) as Scope[]);
        checkScopes(identity, (scopes ?? []).filter((scope) => !had.has(scope)));
        const isSameEnd = expires_at === undefined || expires_at === before.expires_at;
        const after = {
          ...before, name: name ?? before.name, scopes: scopes === undefined ? before.scopes : JSON.stringify([...new Set(scopes)]),
          expires_at: isSameEnd ? before.expires_at : endOf(expires_at),
        };
        await store.update(trx, keyId, { name: after.name, scopes: after.scopes, expires_at: after.expires_at });
        const states = { before: toApiKey(before), after: toApiKey(after) };
        await audit(trx, { actor, action: "api_key.update", target: { type: "api_key", id: keyId }, ...states });
        return states.after;
      });
      onAccessChanged(identity.tenantId);
      return record;
    },

    async remove({ identity, actor }, keyId) {
      await store.transaction(async (trx) => {
        const userId = identity.scopes.has("users:write") ? undefined : identity.userId;
        const row = await store.remove(trx, { tenantId: identity.tenantId, userId }, keyId);
        if (!row) throw notFound("API key");
        const { name, hint, user_id } = row;
        const before = { name, hint, scopes: JSON.parse(row.scopes) as Scope[], user_id };
        await audit(trx, { actor, action: "api_key.delete", target: { type: "api_key", id: keyId }, before, after: null });
      });
      onAccessChanged(identity.tenantId);
    },
  };
}

function checkScopes(identity: Identity, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !identity.scopes.has(scope));
  if (missing !== undefined) throw forbidden(`you do not have the scope ${missing} yourself`, missing);
}

function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id, name: row.name, hint: row.hint, scopes: JSON.parse(row.scopes) as Scope[],
    created_by: { id: row.user_id, username: row.username }, created_at: row.created_at, expires_at: row.expires_at,
    last_used_at: row.last_used_at,
  };
}
