import type { Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { Actor } from "./environment.ts";

/** One write. `before` is null for what was made, `after` for what was removed; both may be null for what changes no record. */
export interface AuditEntry {
  readonly actor: Actor;
  /** `<what>.<verb>`: `site.create`, `user.update`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly before: object | null;
  readonly after: object | null;
  /**
   * What anybody can repeat without end, as a failed login: those of an hour by the same actor from the same address are one
   * record with a count, kept apart from the others. `before` and `after` are then null.
   */
  readonly isCounted?: boolean;
}

/**
 * Writes down who did what, in the transaction that does it: neither is kept without the other. It takes secrets out by
 * the names of their fields, so a service passes its records as they are.
 */
export type Audit = (trx: Transaction<Schema>, entry: AuditEntry | readonly AuditEntry[]) => Promise<void>;
