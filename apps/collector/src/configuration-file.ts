import * as z from "zod";
import { MqttSettings } from "./broker/configuration.ts";
import { Prefix } from "./configuration-values.ts";
import { DatabaseSettings } from "./db/configuration.ts";
import {
  CorsSettings, DocsSettings, HttpSettings, HttpsSettings, MetricsSettings, RateLimitSettings, RemoteSettings, SignedSettings,
} from "./gateway/configuration.ts";
import { ConnectionSettings, StreamSettings } from "./gateway/limits/configuration.ts";
import { ProbeLimitSettings } from "./ingest/configuration.ts";
import { AlertSettings } from "./services/alerts/configuration.ts";
import { AuditSettings, RejectedSettings } from "./services/audit/configuration.ts";
import { BackupsSettings } from "./services/backups/configuration.ts";
import { ConfigurationSettings } from "./services/config-versions/configuration.ts";
import { InventorySettings } from "./services/devices/configuration.ts";
import { SmtpSettings, WebhookSettings } from "./services/diplomat/configuration.ts";
import { EventSettings } from "./services/events/configuration.ts";
import { DnsSettings } from "./services/dns/configuration.ts";
import { FeedSettings } from "./services/feeds/configuration.ts";
import { FileSettings } from "./services/files/configuration.ts";
import { PcapSettings } from "./services/pcap/configuration.ts";
import { LicenseSettings } from "./services/license/configuration.ts";
import { AdminSettings, TokenSettings } from "./services/auth/configuration.ts";
import { ScanSettings } from "./services/scans/configuration.ts";

/** The configuration file: each part's schema stands beside the part, with what is allowed there and its default. */
export const ConfigurationFile = z.strictObject({
  data_dir: z.string().min(1).default("/var/lib/lanthorn-collector"),
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  http: HttpSettings,
  https: HttpsSettings,
  mqtt: MqttSettings,
  database: DatabaseSettings,
  token: TokenSettings,
  admin: AdminSettings,
  rate_limits: RateLimitSettings,
  /** Only these may say in X-Forwarded-For who the client is. */
  trusted_proxies: z.array(Prefix).max(256).default([]),
  connections: ConnectionSettings,
  streams: StreamSettings,
  docs: DocsSettings,
  cors: CorsSettings,
  metrics: MetricsSettings,
  services: RemoteSettings,
  gateway: SignedSettings,
  probes: ProbeLimitSettings,
  events: EventSettings,
  inventory: InventorySettings,
  audit: AuditSettings,
  rejected: RejectedSettings,
  /** Files that probes send up. */
  files: FileSettings,
  pcap: PcapSettings,
  /** Data that is downloaded, as CVEs. */
  feeds: FeedSettings,
  dns: DnsSettings,
  scans: ScanSettings,
  alerts: AlertSettings,
  webhooks: WebhookSettings,
  backups: BackupsSettings,
  smtp: SmtpSettings.optional(),
  configurations: ConfigurationSettings,
  license: LicenseSettings,
  /** 32 bytes in Base64 that seal secrets in the database; made at the first start. Collectors that share a database share it.
   * After a rotation two with a comma between: the new one and the one before. */
  sealing_key: z.string().min(1).optional(),
});
