import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfiguration, unknownVariables } from "@lanthorn/runtime";
import * as z from "zod";
import { ConfigurationFile } from "./configuration-file.ts";
import { DATABASE_URL_FORM } from "./db/configuration.ts";
import { type DatabaseLocation, parseLocation } from "./db/location.ts";
import { CollectorError } from "./errors.ts";
import type { RemoteName } from "./gateway/services.ts";

/** Read when `--config` names no other file. It may be absent: then every setting has its default. */
export const DEFAULT_CONFIGURATION_FILE = "/etc/lanthorn/collector.toml";

/** The whole configuration, with every default filled in. */
export interface Configuration extends z.infer<typeof ConfigurationFile> {
  readonly database_location: DatabaseLocation;
}

/** At least 32 characters each, so none is taken for a number: `gateway.secret`, and those of services in other processes. */
const SERVICE_SECRETS = [
  { name: "LANTHORN_GATEWAY_SECRET", credential: "gateway-secret", path: "gateway.secret" },
  ...(["vault", "license", "agents", "cmod", "ipam", "diplomat"] as const satisfies readonly RemoteName[]).map((service) => ({
    name: `LANTHORN_${service.toUpperCase()}_SECRET`, credential: `${service}-secret`, path: `services.${service}.secret`, service,
  })),
] as const;
/** As much of the file as says which services run elsewhere; what is wrong in it is said when all of it is read. */
const WithServices = z.looseObject({ services: z.record(z.string(), z.looseObject({})).catch({}) });

/** Environment variable → key. Other secrets are not here: a password of digits must stay a text. */
const NAMES = {
  LANTHORN_DATA_DIR: "data_dir",
  LANTHORN_LOG_LEVEL: "log_level",
  LANTHORN_HTTP_HOST: "http.host",
  LANTHORN_HTTP_PORT: "http.port",
  LANTHORN_HTTPS_ENABLED: "https.enabled",
  LANTHORN_HTTPS_HOST: "https.host",
  LANTHORN_HTTPS_PORT: "https.port",
  LANTHORN_HTTPS_NAMES: "https.names",
  LANTHORN_MQTT_HOST: "mqtt.host",
  LANTHORN_MQTT_PORT: "mqtt.port",
  LANTHORN_MQTT_URL: "mqtt.url",
  LANTHORN_MQTT_NAME: "mqtt.name",
  LANTHORN_MQTT_PUBLIC_URL: "mqtt.public_url",
  LANTHORN_DATABASE_URL: "database.url",
  ...Object.fromEntries(SERVICE_SECRETS.map(({ name, path }) => [name, path])),
  LANTHORN_WEBHOOKS_ALLOW: "webhooks.allow",
  LANTHORN_BACKUPS_RECIPIENTS: "backups.recipients",
  LANTHORN_BACKUPS_INCLUDE_KEYS: "backups.include_keys",
  LANTHORN_BACKUPS_DIRECTORY: "backups.directory",
  LANTHORN_BACKUPS_SCHEDULE: "backups.schedule",
  LANTHORN_BACKUPS_POSTGRES_BIN: "backups.postgres_bin",
  LANTHORN_FEEDS_ENABLED: "feeds.enabled",
  LANTHORN_FEEDS_DIRECTORY: "feeds.directory",
  LANTHORN_FEEDS_MIRROR: "feeds.mirror",
  LANTHORN_FEEDS_PROXY: "feeds.proxy",
  LANTHORN_SMTP_HOST: "smtp.host",
  LANTHORN_SMTP_PORT: "smtp.port",
  LANTHORN_SMTP_SECURITY: "smtp.security",
  LANTHORN_SMTP_FROM: "smtp.from",
} as const;

/** Secrets, which are taken from the environment as they stand, and what the other programs of ours read. */
const FURTHER_NAMES = [
  "LANTHORN_ADMIN_PASSWORD", "LANTHORN_TOKEN_SECRET", "LANTHORN_SEALING_KEY", "LANTHORN_SMTP_PASSWORD", "LANTHORN_NVD_API_KEY",
  "LANTHORN_INTERFACE", "LANTHORN_COLLECTOR_URL", "LANTHORN_SESSION",
];

/** A line for each variable of the environment that begins as ours do and is read by nobody. */
export function unreadVariables(environment: Environment): readonly string[] {
  return unknownVariables(environment, [...Object.keys(NAMES), ...FURTHER_NAMES]);
}

