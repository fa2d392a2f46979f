import { type Baseline, BaselineUpdate, type BaselineFactKind, type DeviceType, type Severity } from "@lanthorn/contract";

/** What people have set of a baseline. */
export type BaselineSettings = Pick<Baseline, "expected" | "missing_minutes" | "severities">;

/** Where nothing was set. A restart of a machine takes less than the fifteen minutes. */
export const DEFAULT_SETTINGS: BaselineSettings = { expected: null, missing_minutes: 15, severities: {} };

/** Reads `baselines.settings`. What is not set, or no longer understood, is as by default. */
export function readSettings(text: string): BaselineSettings {
  const { expected, missing_minutes: minutes, severities } = BaselineUpdate.safeParse(JSON.parse(text || "{}")).data ?? {};
  return {
    expected: expected ?? DEFAULT_SETTINGS.expected, missing_minutes: minutes ?? DEFAULT_SETTINGS.missing_minutes,
    severities: severities ?? DEFAULT_SETTINGS.severities,
  };
}

/** How severe a difference is, unless the site has set another severity for its kind. */
export const DEFAULT_SEVERITIES = {
  device: "low", dhcp_server: "high", gateway: "high", dns_server: "high", port: "medium", service: "low", host_key: "high",
  certificate: "low", neighbor: "low", presence: "low",
} as const satisfies Readonly<Record<BaselineFactKind, Severity>>;

/** Ports by which machines are taken over when nobody meant them to be open: remote control, file shares, databases and daemons without a password. */
const EXPOSED_PORTS: ReadonlySet<string> = new Set([
  "tcp/23", "tcp/445", "tcp/512", "tcp/513", "tcp/514", "tcp/1433", "tcp/2375", "tcp/2379", "tcp/3306", "tcp/3389", "tcp/5432", "tcp/5555",
  "tcp/5900", "tcp/5985", "tcp/6379", "tcp/9200", "tcp/10250", "tcp/11211", "tcp/27017", "udp/161",
]);

/** Devices that many others need. */
const NEEDED: ReadonlySet<string> = new Set(["router", "switch", "firewall", "server"] satisfies readonly DeviceType[]);
/** Devices that people carry around or switch off. */
const PERSONAL: ReadonlySet<string> = new Set(["phone", "workstation"] satisfies readonly DeviceType[]);

/**
 * How severe a difference is.
 * @param severities What the site has set.
 * @returns Null where it is not to be reported.
 */
export function severityOf(
  { kind, key, outcome }: { readonly kind: BaselineFactKind; readonly key: string; readonly outcome: string },
  deviceType: string, severities: BaselineSettings["severities"],
): Severity | null {
  if (outcome === "not_checked") return "info";
  const set = severities[kind];
  if (set !== undefined) return set === "off" ? null : set;
  if (kind === "presence") return PERSONAL.has(deviceType) ? null : DEFAULT_SEVERITIES.presence;
  if (kind === "port") return outcome === "gone" ? "low" : EXPOSED_PORTS.has(key) ? "high" : DEFAULT_SEVERITIES.port;
  if (kind === "device" && outcome === "gone") return NEEDED.has(deviceType) ? "high" : "medium";
  if (outcome === "replaced" && (kind === "service" || kind === "device" || kind === "certificate")) return "medium";
  return DEFAULT_SEVERITIES[kind];
}
