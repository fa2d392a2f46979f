import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery, PeriodQuery } from "./envelopes.ts";

/** Whose actions are audited: a user, an API key, a probe, or the collector and its operator on the machine. */
export const ACTOR_TYPES = ["user", "key", "probe", "system"] as const;

/** One change: who did what to which object, when and from where, and the object before and after. Secrets read `[secret]`. */
export const AuditRecord = z.object({
  id: Id.describe("The record's id."),
  at: Instant.describe("When it was done."),
  actor: z.object({
    type: z.enum(ACTOR_TYPES).describe("`user`: a user. `key`: an API key. `probe`: a probe. `system`: the collector or its operator."),
    id: z.string().describe("The actor's id. Empty for the collector itself and its operator."),
    name: z.string().describe("The actor's name at that time."),
    address: z.string().describe("The IP address that the request came from. Empty for actions of the collector itself."),
  }).describe("Who did it."),
  action: z.string().describe("What was done, as `<what>.<verb>`: `site.create`, `user.update`, `auth.login`."),
  target: z.object({
    type: z.string().describe("The type of the object: `site`, `user`, `webhook`."),
    id: z.string().describe("The object's id."),
  }).describe("The object of the action."),
  before: z.record(z.string(), z.unknown()).nullable().describe("The object before. Null where it did not exist. Secrets read `[secret]`."),
  after: z.record(z.string(), z.unknown()).nullable().describe("The object after. Null where it was deleted. Secrets read `[secret]`."),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** Newest first. Texts match whole; `action` also by its first part: `site` finds `site.create`. */
export const AuditQuery = IdPageQuery.extend(PeriodQuery.shape).extend({
  actor: z.string().min(1).max(255).optional().describe("The id or the whole name of the actor."),
  action: z.string().min(1).max(64).optional().describe("The whole action, or its first part: `site` finds `site.create`."),
  target: z.string().min(1).max(255).optional().describe("The id or the type of the object."),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
