import { isIP } from "node:net";
import { ExemptHours } from "@lanthorn/contract/uplink";
import { equalBytes, formatIp, ipv4Number, parseIp, parsePrefix } from "@lanthorn/packets";
import { readConfiguration } from "@lanthorn/runtime";
import * as z from "zod";
import { NAME_BAIT_PROTOCOLS } from "./name-bait/name-protocols.ts";
import { MAKERS, PERSONA_NAMES } from "./personas/table.ts";
import { SERVICE_NAMES } from "./services/names.ts";

/** Read where `--config` names no other file. */
export const DEFAULT_DECOY_FILE = "/etc/lanthorn/decoy.toml";

const Address = z.string().refine((text) => isIP(text) !== 0 && text !== "::" && text !== "0.0.0.0", "one IP address of this machine (see: ip address), not all of them: the machine's own services stay its own");
const OwnNetworkAddress = z.union([z.cidrv4(), z.cidrv6()]).refine(isHostOfNetwork, "an address of a host with its network, as 192.0.2.50/24");
const Service = z.strictObject({ service: z.enum(SERVICE_NAMES), port: z.int().min(0).max(65_535) });

const Decoy = z.strictObject({
  /** By which it is reported. */
  name: z.string().min(1).max(64),
  address: z.union([Address, OwnNetworkAddress], "one IP address of this machine, or one of its own with its network as 192.0.2.50/24"),
  /** Where an address of its own is taken: an Ethernet interface, of a VLAN too. */
  interface: z.string().regex(/^[^\s/:]{1,15}$/, "an interface of this machine (see: ip link)").optional(),
  /** Of an address of its own: whole, or a maker's three octets. Those of the persona's maker where left out. */
  mac: z.string().toLowerCase().regex(/^[0-9a-f][02468ace](?::[0-9a-f]{2}){2}(?:(?::[0-9a-f]{2}){3})?$/, "a MAC address of one host as 00:11:32:4a:5b:6c, or a maker's block as 00:11:32").optional(),
  persona: z.enum(PERSONA_NAMES).default("linux"),
  /** As its services say it; its name where left out. */
  hostname: z.string().max(63).regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/, "a host name without its domain").optional(),
  /** Those of the persona where left out. One service may be on several ports. */
  services: z.array(Service).min(1).max(64).optional(),
}).superRefine(({ address, interface: link, mac }, { addIssue }) => {
  const isOwn = address.includes("/");
  if (isOwn && link === undefined) addIssue({ code: "custom", path: ["interface"], message: "an address of its own needs the interface on which it is taken" });
  if (!isOwn && (link !== undefined || mac !== undefined)) addIssue({ code: "custom", path: ["address"], message: "an address of its own is written with its network, as 192.0.2.50/24" });
}).transform(({ address, interface: link, mac, ...rest }) => {
  const [ip = "", length] = address.split("/");
  const own = length === undefined || link === undefined ? null : { prefixLength: Number(length), interface: link, mac: mac ?? MAKERS[rest.persona] };
  // As the kernel writes it, which is asked how it is.
  return { ...rest, address: own ? formatIp(parseIp(ip) ?? new Uint8Array(4)) : address, own };
});
/** One of `[[decoys]]`. `own` is null for an address of the machine; otherwise the decoy takes the address, with a MAC of its own that is whole or a maker's block. */
export type DecoySettings = z.infer<typeof Decoy>;

const Exemption = z.strictObject({
  name: z.string().min(1).max(64),
  addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).min(1).max(64),
  /** None: all. */
  ports: z.array(z.int().min(1).max(65_535)).max(256).default([]),
  /** Left out: always. */
  hours: ExemptHours.optional(),
});
/** One of `[[exempt]]`. */
export type ExemptionSettings = z.infer<typeof Exemption>;

const NameBait = z.strictObject({
  enabled: z.boolean().default(false),
  /** Between two questions, half as long to half as long again. */
  interval_seconds: z.int().min(60).max(86_400).default(600),
  protocols: z.array(z.enum(NAME_BAIT_PROTOCOLS)).min(1).max(NAME_BAIT_PROTOCOLS.length).default([...NAME_BAIT_PROTOCOLS]),
}).prefault({});
/** `[name_bait]`: whether decoys ask for names that no host has. */
export type NameBaitSettings = z.infer<typeof NameBait>;

const DecoysSettings = z.strictObject({
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  decoys: z.array(Decoy).min(1).max(64).refine((decoys) => isEachOnce(decoys.map(({ name }) => name)), "each decoy has a name of its own")
    .refine((decoys) => isEachOnce(decoys.flatMap(({ address, own }) => (own ? [address] : []))) && !decoys.some(({ address, own }) => own === null && decoys.some((other) => other.own && other.address === address)), "an address of its own is one decoy's"),
  /** Credentials that are good for nothing, left where only an intruder finds them. */
  bait: z.array(z.strictObject({ username: z.string().max(255), password: z.string().min(1).max(255) })).max(256).default([]),
  name_bait: NameBait,
  /** Who may touch decoys. */
  exempt: z.array(Exemption).max(64).default([]),
  /** Whether passwords that are tried go to the collector, which seals them. */
  report_passwords: z.boolean().default(true),
  /** Of all decoys. */
  max_sessions: z.int().min(1).max(10_000).default(1024),
  /** Keys and certificates that it makes for itself. */
  data_dir: z.string().min(1).default("/var/lib/lanthorn-decoy"),
  /** Where the process that takes addresses of their own writes how they are. */
  addresses_directory: z.string().min(1).default("/run/lanthorn-decoy-addresses"),
  /** Where the probe's daemon listens. Nothing need be there. */
  link_directory: z.string().min(1).default("/var/lib/lanthorn/decoy"),
});
/** The decoys' whole configuration, with every default filled in. */
export type DecoysSettings = z.infer<typeof DecoysSettings>;

/** @throws RuntimeError `config-unreadable` or `config-invalid`, naming each key and what is allowed there. */
export function readDecoysSettings(file: string | null): DecoysSettings {
  return readConfiguration({ schema: DecoysSettings, file: file ?? DEFAULT_DECOY_FILE, optional: false, environment: {}, names: {} });
}

/** @throws ZodError For a file's content that was read by other means. */
export function parseDecoysSettings(content: unknown): DecoysSettings {
  return DecoysSettings.parse(content);
}

function isEachOnce(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

/** Networks of IPv4 with room for hosts; the first address and the last are none. */
function isHostOfNetwork(text: string): boolean {
  const prefix = parsePrefix(text);
  const address = parseIp(text.split("/")[0] ?? "");
  if (!prefix || !address || address.every((octet) => octet === 0)) return false;
  const [first = 0] = address;
  if (address.length === 16) return prefix.length >= 48 && prefix.length <= 126 && first !== 0xff && !equalBytes(prefix.bytes, address);
  if (prefix.length < 8 || prefix.length > 30 || first === 0 || first === 127 || first >= 224) return false;
  const last = ipv4Number(prefix.bytes) + 2 ** (32 - prefix.length) - 1;
  return ![ipv4Number(prefix.bytes), last].includes(ipv4Number(address));
}
