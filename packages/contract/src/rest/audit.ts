import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery, PeriodQuery } from "./envelopes.ts";

/** Who does what is audited: a person, an API key, a probe, or the collector and its operator on the box. */
export const ACTOR_TYPES = ["user", "key", "probe", "system"] as const;

/** One write: who did what to which thing, when, from where, and how the thing was and is. A secret in it reads `[secret]`. */
export const AuditRecord = z.object({
  id: Id.describe("The record's id."),
  at: Instant.describe("When it was done."),
  actor: z.object({
    type: z.enum(ACTOR_TYPES).describe("`user`: a person. `key`: an API key. `probe`: a probe. `system`: the collector or its operator."),
    id: z.string().describe("The actor's id. Empty for the collector itself and its operator."),
    name: z.string().describe("The actor's name at that time."),
    address: z.string().describe("The IP address that the request came from. Empty for what the collector did by itself."),
  }).describe("Who did it."),
  action: z.string().describe("What was done, as `<what>.<verb>`: `site.create`, `user.update`, `auth.login`."),
  target: z.object({
    type: z.string().describe("What kind of thing it is: `site`, `user`, `webhook`."),
    id: z.string().describe("The thing's id."),
  }).describe("What it was done to."),
  before: z.record(z.string(), z.unknown()).nullable().describe("The thing before. Null where it was not there. Secrets read `[secret]`."),
  after: z.record(z.string(), z.unknown()).nullable().describe("The thing after. Null where it is gone. Secrets read `[secret]`."),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** Newest first. Texts match whole; `action` also by its first part: `site` finds `site.create`. */
export const AuditQuery = IdPageQuery.extend(PeriodQuery.shape).extend({
  actor: z.string().min(1).max(255).optional().describe("The id or the whole name of who did it."),
  action: z.string().min(1).max(64).optional().describe("The whole action, or its first part: `site` finds `site.create`."),
  target: z.string().min(1).max(255).optional().describe("The id or the type of what it was done to."),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
