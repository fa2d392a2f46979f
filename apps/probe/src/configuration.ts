import { isIP } from "node:net";
import { type EnvironmentNames, readConfiguration, unknownVariables } from "@lanthorn/runtime";
import * as z from "zod";
import { parsePrefix } from "@lanthorn/packets";

export const DEFAULT_CONFIGURATION_FILE = "/etc/lanthorn/probe.toml";

/** Half of a /24 in a second; gentle to the cheapest access point. */
const DEFAULT_PACKETS_PER_SECOND = 200;
/** A gigabit link carries 1.5 million of a scan's frames, 100 Mbit/s 150,000: then the interface's queue slows it down. */
const DEFAULT_SCAN_PACKETS_PER_SECOND = 200_000;
/** Cisco's Dynamic ARP Inspection shuts an untrusted port above 15 ARP packets a second. */
const GENTLE_PACKETS_PER_SECOND = 12;

const MIB = 1024 * 1024;

const Prefix = z.string().refine((text) => isPrefix(text), "an address or a prefix, as 10.0.0.7 or 10.0.0.0/24 or fd00::/64");
const Network = z.string().refine((text) => text.includes(".") && text.includes("/") && isPrefix(text), "an IPv4 prefix, as 10.0.0.0/24");

/** A round of so many takes two hours at the usual rate. */
const MOST_ROUTED_ADDRESSES = 65_536;
const RoutedNetwork = z.string().refine((text) => isPrefix(text), "a prefix, as 10.9.0.0/24 or 2001:db8:9::/120");

/** A limit in percent, degrees and so on, above which the probe raises an alert; `false` for none. */
const limit = (initial: number, highest: number) => z.union([z.number().gt(0).max(highest), z.literal(false)], {
  error: `a number above 0, at most ${highest}, or false for no limit`,
}).default(initial);

const Configuration = z.strictObject({
  data_dir: z.string().min(1).default("/var/lib/lanthorn-probe"),
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  /** Linux's own limit is 15 octets; `/` and white space cannot be in a name. */
  interface: z.string().regex(/^[^/\s]{1,15}$/, "the name of an interface, as eth0 (see: ip link)").nullable().default(null),
  /** Parts of the interface's own subnets to sweep; empty for all of them. */
  networks: z.array(Network).max(256).default([]),
  /** Never sent to, whatever the collector says. */
  excluded: z.array(Prefix).max(4096).default([]),
  /** Asked for the names of addresses; the interface's own gateways unless set, and nobody when empty. */
  name_servers: z.array(z.string().refine((text) => isIP(text) !== 0, "an address, as 10.0.0.1")).max(8).nullable().default(null),
  /** A bound against a flood of invented MAC addresses. */
  max_hosts: z.int().min(16).max(100_000).default(8192),
  sweep: z.strictObject({
    enabled: z.boolean().default(true),
    interval_seconds: z.int().min(60).max(604_800).default(600),
    packets_per_second: z.int().min(1).max(10_000).default(DEFAULT_PACKETS_PER_SECOND),
    /** At most 12 packets a second, whatever packets_per_second says. */
    gentle: z.boolean().default(false),
    /** Networks behind routers whose hosts are watched too, at this interval and rate. */
    routed: z.array(RoutedNetwork).max(256).refine(
      (list) => addressesIn(list) <= MOST_ROUTED_ADDRESSES, "together at most 65,536 addresses, as many as a /16 has",
    ).default([]),
  }).prefault({}),
  scan: z.strictObject({
    /** The most that a scan at somebody's word may reach; it goes slower by itself where frames get lost. */
    packets_per_second: z.int().min(1).max(1_000_000).default(DEFAULT_SCAN_PACKETS_PER_SECOND),
    /** Networks behind routers that the collector may have scanned, or asked by SNMP, beside the own subnets and `sweep.routed`. */
    networks: z.array(Prefix).max(256).default([]),
  }).prefault({}),
  snmp: z.strictObject({
    /** Switches and routers to ask beside those that a credential of the vault names alone, or that announce themselves. */
    devices: z.array(z.string().refine((text) => isIP(text) !== 0, "an address, as 10.0.0.1")).max(64).default([]),
    interval_seconds: z.int().min(60).max(86_400).default(300),
    /** False: nobody is asked with a credential. */
    enabled: z.boolean().default(true),
  }).prefault({}),
  queue: z.strictObject({
    disk_budget_bytes: z.int().min(MIB).max(64 * 1024 * MIB).default(512 * MIB),
  }).prefault({}),
  files: z.strictObject({
    /** How fast files go to the collector; events go first in any case. */
    bytes_per_second: z.int().min(1024).max(1_000_000_000).default(2 * MIB),
    /** What files that wait to be sent may take together. */
    disk_budget_bytes: z.int().min(MIB).max(1024 * 1024 * MIB).default(2048 * MIB),
  }).prefault({}),
  collector: z.strictObject({
    /** Where renewal goes; what was given at enrollment unless set. */
    url: z.url({ protocol: /^https?$/, error: "a URL that begins with https://" }).nullable().default(null),
    /** Defaults to the URL that the collector gave at enrollment. */
    mqtt_url: z.url({ protocol: /^mqtts?$/, error: "a URL that begins with mqtts://" }).nullable().default(null),
  }).prefault({}),
  health: z.strictObject({
    interval_seconds: z.int().min(5).max(3600).default(30),
    /** How many reports in a row must be over a limit before an alert is raised. */
    samples: z.int().min(1).max(100).default(3),
    limits: z.strictObject({
      cpu_percent: limit(80, 10_000),
      memory_used_percent: limit(95, 100),
      disk_used_percent: limit(95, 100),
      load_per_core: limit(4, 1000),
      temperature_celsius: limit(85, 150),
      /** Share of frames that were lost before the probe could look at them. */
      capture_drops_percent: limit(1, 100),
      /** Of the disk budget. */
      queue_used_percent: limit(50, 100),
      clock_offset_seconds: limit(30, 86_400),
    }).prefault({}),
  }).prefault({}),
});

/** The probe's whole configuration, with every default filled in. */
export type Configuration = z.infer<typeof Configuration>;

const NAMES: EnvironmentNames = {
  LANTHORN_DATA_DIR: "data_dir",
  LANTHORN_LOG_LEVEL: "log_level",
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

/** Of the collector and the command, which may share the probe's environment. */
const OTHERS_NAMES = /^LANTHORN_(?:HTTPS?|MQTT|DATABASE|WEBHOOKS|BACKUPS|SMTP|ADMIN|TOKEN|SEALING|SESSION)(?:_|$)/;

/** A line for each variable of the environment that begins as ours do and is read by nobody. */
export function unreadVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = Object.keys(environment);
  return unknownVariables(environment, [...Object.keys(NAMES), ...names.filter((name) => OTHERS_NAMES.test(name))]);
}

/** The rate that everything which discovery sends shares. */
export function packetsPerSecond({ sweep }: Configuration): number {
  return sweep.gentle ? Math.min(sweep.packets_per_second, GENTLE_PACKETS_PER_SECOND) : sweep.packets_per_second;
}

function isPrefix(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** How many addresses some prefixes have together; one that cannot be read has none. */
function addressesIn(prefixes: readonly string[]): number {
  return prefixes.reduce((sum, text) => {
    const prefix = parsePrefix(text);
    return sum + (prefix ? 2 ** (prefix.bytes.length * 8 - prefix.length) : 0);
  }, 0);
}
