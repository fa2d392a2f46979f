import { isIP } from "node:net";
import * as z from "zod";
import { isRecipient } from "./backups/age-keys.ts";
import { parseLocation } from "./db/location.ts";
import { isAllowEntry } from "./deliveries/target-policy.ts";
import { ConnectionSettings, StreamSettings } from "./gateway/limits-configuration.ts";
import type { RemoteName } from "./gateway/services.ts";
import { FileSettings } from "./services/files/configuration.ts";
import { parseSchedule } from "./services/backups/schedule.ts";

/** 0 lets the system choose a free port; the `ready` line tells which. */
const Port = z.int().min(0).max(65_535);
const Host = z.string().min(1).max(255);
const Tier = (perMinute: number, burst: number) =>
  z.strictObject({
    per_minute: z.int().min(1).max(100_000).default(perMinute), burst: z.int().min(1).max(10_000).default(burst),
  }).prefault({});
const Prefix = z.string().refine(isPrefix, "an address or a prefix, as 10.0.0.1 or 10.0.0.0/8");
const BrokerUrl = z.url({ protocol: /^mqtts?$/, error: "a URL that begins with mqtts:// or mqtt://" });
/** How a database is named. */
export const DATABASE_URL_FORM = "sqlite: and a path, as sqlite:/var/lib/lanthorn-collector/lanthorn.db, or "
  + "postgres://user:password@host:5432/name";
const DatabaseUrl = z.string().refine((url) => parseLocation(url) !== null, { error: DATABASE_URL_FORM });
/** A list, or in the environment its members with commas between. */
const Names = z.preprocess(splitAtCommas, z.array(Host).max(64));
const Receivers = z.preprocess(splitAtCommas, z.array(z.string().max(255).refine(isAllowEntry, {
  error: "a host's name, an address, or a prefix as 10.0.0.0/8; this machine and its link only by single addresses",
})).max(256));

const Recipients = z.preprocess(splitAtCommas, z.array(z.string().refine((text) => isRecipient(text.trim()), {
  error: "a public key, age1…, as lanthorn-collector backups key makes it",
})).max(16));

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

