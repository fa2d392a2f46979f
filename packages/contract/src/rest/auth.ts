import { z } from "zod";

export const LoginRequest = z.strictObject({ username: z.string().min(1).max(255), password: z.string().min(1).max(1024) });

export const TokenResponse = z.object({ access_token: z.string(), token_type: z.literal("bearer"), expires_in: z.int().min(1) });
export type TokenResponse = z.infer<typeof TokenResponse>;

/** Resources that scopes name as `<resource>:read` and `<resource>:write`. */
export const RESOURCES = [
  "devices", "scans", "alerts", "cve", "webhooks", "agents", "ipam", "config", "vault", "pcap", "backups", "users", "license", "audit",
] as const;
type Resource = (typeof RESOURCES)[number];
export type Scope = `${Resource}:${"read" | "write"}` | "vault:reveal";
export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

const OPERATOR_WRITES: readonly Resource[] = ["devices", "scans", "alerts", "pcap", "ipam", "webhooks"];
const VIEWER_BLIND: ReadonlySet<Resource> = new Set(["vault", "users", "audit"]);
const VIEWER_SCOPES = RESOURCES.filter((resource) => !VIEWER_BLIND.has(resource)).map((resource): Scope => `${resource}:read`);

/** The scopes that each role stands for. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: VIEWER_SCOPES,
  operator: [...VIEWER_SCOPES, ...OPERATOR_WRITES.map((resource): Scope => `${resource}:write`)],
  admin: [...RESOURCES.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`]), "vault:reveal"],
};
