import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery } from "./envelopes.ts";

/** Lengths are bounded, so that no request makes hashing expensive. */
export const LoginRequest = z.strictObject({
  username: z.string().min(1).max(255).describe("The user's name."),
  password: z.string().min(1).max(1024).describe("The user's password."),
});

/** An access token; also the answer to a refresh and to a password change. */
export const TokenResponse = z.object({
  access_token: z.string().describe("A JWT. Send it as `Authorization: Bearer <access_token>`."),
  token_type: z.literal("bearer").describe("Always `bearer`."),
  expires_in: z.int().min(1).describe("Seconds until the token expires; 86400 unless the deployment configures another time."),
});
export type TokenResponse = z.infer<typeof TokenResponse>;

/** The session that a browser keeps. */
export const BrowserSession = z.object({
  token: TokenResponse.nullable().describe("The token that was kept, with what is left of its time. Null where the browser keeps none that is valid."),
});
export type BrowserSession = z.infer<typeof BrowserSession>;

/** Long rather than of many kinds of characters, as NIST SP 800-63B section 5.1.1 advises; the upper bound keeps hashing cheap. */
const NewPassword = z.string().min(12).max(1024);

/** The caller's own password. A change revokes every earlier token; the answer is a new one. */
export const PasswordChange = z.strictObject({
  old_password: z.string().min(1).max(1024).describe("The current password."),
  new_password: NewPassword.describe("The new password, of 12 to 1024 characters. It must differ from the old one."),
});
export type PasswordChange = z.infer<typeof PasswordChange>;

/** The caller's own password again, before an action that a stolen token alone must not allow. */
export const PasswordConfirmation = z.strictObject({
  password: z.string().min(1).max(1024).describe("The caller's own password."),
});

/** Until when the token of this request counts as confirmed. A token that replaces it is not confirmed. */
export const PasswordConfirmed = z.object({
  confirmed_until: Instant.describe("Until when the token of this request counts as confirmed: five minutes from now."),
});
export type PasswordConfirmed = z.infer<typeof PasswordConfirmed>;

