import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import { forgetTimes, holdTimes, setTimes } from "./request-times-store.ts";
import { type Allowance, type Caller, createRateLimiter, judge, type RateLimiter, tighter } from "./rate-limit.ts";

/** Longer, and the database is not there: then each process counts for itself. */
const ANSWER_WITHIN_MS = 1000;
const FORGET_EVERY_MS = 60_000;
const MINUTE_MS = 60_000;
/** Processes' clocks differ by less; what lies further ahead was written before a clock was set back. */
const CLOCK_DIFFERENCE_MS = 5000;

/**
 * The same two windows with their times in the database, so that a caller has one allowance at all processes together. A request
 * costs a short transaction in a table without a log. While the database does not answer each process counts by itself: whether
 * a request can be served then is for the route to say, and `/health` must.
 */
export function createSharedRateLimiter(
  deps: { readonly db: Kysely<Schema>; readonly clock: Clock; readonly log: Log },
): RateLimiter & { readonly job: Job } {
  const { db, clock, log } = deps;
  const alone = createRateLimiter({ clock });
  let isAway = false;

  const timesOf = async (trx: Transaction<Schema>, caller: string, now: number): Promise<readonly number[]> => {
    const times = await holdTimes(trx, caller, now);
    return times.filter((at) => at > now - MINUTE_MS && at <= now + CLOCK_DIFFERENCE_MS);
  };
  const count = (own: Caller, shared: Caller | undefined) => db.transaction().execute(async (trx): Promise<Allowance> => {
    const now = clock.now();
    // Always the caller's own before what it shares, so that no two wait for each other.
    const all: { readonly caller: string; readonly times: readonly number[]; readonly allowance: Allowance }[] = [];
    for (const { caller, tier } of shared ? [own, shared] : [own]) {
      const times = await timesOf(trx, caller, now);
      all.push({ caller, times, allowance: judge(times, tier, now) });
    }
    const [first, second] = all;
    const allowance = tighter((first as (typeof all)[number]).allowance, second?.allowance);
    if (allowance.allowed) {
      for (const { caller, times } of all) {
        await setTimes(trx, caller, [...times, now]);
      }
    }
    return allowance;
  });
  const job = createJob(deps, {
    name: "rate-limits", everyMs: FORGET_EVERY_MS, who: "one replica", failure: "old request counts could not be deleted",
    run: () => forgetTimes(db, clock.now() - MINUTE_MS),
  });

  return {
    async take(caller, tier, shared) {
      let cancel = () => {};
      const late = new Promise<never>((_, reject) => {
        cancel = clock.after(ANSWER_WITHIN_MS, () => reject(new Error("the database does not answer")));
      });
      try {
        const allowance = await Promise.race([count({ caller, tier }, shared), late]);
        isAway = false;
        return allowance;
      } catch (error) {
        if (!isAway) log.warn({ reason: describeError(error) }, "requests cannot be counted across collectors");
        isAway = true;
        return alone.take(caller, tier, shared);
      } finally {
        cancel();
      }
    },
    job,
  };
}
