import * as z from "zod";
import { Id, Instant } from "../values.ts";

/** Half a megabyte of characters: the largest core routers have a tenth of it. */
export const CONFIGURATION_MAX = 524_288;

/** A network device's running configuration, as the device outputs it. */
export const ConfigVersionUpload = z.strictObject({
  content: z.string().min(1).max(CONFIGURATION_MAX).describe("The configuration's text, at most 524,288 characters."),
  changed_by: z.string().max(255).default("").describe("Who changed the device, where that is known."),
  comment: z.string().max(1024).default("").describe("A comment on this version."),
  captured_at: z.iso.datetime({ offset: true }).optional().describe("When it was read from the device. Now where it is left out."),
});
export type ConfigVersionUpload = z.infer<typeof ConfigVersionUpload>;

/** One version. Versions of a device count from 1; line counts compare with the version before. */
export const ConfigVersion = z.object({
  id: Id.describe("The version's id."),
  device_id: Id.describe("The device whose configuration it is."),
  version: z.int().min(1).describe("Its number. The versions of a device count from 1."),
  size_bytes: z.int().min(0).describe("Size of the text in bytes."),
  lines: z.int().min(0).describe("Lines in the text."),
  lines_added: z.int().min(0).describe("Lines that the version before does not have."),
  lines_removed: z.int().min(0).describe("Lines that only the version before has."),
  changed_by: z.string().describe("Who changed the device. Empty where unknown."),
  comment: z.string().describe("The comment of its upload. Empty for none."),
  captured_at: Instant.describe("When it was read from the device."),
  created_at: Instant.describe("When it was uploaded."),
});
export type ConfigVersion = z.infer<typeof ConfigVersion>;

/** With the text. Secrets in it read `[secret]`, unless they are revealed, which needs `vault:reveal`. */
export const ConfigVersionContent = ConfigVersion.extend({
  content: z.string().describe("The text. Secrets in it read `[secret]` unless they are revealed."),
});
export type ConfigVersionContent = z.infer<typeof ConfigVersionContent>;

/** `to` is the newest version, and `from` the one before `to`, where they are left out. */
export const ConfigDiffQuery = z.object({
  from: z.coerce.number().int().min(1).max(2_147_483_647).optional()
    .describe("Number of the older version. Left out: the one before `to`."),
  to: z.coerce.number().int().min(1).max(2_147_483_647).optional().describe("Number of the newer version. Left out: the newest."),
});

/** As `ConfigDiffQuery`, but sent as a body: for the difference with its secrets shown, which is recorded in the audit log. */
export const ConfigDiffReveal = z.strictObject({
  from: z.int().min(1).max(2_147_483_647).optional().describe("Number of the older version. Left out: the one before `to`."),
  to: z.int().min(1).max(2_147_483_647).optional().describe("Number of the newer version. Left out: the newest."),
});
export type ConfigDiffReveal = z.infer<typeof ConfigDiffReveal>;

/** The difference of two versions of one device's configuration. */
export const ConfigDiff = z.object({
  device_id: Id.describe("The device whose configurations were compared."),
  from: z.int().min(1).describe("Number of the older version."),
  to: z.int().min(1).describe("Number of the newer version."),
  lines_added: z.int().min(0).describe("Lines that only the newer one has."),
  lines_removed: z.int().min(0).describe("Lines that only the older one has."),
  diff: z.string().describe("The difference in the unified format, three lines around each change. Empty where nothing differs."),
});
export type ConfigDiff = z.infer<typeof ConfigDiff>;
