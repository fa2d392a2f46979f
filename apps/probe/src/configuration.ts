import { type EnvironmentNames, readConfiguration, unknownVariables } from "@lanthorn/runtime";
import * as z from "zod";
import { captureSettings } from "./capture/settings.ts";
import { DecoyLinkSettings } from "./decoy/link/settings.ts";
import { GuardSettings } from "./detect/settings.ts";
import { DnsListsSettings } from "./dns-lists/settings.ts";
import { egressSettings } from "./egress/settings.ts";
import { FilesSettings } from "./files/settings.ts";
import { HealthSettings } from "./health/settings.ts";
import { hostsSettings } from "./hosts/settings.ts";
import { IntrusionSettings } from "./intrusions/settings.ts";
import { namingSettings } from "./naming/settings.ts";
import { QueueSettings } from "./queue/settings.ts";
import { ScanSettings } from "./scan/settings.ts";
import { SnmpSettings } from "./snmp/settings.ts";
import { SweepSettings } from "./sweep/settings.ts";
import { TrafficSettings } from "./traffic/settings.ts";
import { CollectorSettings } from "./uplink/settings.ts";

/** Read where `--config` names no other file. It may be missing. */
export const DEFAULT_CONFIGURATION_FILE = "/etc/lanthorn/probe.toml";

/** Each module's part, with its defaults, as the module itself declares it. */
const Configuration = z.strictObject({
  data_dir: z.string().min(1).default("/var/lib/lanthorn-probe"),
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  ...captureSettings,
  ...egressSettings,
  ...namingSettings,
  ...hostsSettings,
  sweep: SweepSettings,
  scan: ScanSettings,
  snmp: SnmpSettings,
  queue: QueueSettings,
  files: FilesSettings,
  collector: CollectorSettings,
  health: HealthSettings,
  guards: GuardSettings,
  traffic: TrafficSettings,
  ids: IntrusionSettings,
  dns: DnsListsSettings,
  decoy: DecoyLinkSettings,
});

/** The probe's whole configuration, with every default filled in. */
export type Configuration = z.infer<typeof Configuration>;

const NAMES: EnvironmentNames = {
  LANTHORN_DATA_DIR: "data_dir",
  LANTHORN_LOG_LEVEL: "log_level",
  LANTHORN_DNS_DIRECTORY: "dns.directory",
  LANTHORN_DECOY_DIRECTORY: "decoy.directory",
  LANTHORN_INTERFACE: "interface",
  LANTHORN_MQTT_URL: "collector.mqtt_url",
  LANTHORN_COLLECTOR_URL: "collector.url",
};

/**
 * Reads the file with the environment over it.
 * @param file Null for the usual place, where there may be none.
 * @throws RuntimeError `config-unreadable` or `config-invalid`, naming each key and what is allowed there.
 */
export function readProbeConfiguration(file: string | null, environment: Readonly<Record<string, string | undefined>>): Configuration {
  return readConfiguration({
    schema: Configuration, file: file ?? DEFAULT_CONFIGURATION_FILE, optional: file === null, environment, names: NAMES,
  });
}

/** The settings of a replay: a file's, or those of a new probe. The environment changes nothing. @throws As `readProbeConfiguration`. */
export function readReplaySettings(file: string | null): Configuration {
  return readConfiguration({ schema: Configuration, file, optional: false, environment: {}, names: {} });
}

/** Of the collector and the command, which may share the probe's environment. */
const OTHERS_NAMES = /^LANTHORN_(?:HTTPS?|MQTT|DATABASE|WEBHOOKS|BACKUPS|SMTP|ADMIN|TOKEN|SEALING|SESSION)(?:_|$)/;

/** A line for each variable of the environment that begins as ours do and is read by nobody. */
export function unreadVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = Object.keys(environment);
  return unknownVariables(environment, [...Object.keys(NAMES), ...names.filter((name) => OTHERS_NAMES.test(name))]);
}
