import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import { LOGIN_WINDOW_MS } from "./login/throttle.ts";
import { forgetEnded, forgetLoginFailures, forgetAnonymous, noteKeyUse } from "./maintenance-store.ts";

/** Writes down when keys were used, and forgets what has ended, each minute. */
export interface Maintenance {
  readonly job: Job<void>;
  /** Remembers that a key was used now; written within a minute, so that a busy key costs one write a minute. */
  keyUsed(keyId: string): void;
  /** Writes what is not yet written, once more. */
  close(): Promise<void>;
}

const EVERY_MS = 60_000;
/** Failed logins for names that nobody has belong to no tenant and are read by nobody but the operator. */
const KEEP_ANONYMOUS_MS = 30 * 86_400_000;
/** Of those; each is an address that tried within an hour. */
const MAX_ANONYMOUS = 10_000;
/**
 * Names and addresses that failed within the window. Passwords are checked at some tens a second, so that a quarter of an hour
 * makes fewer: this only bounds the disk, and nobody is forgotten early by it.
 */
const MAX_FAILURES = 100_000;

/** Also deletes ended tokens, confirmations and tickets, and after 30 days the audit records of unknown user names. */
export function createMaintenance({ db, clock, log }: { readonly db: Kysely<Schema>; readonly clock: Clock; readonly log: Log }): Maintenance {
  let used = new Map<string, string>();

  const writeUses = async () => {
    const uses = used;
    used = new Map();
    for (const [id, at] of uses) await noteKeyUse(db, id, at);
  };
  const forget = async () => {
    const now = clock.now();
    await forgetEnded(db, toInstant(now));
    await forgetLoginFailures(db, toInstant(now - LOGIN_WINDOW_MS), MAX_FAILURES);
    await forgetAnonymous(db, toInstant(now - KEEP_ANONYMOUS_MS), MAX_ANONYMOUS);
  };
  const job = createJob({ clock, log }, {
    name: "people", everyMs: EVERY_MS, who: "each replica", failure: "users' records could not be kept up",
    async run(stopped) {
      await writeUses();
      if (!stopped.aborted) await forget();
    },
  });

  return {
    job,
    keyUsed(keyId) {
      used.set(keyId, toInstant(clock.now()));
    },
    async close() {
      await job.close();
      await writeUses().catch((error: unknown) => log.error({ reason: describeError(error) }, "when keys were used could not be written"));
    },
  };
}
