import { createHash } from "node:crypto";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { limitGroup } from "../../../gateway/http/address.ts";
import { forgetFailures, holdFailures, setFailures } from "./failures-store.ts";

/** Counts failed logins for each user and address in the database, so that neither another replica nor a restart forgets them. */
export interface LoginThrottle {
  /**
   * Counts an attempt as failed from its start, so that many at once are no way round the limit.
   * @returns How long this pair must wait instead; 0 when it may try, and then it was counted.
   */
  begin(username: string, address: string): Promise<number>;
  /** The attempt that was begun was right: its pair starts anew. */
  succeeded(trx: Transaction<Schema>, username: string, address: string): Promise<void>;
  /** The user starts anew from everywhere. */
  forget(trx: Transaction<Schema>, username: string): Promise<void>;
}

const FAILURES = 5;
/** Five failed logins within this time block a user name and address until the first of them is older. */
export const LOGIN_WINDOW_MS = 15 * 60_000;
/** Replicas' clocks differ by less; what lies further ahead was written before the clock was set back, and would lock out for as long. */
const CLOCK_DIFFERENCE_MS = 60_000;

/** Names count without regard to case and are stored as SHA-256. Addresses count by `limitGroup`. */
export function createLoginThrottle({ db, clock }: { readonly db: Kysely<Schema>; readonly clock: Pick<Clock, "now"> }): LoginThrottle {
  return {
    begin: (username, address) => db.transaction().execute(async (trx) => {
      const now = clock.now();
      const pair = { username_sha256: hashOf(username), address: limitGroup(address) };
      const failures = await holdFailures(trx, pair, toInstant(now));
      const recent = failures.filter((at) => at > now - LOGIN_WINDOW_MS && at <= now + CLOCK_DIFFERENCE_MS);
      const blocking = recent.at(-FAILURES);
      if (blocking !== undefined) return Math.max(1, blocking + LOGIN_WINDOW_MS - now);
      await setFailures(trx, pair, [...recent, now]);
      return 0;
    }),
    succeeded: (trx, username, address) => forgetFailures(trx, { username_sha256: hashOf(username), address: limitGroup(address) }),
    forget: (trx, username) => forgetFailures(trx, { username_sha256: hashOf(username) }),
  };
}

/** What is typed as a user name is sometimes a password. A name is one whatever its case, and so are its attempts. */
function hashOf(username: string): string {
  return createHash("sha256").update(username.toLowerCase()).digest("hex");
}
