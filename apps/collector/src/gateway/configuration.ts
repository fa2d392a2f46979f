import * as z from "zod";
import { Host, Names, Port, Prefix } from "../configuration-values.ts";
import type { RemoteName } from "./services.ts";

const Tier = (perMinute: number, burst: number) =>
  z.strictObject({
    per_minute: z.int().min(1).max(100_000).default(perMinute), burst: z.int().min(1).max(10_000).default(burst),
  }).prefault({});

/** A service that is another process. */
const RemoteService = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: "a URL that begins with https:// or http://" }).refine(
    (url) => !/[?#@]/.test(url), "without query and credentials",
  ),
  /** With which the gateway signs to it who asks. */
  secret: z.string().min(32),
  ca_file: z.string().min(1).optional(),
  timeout_seconds: z.number().min(1).max(30).default(30),
});
const Origin = z.string().refine(
  (text) => text === "*" || (URL.canParse(text) && new URL(text).origin === text), "an origin as https://dashboard.example.org, or *",
);

/** `[http]`: The listener for HTTP. */
export const HttpSettings = z.strictObject({ host: Host.default("127.0.0.1"), port: Port.default(8080) }).prefault({});
export type HttpSettings = z.infer<typeof HttpSettings>;

/** `[https]`: The listener for HTTPS. */
export const HttpsSettings = z.strictObject({
  enabled: z.boolean().default(true),
  host: Host.default("0.0.0.0"),
  port: Port.default(8443),
  /** Names and addresses that the collector's own certificate is valid for, beside the machine's own. */
  names: Names.default([]),
  /** A certificate of one's own, in PEM, instead of one from the collector's CA. */
  certificate_file: z.string().min(1).optional(),
  key_file: z.string().min(1).optional(),
}).prefault({}).refine(
  (https) => (https.certificate_file === undefined) === (https.key_file === undefined), "certificate_file and key_file go together",
);
export type HttpsSettings = z.infer<typeof HttpsSettings>;

/** `[rate_limits]`: How much each kind of caller may ask. */
export const RateLimitSettings = z.strictObject({
  standard: Tier(60, 10), admin: Tier(120, 20), service: Tier(300, 50),
  /** The dashboard's page and files, by address: 50 people behind one address may look at every page of it in the same minute. */
  pages: Tier(6000, 1000),
  /** How many tokens' worth all tokens of one user may take together, and all API keys of one maker. */
  tokens_per_user: z.int().min(1).max(1000).default(4),
}).prefault({});
export type RateLimitSettings = z.infer<typeof RateLimitSettings>;

/** `[docs]`: Who may read the API's documents. */
export const DocsSettings = z.strictObject({
  /** Whether the OpenAPI documents can be read without credentials. */
  public: z.boolean().default(false),
  /** Whether the pages that show them open without credentials. A page asks for a token and reads its document with it. */
  pages: z.boolean().default(true),
}).prefault({});

/** `[cors]`: Pages of these origins may read the answers. */
export const CorsSettings = z.strictObject({ origins: z.array(Origin).max(64).default([]) }).prefault({});

/** `[metrics]`: Who may read `/metrics`, which tells of all tenants together. */
export const MetricsSettings = z.strictObject({ allow: z.array(Prefix).max(256).default(["127.0.0.0/8", "::1/128"]) }).prefault({});

/** `[services]`: Services that run as other processes, behind this gateway; those that are not named run in this one. */
export const RemoteSettings = z.strictObject({
  vault: RemoteService.optional(), license: RemoteService.optional(), agents: RemoteService.optional(),
  cmod: RemoteService.optional(), ipam: RemoteService.optional(), diplomat: RemoteService.optional(),
} satisfies Record<RemoteName, unknown>).prefault({});

/** `[gateway]`: Where this collector itself is a service behind another's gateway: the secret with which that one signs who asks. */
export const SignedSettings = z.strictObject({ secret: z.string().min(32).optional() }).prefault({});
