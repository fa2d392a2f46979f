import { isIP } from "node:net";
import { ExemptHours } from "@lanthorn/contract/uplink";
import { readConfiguration } from "@lanthorn/runtime";
import * as z from "zod";
import { NAME_BAIT_PROTOCOLS } from "./name-bait/name-protocols.ts";
import { PERSONA_NAMES } from "./personas/table.ts";
import { SERVICE_NAMES } from "./services/names.ts";

/** Read where `--config` names no other file. */
export const DEFAULT_DECOY_FILE = "/etc/lanthorn/decoy.toml";

const Address = z.string().refine((text) => isIP(text) !== 0 && text !== "::" && text !== "0.0.0.0", "one IP address of this machine (see: ip address), not all of them: the machine's own services stay its own");
const Service = z.strictObject({ service: z.enum(SERVICE_NAMES), port: z.int().min(0).max(65_535) });

const Decoy = z.strictObject({
  /** By which it is reported. */
  name: z.string().min(1).max(64),
  address: Address,
  persona: z.enum(PERSONA_NAMES).default("linux"),
  /** As its services say it; its name where left out. */
  hostname: z.string().max(63).regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/, "a host name without its domain").optional(),
  /** Those of the persona where left out. One service may be on several ports. */
  services: z.array(Service).min(1).max(64).optional(),
});
/** One of `[[decoys]]`. */
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
  decoys: z.array(Decoy).min(1).max(64).refine((decoys) => new Set(decoys.map(({ name }) => name)).size === decoys.length, "each decoy has a name of its own"),
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
