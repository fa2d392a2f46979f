import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { EventLog } from "../../../events/log.ts";
import { createJob, createRetentionJob, type Job } from "../../../jobs/job.ts";
import type { CveReader } from "../database/reader.ts";
import { createAllowance } from "./allowance.ts";
import { forgetMatches } from "./store/forgetting.ts";
import { createJudging } from "./judging.ts";
import { matchAgain, noteDevices } from "./rematch.ts";
import { createReporter } from "./reporting/reporter.ts";
import { takeChanges } from "./take-changes.ts";
import type { CveVersion } from "./thread/match-tasks.ts";
import { createMatchThread } from "./thread/match-thread.ts";
import { createTurns } from "./turns.ts";

/** What matching needs of the rest of the collector. */
export interface MatcherDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Clock;
  readonly logger: Log;
  /** Of the CVE database. */
  readonly reader: Pick<CveReader, "facts">;
  /** The folder of the CVE database. */
  readonly directory: string;
  /** Whether this replica matches; null where it is the only one. */
  readonly lease: { isHeld(): boolean } | null;
}

/** Keeps matches at what runs where, and at what the CVE database says. */
export interface Matcher {
  readonly jobs: readonly Job[];
  readonly retention: readonly Job<number>[];
  /** Software may have changed: matches soon, where this replica does. */
  changed(): void;
  close(): Promise<void>;
}

/** Changes that this replica has written are taken at once; those of others, within this time. */
const RUN_EVERY_MS = 1000;
/** What comes together is matched together. */
const SETTLE_MS = 1;
/** Reporting waits for matching, and goes on by a few reports where that takes longer. */
const MAX_REST_MS = 1000;
const FORGET_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** @param options.keepDays How long matches that are resolved are kept. */
export function createMatcher(deps: MatcherDependencies, options: { readonly keepDays: number }): Matcher {
  const { db, reads, clock, logger, reader, directory, lease } = deps;
  const thread = createMatchThread(directory, { clock, log: logger });
  const known = new Set<string>();
  const judging = createJudging({ db, reads, thread, clock, log: logger, known });
  let isWoken = false;
  const take = {
    db, reads, clock, judging, allowance: createAllowance(clock),
    isWoken() {
      const was = isWoken;
      isWoken = false;
      return was;
    },
  };
  /** One at a time: nothing is forgotten while it is judged. */
  const turns = createTurns(clock);
  const reporter = createReporter({ ...deps, matched: () => turns.rest(MAX_REST_MS) });
  const failed = (error: unknown) => logger.error({ reason: describeError(error) }, "the software of some devices could not be matched, trying again in some seconds");
  let matched: CveVersion | null = null;

  const run = async (stopped: AbortSignal) => {
    const facts = reader.facts();
    if (facts === null) return;
    const between = async () => {
      if (!stopped.aborted) await takeChanges(take, { stopped, failed });
    };
    await between();
    const { lineage, generation } = facts;
    // A start looks at all, as the last one may have been killed in the middle.
    if (matched?.lineage !== lineage || matched.generation !== generation) {
      await matchAgain({ db, reads, clock, thread, judging, between }, { lineage, generation }, stopped);
      if (!stopped.aborted) matched = { lineage, generation };
    }
    await noteDevices({ db, reads }, stopped);
  };
  const job = createJob({ clock, log: logger }, {
    name: "cve-matching", everyMs: RUN_EVERY_MS, who: "one replica", failure: "CVEs could not be matched, trying again",
    async run(stopped) {
      await turns.take(() => run(stopped));
      void reporting.runSoon();
    },
  });
  const reporting: Job = createJob({ clock, log: logger }, {
    name: "cve-reporting", everyMs: RUN_EVERY_MS, who: "one replica", failure: "matches of CVEs could not be reported, trying again", run: (stopped) => reporter.run(stopped),
  });
  const forget = createRetentionJob({ clock, log: logger }, {
    name: "cve-retention", everyMs: FORGET_EVERY_MS, who: "one replica", what: "old CVE matches",
    run: (stopped) => turns.take(async () => {
      known.clear();
      return forgetMatches(db, toInstant(clock.now() - options.keepDays * DAY_MS), stopped);
    }),
  });
  let isSettling = false;
  let cancel = () => {};
  return {
    jobs: [job, reporting], retention: [forget],
    changed() {
      isWoken = true;
      if (isSettling || lease?.isHeld() === false) return;
      isSettling = true;
      cancel = clock.after(SETTLE_MS, () => {
        isSettling = false;
        void job.runSoon();
      });
    },
    async close() {
      cancel();
      await thread.close();
    },
  };
}
