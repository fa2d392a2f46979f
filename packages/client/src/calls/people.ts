import {
  ApiKey, type ApiKeyCreate, ApiKeyCreated, type ApiKeyUpdate, AuditRecord, HealthResponse, listEnvelope, Me, type PasswordChange, PasswordConfirmed, Site,
  type SiteCreate,
  type SiteUpdate,
  StreamTicket, TokenResponse, User, type UserCreate, type UserUpdate,
} from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const user = (id: string) => `/api/v1/users/${encodeURIComponent(id)}`;
const key = (id: string) => `/api/v1/auth/keys/${encodeURIComponent(id)}`;
const site = (id: string) => `/api/v1/sites/${encodeURIComponent(id)}`;

/** Who may do what, where, and what they did. */
export const peopleCalls = ({ call }: Transport) => ({
  login: (username: string, password: string) => call("POST", "/api/auth/login", TokenResponse, { body: { username, password } }),
  refresh: () => call("POST", "/api/auth/refresh", TokenResponse),
  logout: async (): Promise<void> => void (await call("POST", "/api/v1/auth/logout", z.unknown())),
  /** Every other token of the person ends. @returns A new one. */
  changePassword: (change: PasswordChange) => call("POST", "/api/v1/auth/password", TokenResponse, { body: change }),
  /** The token that is sent counts as confirmed for five minutes. */
  confirmPassword: (password: string) => call("POST", "/api/v1/auth/confirm", PasswordConfirmed, { body: { password } }),
  health: () => call("GET", "/api/health", HealthResponse),
  /** Opens one stream, within 30 s, without a token in the URL. */
  createStreamTicket: () => call("POST", "/api/v1/ws/ticket", StreamTicket),
  /** The user, the tenant and the scopes of the token or key that is sent. */
  readMe: () => call("GET", "/api/v1/me", Me),
  listApiKeys: (query?: Query) => call("GET", "/api/v1/auth/keys", listEnvelope(ApiKey), { query }),
  createApiKey: (key: ApiKeyCreate) => call("POST", "/api/v1/auth/keys", ApiKeyCreated, { body: key }),
  readApiKey: (id: string) => call("GET", key(id), ApiKey),
  updateApiKey: (id: string, changes: ApiKeyUpdate) => call("PUT", key(id), ApiKey, { body: changes }),
  revokeApiKey: async (id: string): Promise<void> => void (await call("DELETE", key(id), z.unknown())),
  listUsers: (query?: Query) => call("GET", "/api/v1/users", listEnvelope(User), { query }),
  createUser: (made: UserCreate) => call("POST", "/api/v1/users", User, { body: made }),
  readUser: (id: string) => call("GET", user(id), User),
  updateUser: (id: string, changes: UserUpdate) => call("PUT", user(id), User, { body: changes }),
  deleteUser: async (id: string): Promise<void> => void (await call("DELETE", user(id), z.unknown())),
  listSites: (query?: Query) => call("GET", "/api/v1/sites", listEnvelope(Site), { query }),
  createSite: (name: string, settings: Omit<SiteCreate, "name"> = {}) => call(
    "POST", "/api/v1/sites", Site, { body: { name, ...settings } },
  ),
  readSite: (id: string) => call("GET", site(id), Site),
  updateSite: (id: string, changes: SiteUpdate) => call("PUT", site(id), Site, { body: changes }),
  deleteSite: async (id: string): Promise<void> => void (await call("DELETE", site(id), z.unknown())),
  listAudit: (query?: Query) => call("GET", "/api/v1/audit", listEnvelope(AuditRecord), { query }),
});