/** Resources that scopes name as `<resource>:read` and `<resource>:write`. */
export const RESOURCES = [
  "devices", "scans", "alerts", "cve", "webhooks", "agents", "ipam", "config", "vault", "pcap", "backups", "users", "license", "audit",
  "sensors",
] as const;
type Resource = (typeof RESOURCES)[number];
/** What a route asks for and a role or API key has. `vault:reveal` shows stored secrets, `pcap:download` packets; `vault:read` and `pcap:read` do not. */
export type Scope = `${Resource}:${"read" | "write"}` | "vault:reveal" | "pcap:download";
const SCOPES: readonly Scope[] = [...RESOURCES.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`]), "vault:reveal", "pcap:download"];
const ScopeName = z.enum(SCOPES);
/** From few rights to all: each role has the scopes of the one before it. */
export const ROLES = ["viewer", "operator", "admin"] as const;
/** One of `ROLES`. */
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
  id: Id.describe("The user's id."),
  username: z.string().describe("The name that the user logs in with."),
  email: z.string().nullable().describe("The e-mail address for notifications. Null where there is none."),
  role: z.enum(ROLES).describe("What the user may do. `viewer` reads, `operator` also works with alerts and scans, `admin` may do all."),
  created_at: Instant.describe("When the user was created."),
  last_login_at: Instant.nullable().describe("When the user last logged in with the password. Null before the first time."),
});
export type User = z.infer<typeof User>;

/** Filters of the list of users. */
export const UsersQuery = IdPageQuery.extend({
  search: z.string().max(255).optional().describe("Part of the user name or the e-mail address, in any case."),
  role: z.enum(ROLES).optional().describe("Only users with this role."),
});
export type UsersQuery = z.infer<typeof UsersQuery>;

/** Letters that look alike, and characters that are not seen, would let one user pass for another. */
const Username = z.string().min(1).max(255).regex(/^[\w.@+-]+$/, "must be letters, digits and . _ @ + -");
const Email = z.email().max(254);

/** A user to be created. The caller needs every scope of `role`. */
export const UserCreate = z.strictObject({
  username: Username.describe("The name to log in with: letters, digits and `. _ @ + -`. It cannot be changed later."),
  password: NewPassword.describe("The first password, of 12 to 1024 characters."),
  role: z.enum(ROLES).describe("What the user may do; no more than the caller may."),
  email: Email.nullable().default(null).describe("The e-mail address for notifications. Null for none."),
});
export type UserCreate = z.infer<typeof UserCreate>;

/** Fields left out stay. A new password revokes the user's tokens; a new role applies at once. */
export const UserUpdate = z.strictObject({
  password: NewPassword.optional().describe("A new password, of 12 to 1024 characters. It revokes the user's tokens."),
  role: z.enum(ROLES).optional().describe("A new role. It applies at once, also to existing tokens and API keys."),
  email: Email.nullable().optional().describe("A new e-mail address; null removes it."),
});
export type UserUpdate = z.infer<typeof UserUpdate>;

/** For programs: sent as `X-API-Key`. It allows what its scopes name and its owner may still do. */
export const ApiKey = z.object({
  id: Id.describe("The key's id. It is not the key itself."),
  name: z.string().describe("The key's name."),
  hint: z.string().describe("The first characters of the key, to distinguish keys."),
  scopes: z.array(ScopeName).describe("What the key may do, as far as its owner still may."),
  created_by: z.object({
    id: Id.describe("The user's id."), username: z.string().describe("The user's name."),
  }).describe("The user who created the key. The key is deleted with that user."),
  created_at: Instant.describe("When the key was created."),
  expires_at: Instant.nullable().describe("When the key expires. Null for a key that does not expire."),
  last_used_at: Instant.nullable().describe("When the key was last used, to the minute. Null while it was not."),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A key to be created, for the caller. It can have no scope that the caller lacks. */
export const ApiKeyCreate = z.strictObject({
  name: z.string().trim().min(1).max(255).describe("The key's name."),
  scopes: z.array(ScopeName).min(1).max(SCOPES.length).describe("What the key may do: scopes that the caller has."),
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null)
    .describe("When the key expires, in the future. Null or left out for a key that does not expire."),
});
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>;

/** Fields left out stay. */
export const ApiKeyUpdate = z.strictObject({
  name: ApiKeyCreate.shape.name.optional(),
  scopes: ApiKeyCreate.shape.scopes.optional(),
  expires_at: ApiKeyCreate.shape.expires_at.unwrap().optional()
    .describe("When the key expires, in the future. Null for a key that does not expire."),
});
export type ApiKeyUpdate = z.infer<typeof ApiKeyUpdate>;

/** A new key. `key` is shown only in this answer. */
export const ApiKeyCreated = ApiKey.extend({
  key: z.string().describe("The key itself, `svc_live_` and 48 hexadecimal digits. It is shown only in this answer: store it."),
});
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

/** `svc_live_` and 48 hexadecimal characters. */
export const API_KEY_PATTERN = /^svc_live_[0-9a-f]{48}$/;

/** One's own keys, or with the scope `users:read` everybody's. */
export const ApiKeysQuery = IdPageQuery.extend({
  user_id: Id.optional().describe("Keys of this user. Of other users only with the scope `users:read`."),
  search: z.string().max(255).optional().describe("Part of the key's name, in any case."),
  scope: ScopeName.optional().describe("Only keys with this scope."),
});
export type ApiKeysQuery = z.infer<typeof ApiKeysQuery>;

/** The caller: the owner of the token or API key of this request. */
export const Me = z.object({
  user: User.describe("The user; for an API key, its owner."),
  tenant: z.object({ id: Id.describe("The tenant's id."), name: z.string().describe("The tenant's name.") })
    .describe("The tenant whose records this caller sees."),
  api_key: z.object({ id: Id.describe("The key's id."), name: z.string().describe("The key's name.") }).nullable()
    .describe("The API key of this request. Null for a token."),
  scopes: z.array(ScopeName).describe("What the caller may do now."),
  expires_at: Instant.nullable().describe("When the token or key expires. Null for a key that does not expire."),
});
export type Me = z.infer<typeof Me>;

/** For one connection to `/ws/events?ticket=…`, within 30 s. A token in a URL ends up in logs; a used ticket there is harmless. */
export const StreamTicket = z.object({
  ticket: z.string().describe("Valid for one connection: `/ws/events?ticket=<ticket>`."),
  expires_at: Instant.describe("Until when the connection must be opened, 30 seconds from now."),
});
export type StreamTicket = z.infer<typeof StreamTicket>;
