import * as z from "zod";

/** UUIDv7 in lower case, as every record's identity. @see RFC 9562 section 5.7 */
export const Id = z.uuid();

/** ISO 8601 in UTC with milliseconds, `2026-11-20T15:37:57.123Z`: the one spelling of time that crosses a process. */
export const Instant = z.iso.datetime({ precision: 3 });

/** Six lower-case hexadecimal pairs joined by colons. */
export const MacAddress = z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/, "must be six lower-case hexadecimal pairs with colons");

/** IPv4 in dotted decimal, or IPv6 as RFC 5952 writes it. */
export const IpAddress = z.union([z.ipv4(), z.ipv6()]);

/** An address, or a network as `10.0.0.0/8` or `2001:db8::/32`; bits behind the prefix do not count. */
export const IpNetwork = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "must be an IP address, or a network as 10.0.0.0/8");

/** A TCP or UDP port number. @see RFC 6335 section 6 */
export const Port = z.int().min(0).max(65_535);

/** Whether a text names a time zone that this machine knows: a newer one may know more. */
export function isTimeZone(text: string): boolean {
  // Offsets as `+02:00` are no places: they do not change with the seasons.
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).format(0) !== "";
  } catch {
    return false;
  }
}

/** A time zone by its name in the IANA database. */
export const TimeZone = z.string().max(64).refine(isTimeZone, "must be an IANA time zone, as Europe/Oslo").meta({ examples: ["Europe/Oslo"] });

/** The most urgent first. */
export const Severity = z.enum(["critical", "high", "medium", "low", "info"]);
export type Severity = z.infer<typeof Severity>;

/** `unknown` while the site's probe is silent: nothing was seen, and nothing was looked for. */
export const PresenceState = z.enum(["online", "offline", "unknown"]);
export type PresenceState = z.infer<typeof PresenceState>;

/** Kinds of devices. `unknown` while no evidence is sure enough. */
export const DEVICE_TYPES = [
  "workstation", "server", "router", "switch", "firewall", "printer", "camera", "phone", "iot", "access_point", "unknown",
] as const;
/** One of `DEVICE_TYPES`. */
export const DeviceType = z.enum(DEVICE_TYPES);
export type DeviceType = z.infer<typeof DeviceType>;

/** The transport protocol of a port. */
export const PortProtocol = z.enum(["tcp", "udp"]);

/** nmap's words. */
export const PortState = z.enum(["open", "closed", "filtered", "open|filtered"]);

/** How many of a host's ports that were asked are in each state. */
export const PortCounts = z.object({
  open: z.int().min(0), closed: z.int().min(0), filtered: z.int().min(0), "open|filtered": z.int().min(0),
});
export type PortCounts = z.infer<typeof PortCounts>;

/**
 * One observation behind a field's value: what was seen, how, and how much it is to be trusted (0–1).
 * Sources are protocol names, with a part of it behind a colon where it says several things: `arp`, `dhcp`, `mdns:_ipp._tcp`, `oui`, …
 */
export const Evidence = z.object({
  field: z.string().min(1).max(64),
  value: z.string().max(1024),
  source: z.string().min(1).max(64),
  confidence: z.number().min(0).max(1),
  seen_at: Instant,
});

export type Evidence = z.infer<typeof Evidence>;

/**
 * Fields of evidence that name one machine wherever it is seen, so that the interfaces which show the same are one device's.
 * - `ssh_host_key`: algorithm, a space, and the fingerprint as OpenSSH prints it: `ssh-ed25519 SHA256:…`
 * - `tls_certificate`: SHA-256 of the certificate in hexadecimal; only of one that names this machine alone, as self-signed ones do
 * - `snmp_engine_id`, `dhcp_duid`, `dhcp_client_id`: their bytes in hexadecimal
 * - `lldp_chassis_id`: a MAC, or the text as it was sent
 */
export const IDENTITY_FIELDS = [
  "ssh_host_key", "tls_certificate", "snmp_engine_id", "dhcp_duid", "dhcp_client_id", "lldp_chassis_id",
] as const;

/** How plan and sight of an address may differ. */
export const CONFLICT_KINDS = ["wrong_mac", "reserved_in_use", "duplicate_address", "outside_prefixes"] as const;

/** What a license may count. */
export const LICENSE_LIMITS = ["probes", "devices"] as const;

/** States of a license; `License` says what each means. */
export const LICENSE_STATUSES = ["community", "valid", "expiring", "expired", "untrusted"] as const;

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** @returns Milliseconds of `90s 15m 24h 7d 2w`, or null for any other text. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhdw])$/.exec(text.trim()) ?? [];
  const unitMs = UNIT_MS[unit ?? ""];
  return amount === undefined || unitMs === undefined ? null : Number(amount) * unitMs;
}

/** What an update does with one feed. `unchanged`: its source has nothing new. `waiting`: its source may not be asked yet. */
export const FEED_STATES = ["queued", "fetching", "fetched", "unchanged", "waiting", "importing", "imported", "failed"] as const;

/** What may be wrong with a feed: too old, fewer records or fewer of them with configurations than before, or failures in a row. */
export const FEED_PROBLEMS = ["age", "records", "configurations", "failures"] as const;