/** A line for each secret of a service that runs in this process, where nothing is signed with it. */
export function unusedSecrets({ services }: Pick<Configuration, "services">, environment: Environment): readonly string[] {
  return SERVICE_SECRETS.flatMap((secret) => {
    if (!("service" in secret) || services[secret.service] !== undefined) return [];
    const { service, name, credential } = secret;
    if (secretFrom(environment, name, credential) === undefined) return [];
    return [`${name} (or the credential ${credential}) is set, but services.${service}.url is not: the service runs in this process and the `
      + `secret is not used. Set services.${service}.url, or take the secret away`];
  });
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the file, the environment over it, and systemd's credentials (files `admin-password`, `token-secret`,
 * `sealing-key`, `smtp-password`, `nvd-api-key`, `gateway-secret` and `<service>-secret` in `$CREDENTIALS_DIRECTORY`) for the secrets that the
 * environment does not name.
 * @param file Null for the usual place, where there may be none.
 * @throws RuntimeError or CollectorError `config-invalid`, naming each key and what is allowed there.
 */
export function readCollectorConfiguration(file: string | null, environment: Environment): Configuration {
  const source = { file: file ?? DEFAULT_CONFIGURATION_FILE, optional: file === null };
  const { services } = readConfiguration({ ...source, schema: WithServices, names: {}, environment: {} });
  // Of a service that runs in this process a secret alone would make half a section.
  const serviceSecrets = SERVICE_SECRETS.map((secret) => [
    secret.name, "service" in secret && !Object.hasOwn(services, secret.service) ? undefined : secretFrom(environment, secret.name, secret.credential),
  ] as const);
  const values = readConfiguration({
    ...source, schema: ConfigurationFile, names: NAMES, environment: { ...environment, ...Object.fromEntries(serviceSecrets) },
  });
  const password = secretFrom(environment, "LANTHORN_ADMIN_PASSWORD", "admin-password") ?? values.admin.password;
  const secret = secretFrom(environment, "LANTHORN_TOKEN_SECRET", "token-secret") ?? values.token.secret;
  if (secret !== undefined && secret.length < 32) {
    throw new CollectorError(
      "config-invalid", "the configuration is not valid:\n  token.secret (LANTHORN_TOKEN_SECRET): at least 32 characters",
    );
  }
  const sealingKey = secretFrom(environment, "LANTHORN_SEALING_KEY", "sealing-key") ?? values.sealing_key;
  const smtpPassword = secretFrom(environment, "LANTHORN_SMTP_PASSWORD", "smtp-password") ?? values.smtp?.password;
  const nvdApiKey = secretFrom(environment, "LANTHORN_NVD_API_KEY", "nvd-api-key") ?? values.feeds.nvd_api_key;
  return {
    ...values,
    feeds: { ...values.feeds, ...(nvdApiKey !== undefined && { nvd_api_key: nvdApiKey }) },
    ...(sealingKey !== undefined && { sealing_key: sealingKey }),
    ...(values.smtp && { smtp: { ...values.smtp, ...(smtpPassword !== undefined && { password: smtpPassword }) } }),
    admin: password === undefined ? {} : { password },
    token: { ...values.token, ...(secret === undefined ? {} : { secret }) },
    database_location: locationOf(values, environment),
  };
}

/** The URL may hold a password, so it may also be the credential `database-url`. */
function locationOf({ database, data_dir: dataDir }: z.infer<typeof ConfigurationFile>, environment: Environment): DatabaseLocation {
  const url = secretFrom(environment, "LANTHORN_DATABASE_URL", "database-url") ?? database.url;
  if (url === undefined) return { file: join(dataDir, "lanthorn.db") };
  const location = parseLocation(url);
  if (!location) {
    throw new CollectorError("config-invalid", `the configuration is not valid:\n  the credential database-url: ${DATABASE_URL_FORM}`);
  }
  if ("file" in location) return location;
  return { ...location, poolSize: database.pool_size, statementTimeoutSeconds: database.statement_timeout_seconds };
}

function secretFrom(environment: Environment, name: string, credential: string): string | undefined {
  const value = environment[name];
  if (value !== undefined && value !== "") return value;
  const directory = environment.CREDENTIALS_DIRECTORY;
  if (directory === undefined || directory === "") return undefined;
  try {
    return readFileSync(join(directory, credential), "utf8").replace(/\r?\n$/, "") || undefined;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CollectorError("config-invalid", `cannot read the credential ${credential}`, { cause });
  }
}
