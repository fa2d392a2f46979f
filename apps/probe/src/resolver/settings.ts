import { isIP } from "node:net";
import { DNS_QUERY_LEVELS } from "@lanthorn/contract/uplink";
import { readConfiguration } from "@lanthorn/runtime";
import * as z from "zod";
import { FilterSettings, ListSettings } from "./filtering/settings.ts";
import { UpstreamSettings } from "./upstreams/settings.ts";

/** Read where `--config` names no other file. */
export const DEFAULT_RESOLVER_FILE = "/etc/lanthorn/dns.toml";

const Address = z.string().refine((text) => isIP(text) !== 0, "an IP address of this machine (see: ip address); :: and 0.0.0.0 do not say from where to answer")
  .refine((text) => text !== "::" && text !== "0.0.0.0", "one address of this machine, not all of them: an answer must leave from the address that was asked");
const Zone = z.string().min(1).max(253).regex(/^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){0,126}\.?$/, "the name of a zone, as corp.example or 10.in-addr.arpa");
const Upstreams = z.array(UpstreamSettings).min(1).max(16);
/** Networks that nobody outside of the site has. RFC 1918, 4193, 3927, 6598. */
const PRIVATE_NETWORKS = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7", "fe80::/10"];

const Lists = z.array(ListSettings).max(64).default([])
  .refine((lists) => new Set(lists.map(({ name }) => name)).size === lists.length, "each list has a name of its own");

const ResolverSettings = z.strictObject({
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  /** Where it listens, unless systemd gives it sockets. */
  listen: z.array(Address).max(32).default([]),
  port: z.int().min(0).max(65_535).default(53),
  /** Servers that questions are forwarded to. */
  upstreams: Upstreams,
  /** Zones whose names other servers know: Active Directory, reverse zones. */
  forward: z.array(z.strictObject({ zones: z.array(Zone).min(1).max(256), upstreams: Upstreams })).max(64).default([]),
  /** Networks that may ask. */
  allow: z.array(z.union([z.cidrv4(), z.cidrv6()])).max(256).default(PRIVATE_NETWORKS),
  cache_megabytes: z.int().min(1).max(4096).default(16),
  /** Of one client, and of a network of 64 bits in IPv6. */
  queries_per_second: z.int().min(1).max(1_000_000).default(200),
  burst: z.int().min(1).max(1_000_000).default(2000),
  /** Files with names that are blocked. They are read again when they change. */
  lists: Lists,
  filter: FilterSettings,
  queries: z.strictObject({
    /** How much of what clients ask goes to the collector: `blocked` and `all` say who asked for which names. */
    report: z.enum(DNS_QUERY_LEVELS).default("counts"),
  }).prefault({}),
  /** Where the probe's daemon leaves block lists and policies of the collector. Nothing need be there. */
  collector_directory: z.string().min(1).default("/var/lib/lanthorn/dns"),
  /** DNS over TLS and HTTPS on the addresses of `listen`, with a certificate that clients trust. */
  tls: z.strictObject({
    /** As in the certificate. Clients that find the resolver by its address learn of it where the certificate names that address, too. */
    name: z.string().min(1).max(253),
    certificate_file: z.string().min(1),
    key_file: z.string().min(1),
    port: z.int().min(0).max(65_535).default(853),
    https_port: z.int().min(0).max(65_535).default(443),
  }).optional(),
});
/** The resolver's whole configuration, with every default filled in. */
export type ResolverSettings = z.infer<typeof ResolverSettings>;
/** `[tls]`, with every default. */
export type TlsSettings = NonNullable<ResolverSettings["tls"]>;

/** @throws RuntimeError `config-unreadable` or `config-invalid`, naming each key and what is allowed there. */
export function readResolverSettings(file: string | null): ResolverSettings {
  return readConfiguration({ schema: ResolverSettings, file: file ?? DEFAULT_RESOLVER_FILE, optional: false, environment: {}, names: {} });
}

/** @throws ZodError For a file's content that was read by other means. */
export function parseResolverSettings(content: unknown): ResolverSettings {
  return ResolverSettings.parse(content);
}
