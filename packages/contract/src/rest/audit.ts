import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery, PeriodQuery } from "./envelopes.ts";

/** Who does what is audited: a person, an API key, a probe, or the collector and its operator on the box. */
export const ACTOR_TYPES = ["user", "key", "probe", "system"] as const;

/** One write: who did what to which thing, when, from where, and how the thing was and is. A secret in it reads `[secret]`. */
export const AuditRecord = z.object({
  id: Id,
  at: Instant,
  actor: z.object({
    type: z.enum(ACTOR_TYPES),
    id: z.string(),
    /** As it was called then. */
    name: z.string(),
    /** Where the request came from; empty for what the collector did itself. */
    address: z.string(),
  }),
  /** `<what>.<verb>`: `site.create`, `user.update`, `auth.login`. */
  action: z.string(),
  target: z.object({ type: z.string(), id: z.string() }),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** Newest first. Texts match whole; `action` also by its first part: `site` finds `site.create`. */
export const AuditQuery = IdPageQuery.extend(PeriodQuery.shape).extend({
  /** The id or the name of who did it. */
  actor: z.string().min(1).max(255).optional(),
  action: z.string().min(1).max(64).optional(),
  /** The id or the type of what it was done to. */
  target: z.string().min(1).max(255).optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
