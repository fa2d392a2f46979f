import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery } from "./envelopes.ts";

export const LoginRequest = z.strictObject({ username: z.string().min(1).max(255), password: z.string().min(1).max(1024) });

export const TokenResponse = z.object({ access_token: z.string(), token_type: z.literal("bearer"), expires_in: z.int().min(1) });
export type TokenResponse = z.infer<typeof TokenResponse>;

/** Long rather than of many kinds of characters, as NIST SP 800-63B section 5.1.1 advises; the upper bound keeps hashing cheap. */
const NewPassword = z.string().min(12).max(1024);

/** One's own password. Every token from before ends with it; the answer is a new one. */
export const PasswordChange = z.strictObject({ old_password: z.string().min(1).max(1024), new_password: NewPassword });
export type PasswordChange = z.infer<typeof PasswordChange>;

/** Resources that scopes name as `<resource>:read` and `<resource>:write`. */
export const RESOURCES = [
  "devices", "scans", "alerts", "cve", "webhooks", "agents", "ipam", "config", "vault", "pcap", "backups", "users", "license", "audit",
] as const;
type Resource = (typeof RESOURCES)[number];
export type Scope = `${Resource}:${"read" | "write"}` | "vault:reveal";
const SCOPES: readonly Scope[] = [...RESOURCES.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`]), "vault:reveal"];
const ScopeName = z.enum(SCOPES);
export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

const OPERATOR_WRITES: readonly Resource[] = ["devices", "scans", "alerts", "pcap", "ipam", "webhooks"];
const VIEWER_BLIND: ReadonlySet<Resource> = new Set(["vault", "users", "audit"]);
const VIEWER_SCOPES = RESOURCES.filter((resource) => !VIEWER_BLIND.has(resource)).map((resource): Scope => `${resource}:read`);

/** The scopes that each role stands for. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: VIEWER_SCOPES,
  operator: [...VIEWER_SCOPES, ...OPERATOR_WRITES.map((resource): Scope => `${resource}:write`)],
  admin: SCOPES,
};

/** A person who may log in. */
export const User = z.object({
  id: Id,
  username: z.string(),
  /** Where the collector writes to when something needs a person. */
  email: z.string().nullable(),
  role: z.enum(ROLES),
  created_at: Instant,
  last_login_at: Instant.nullable(),
});
export type User = z.infer<typeof User>;

/** Letters that look alike, and characters that are not seen, would let one user pass for another. */
const Username = z.string().min(1).max(255).regex(/^[\w.@+-]+$/, "letters, digits and . _ @ + -");
const Email = z.email().max(254);

export const UserCreate = z.strictObject({
  username: Username, password: NewPassword, role: z.enum(ROLES), email: Email.nullable().default(null),
});
export type UserCreate = z.infer<typeof UserCreate>;

/** Fields left out stay. A new password ends the user's tokens; a new role counts at once. */
export const UserUpdate = z.strictObject({
  password: NewPassword.optional(), role: z.enum(ROLES).optional(), email: Email.nullable().optional(),
});
export type UserUpdate = z.infer<typeof UserUpdate>;

/** For programs: sent as `X-API-Key`. It may do what its scopes say and its maker still may. */
export const ApiKey = z.object({
  id: Id,
  name: z.string(),
  /** How the key begins, for telling keys apart. */
  hint: z.string(),
  scopes: z.array(ScopeName),
  created_by: z.object({ id: Id, username: z.string() }),
  created_at: Instant,
  expires_at: Instant.nullable(),
  /** To the minute. */
  last_used_at: Instant.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyCreate = z.strictObject({
  name: z.string().trim().min(1).max(255),
  scopes: z.array(ScopeName).min(1).max(SCOPES.length),
  /** It never ends when this is left out. */
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null),
});
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>;

/** A new key. `key` is shown this once. */
export const ApiKeyCreated = ApiKey.extend({ key: z.string() });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

/** `svc_live_` and 48 hexadecimal characters. */
export const API_KEY_PATTERN = /^svc_live_[0-9a-f]{48}$/;

/** One's own keys, or with the scope `users:read` everybody's. */
export const ApiKeysQuery = IdPageQuery.extend({ user_id: Id.optional() });
export type ApiKeysQuery = z.infer<typeof ApiKeysQuery>;

/** For one connection to `/ws/events?ticket=…`, within 30 s. A token in a URL ends up in logs; this is worth nothing there. */
export const StreamTicket = z.object({ ticket: z.string(), expires_at: Instant });
export type StreamTicket = z.infer<typeof StreamTicket>;