/** The configuration file: every key with what is allowed there and its default. */
export const ConfigurationFile = z.strictObject({
  data_dir: z.string().min(1).default("/var/lib/lanthorn-collector"),
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  http: z.strictObject({ host: Host.default("127.0.0.1"), port: Port.default(8080) }).prefault({}),
  https: z.strictObject({
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
  ),
  mqtt: z.strictObject({
    host: Host.default("0.0.0.0"),
    port: Port.default(8883),
    /** Connections to the embedded broker, and from one address or one /64 before they have shown a certificate. */
    connections: z.int().min(1).max(1_000_000).default(10_000),
    strangers_per_address: z.int().min(1).max(1_000_000).default(64),
    /** An external broker instead of the embedded one. */
    url: BrokerUrl.optional(),
    /** Who has signed the external broker's certificate, in PEM, where that is not the collector's own CA. */
    ca_file: z.string().min(1).optional(),
    /** What this collector is called at an external broker; each that runs at the same time has a name of its own. */
    name: z.string().regex(/^lanthorn-collector(-[a-z0-9-]{1,40})?$/, "lanthorn-collector, or that and - with small letters and digits")
      .default("lanthorn-collector"),
    /** The URL that enrolled probes connect to, where that is not this machine's own name and port. */
    public_url: BrokerUrl.optional(),
  }).prefault({}),
  database: z.strictObject({
    url: DatabaseUrl.optional(),
    /** PostgreSQL alone: connections of this process for writing, and as many again for reading. */
    pool_size: z.int().min(2).max(1000).default(10),
    /** PostgreSQL alone: how long a start waits for it. */
    wait_seconds: z.int().min(0).max(3600).default(60),
    /** PostgreSQL alone: when the server gives a statement up. */
    statement_timeout_seconds: z.int().min(1).max(3600).default(30),
  }).prefault({}),
  /** At most 24 days: a timer that ends a stream with its token holds no more than 2^31 ms. */
  token: z.strictObject({
    lifetime_seconds: z.int().min(60).max(2_073_600).default(86_400),
    /** Tokens are signed with HS256 and this secret, which seals stored answers too; without it one is made in the data directory. */
    secret: z.string().min(32).optional(),
    /** Signs tokens with EdDSA instead: an Ed25519 private key (PEM, PKCS #8), so that others can check them with the public one. */
    key_file: z.string().min(1).optional(),
  }).prefault({}),
  admin: z.strictObject({ password: z.string().min(1).max(1024).optional() }).prefault({}),
  rate_limits: z.strictObject({
    standard: Tier(60, 10), admin: Tier(120, 20), service: Tier(300, 50),
    /** How many tokens' worth all tokens of one user may take together, and all API keys of one maker. */
    tokens_per_user: z.int().min(1).max(1000).default(4),
  }).prefault({}),
  /** Only these may say in X-Forwarded-For who the client is. */
  trusted_proxies: z.array(Prefix).max(256).default([]),
  connections: ConnectionSettings,
  streams: StreamSettings,
  docs: z.strictObject({
    /** Whether the OpenAPI documents can be read without credentials. */
    public: z.boolean().default(false),
    /** Whether the pages that show them open without credentials. A page asks for a token and reads its document with it. */
    pages: z.boolean().default(true),
  }).prefault({}),
  /** Pages of these origins may read the answers. */
  cors: z.strictObject({ origins: z.array(Origin).max(64).default([]) }).prefault({}),
  /** Who may read `/metrics`, which tells of all tenants together. */
  metrics: z.strictObject({ allow: z.array(Prefix).max(256).default(["127.0.0.0/8", "::1/128"]) }).prefault({}),
  /** Services that run as other processes, behind this gateway; those that are not named run in this one. */
  services: z.strictObject({
    vault: RemoteService.optional(), license: RemoteService.optional(), agents: RemoteService.optional(),
    cmod: RemoteService.optional(), ipam: RemoteService.optional(), diplomat: RemoteService.optional(),
  } satisfies Record<RemoteName, unknown>).prefault({}),
  /** Where this collector itself is a service behind another's gateway: the secret with which that one signs who asks. */
  gateway: z.strictObject({ secret: z.string().min(32).optional() }).prefault({}),
  probes: z.strictObject({
    silent_after_seconds: z.int().min(1).max(86_400).default(90),
    /** What one probe may add to the database in the long run; four minutes of it may come at once. */
    quota_megabytes_per_minute: z.number().min(0.1).max(100_000).default(64),
  }).prefault({}),
  events: z.strictObject({
    keep_days: z.number().min(0.01).max(3650).default(30),
    keep_megabytes: z.number().min(1).max(10_000_000).default(2048),
  }).prefault({}),
  /** What is kept of each device; the oldest goes first. */
  inventory: z.strictObject({
    /** Changes, merges that can be undone, and addresses that a device has no more. */
    keep_days: z.number().min(1).max(36_500).default(365),
    keep_changes: z.int().min(10).max(1_000_000).default(1000),
    /** That it has no more. */
    keep_addresses: z.int().min(10).max(100_000).default(256),
    keep_evidence: z.int().min(10).max(100_000).default(256),
    keep_ports: z.int().min(10).max(131_072).default(4096),
    keep_keys: z.int().min(8).max(1000).default(64),
    keep_merges: z.int().min(1).max(10_000).default(50),
    /** Of each site; beyond it those not seen for longest go, but none that people have worked on. */
    keep_devices: z.int().min(100).max(10_000_000).default(250_000),
  }).prefault({}),
  audit: z.strictObject({
    keep_days: z.number().min(1).max(36_500).default(1095),
    keep_records: z.int().min(1000).max(100_000_000).default(1_000_000),
    /** Logins, failed ones and logouts, counted by the hour and beside `keep_records`. */
    keep_authentication_days: z.number().min(1).max(36_500).default(180),
  }).prefault({}),
  /** Events of probes that could not be read. */
  rejected: z.strictObject({
    keep_days: z.number().min(0.01).max(3650).default(30),
    keep_megabytes: z.number().min(1).max(1_000_000).default(64),
  }).prefault({}),
  /** Files that probes send up. */
  files: FileSettings,
  /** Scans that have ended. */
  scans: z.strictObject({ keep_days: z.number().min(1).max(36_500).default(365) }).prefault({}),
  alerts: z.strictObject({
    /** Resolved ones; others are kept until they are. */
    keep_days: z.number().min(1).max(36_500).default(365),
    /** Alerts of one type at a site that may be open by what probes tell; of more, one says how many. */
    keep_open: z.int().min(20).max(1_000_000).default(1000),
  }).prefault({}),
  webhooks: z.strictObject({
    /** Receivers beside https at public addresses: names, addresses, prefixes. See the README. */
    allow: Receivers.default([]),
    /** Certificate authorities of receivers, in PEM, beside the usual ones. */
    ca_file: z.string().min(1).optional(),
    keep_days: z.number().min(0.01).max(3650).default(14),
    /** Deliveries of one webhook, done or waiting. */
    keep_deliveries: z.int().min(100).max(10_000_000).default(100_000),
  }).prefault({}),
  backups: z.strictObject({
    /** Public keys that backups are made for; who has one of the private keys can open them. Without any here those count that
     * `lanthorn-collector backups recipients` has set. */
    recipients: Recipients.default([]),
    /** Whether the deployment's own keys are in its backups too: who opens one then has everything at once. */
    include_keys: z.boolean().default(false),
    /** Without one they lie in the data directory. */
    directory: z.string().min(1).optional(),
    /** Minute, hour, day of month, month, day of week, in the machine's own time zone. */
    schedule: z.string().max(100).refine((pattern) => parseSchedule(pattern) !== null, "a cron pattern of five parts, as 30 3 * * *")
      .optional(),
    /** Of scheduled ones; 7. */
    keep: z.int().min(1).max(10_000).optional(),
    /** PostgreSQL alone: the folder with `pg_dump` and `pg_restore`, where that is not on the path or of an older version. */
    postgres_bin: z.string().min(1).optional(),
    /** The operator's own tenant, by its id, where that is not the first one. */
    tenant: z.uuid().optional(),
  }).prefault({}),
  /** Where e-mails to account owners go; without it there are none. */
  smtp: z.strictObject({
    host: Host,
    port: z.int().min(1).max(65_535).default(587),
    security: z.enum(["tls", "starttls", "none"]).default("starttls"),
    username: z.string().min(1).max(255).optional(),
    password: z.string().max(1024).optional(),
    from: z.string().min(3).max(255),
  }).optional(),
  /** Network devices' configurations: versions of each device, and how long; its newest stays. */
  configurations: z.strictObject({
    keep_versions: z.int().min(2).max(10_000).default(100), keep_days: z.number().min(1).max(36_500).default(730),
  }).prefault({}),
  license: z.strictObject({
    /** Public keys (Ed25519, PEM) of those whose licences are taken; none are without. */
    issuer_files: z.array(z.string().min(1)).max(16).default([]),
    /** How long before its end a licence raises an alert. */
    warn_days: z.number().min(0).max(365).default(30),
  }).prefault({}),
  /** 32 bytes in Base64 that seal secrets in the database; made at the first start. Collectors that share a database share it.
   * After a rotation two with a comma between: the new one and the one before. */
  sealing_key: z.string().min(1).optional(),
});

function splitAtCommas(value: unknown): unknown {
  return typeof value === "string" ? value.split(",").map((name) => name.trim()).filter(Boolean) : value;
}

function isPrefix(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
