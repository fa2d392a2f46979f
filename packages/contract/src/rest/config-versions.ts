import * as z from "zod";
import { Id, Instant } from "../values.ts";

/** Half a megabyte of characters: the largest core routers have a tenth of it. */
export const CONFIGURATION_MAX = 524_288;

/** A network device's running configuration, as it says it itself. */
export const ConfigVersionUpload = z.strictObject({
  content: z.string().min(1).max(CONFIGURATION_MAX),
  /** Who changed the device, where that is known. */
  changed_by: z.string().max(255).default(""),
  comment: z.string().max(1024).default(""),
  /** When the device said it; now where it is left out. */
  captured_at: z.iso.datetime({ offset: true }).optional(),
});
export type ConfigVersionUpload = z.infer<typeof ConfigVersionUpload>;

/** One version. Versions of a device count from 1; what was compared is the version before. */
export const ConfigVersion = z.object({
  id: Id,
  device_id: Id,
  version: z.int().min(1),
  size_bytes: z.int().min(0),
  lines: z.int().min(0),
  lines_added: z.int().min(0),
  lines_removed: z.int().min(0),
  changed_by: z.string(),
  comment: z.string(),
  captured_at: Instant,
  created_at: Instant,
});
export type ConfigVersion = z.infer<typeof ConfigVersion>;

/** With the text. What is secret in it reads `[secret]`, unless it was asked for with `vault:reveal`. */
export const ConfigVersionContent = ConfigVersion.extend({ content: z.string() });
export type ConfigVersionContent = z.infer<typeof ConfigVersionContent>;

/** `to` is the newest version, and `from` the one before `to`, where they are left out. */
export const ConfigDiffQuery = z.object({
  from: z.coerce.number().int().min(1).max(2_147_483_647).optional(), to: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
});

export const ConfigDiffReveal = z.strictObject({
  from: z.int().min(1).max(2_147_483_647).optional(), to: z.int().min(1).max(2_147_483_647).optional(),
});
export type ConfigDiffReveal = z.infer<typeof ConfigDiffReveal>;

export const ConfigDiff = z.object({
  device_id: Id,
  from: z.int().min(1),
  to: z.int().min(1),
  lines_added: z.int().min(0),
  lines_removed: z.int().min(0),
  /** In the unified format, with three lines around each change; empty where nothing differs. */
  diff: z.string(),
});
export type ConfigDiff = z.infer<typeof ConfigDiff>;
