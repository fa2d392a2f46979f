import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createJob } from "../../jobs/job.ts";
import { inProcess } from "../../jobs/process.ts";
import type { ServiceModule } from "../../service-module.ts";
import { type AffectedService, createAffectedService } from "./affected/service.ts";
import { createAffectedStore } from "./affected/store/affected.ts";
import { clearLeftovers, cveDirectory } from "./database/files.ts";
import { cveImportTask } from "./database/import-task.ts";
import { type CveReader, openCveReader } from "./database/reader.ts";
import { createSearchThread } from "./database/search/search-thread.ts";
import { createMatcher } from "./matching/matcher.ts";
import { suppressionChanged } from "./matching/reporting/report-store.ts";
import { cveRoutes } from "./routes.ts";
import { createCveService } from "./service.ts";
import { createDatabaseShare } from "./sharing/share-database.ts";
import { createSuppressionsService } from "./suppressions/service.ts";
import { createSuppressionsStore } from "./suppressions/store.ts";
import { createTakeFeeds, type TakeFeeds } from "./take-feeds.ts";

/** CVEs: the database, and what fills it. */
export interface Cve extends ServiceModule {
  readonly reader: CveReader;
  readonly takeFeeds: TakeFeeds;
  /** Software may have changed: it is matched at once, where this replica matches. */
  readonly softwareChanged: () => void;
  /** CVEs of a tenant's device. */
  readonly cvesOf: AffectedService["cvesOf"];
  /** Devices of a tenant with a CVE of some severities. */
  readonly devicesWith: AffectedService["devicesWith"];
  /** What is in the database; null while there is none. */
  readonly loaded: () => { readonly entries: number; readonly builtAt: string; readonly configured: number; readonly mostConfigured: number } | null;
  /** Takes the other collectors' database where it is newer. Where there are none, nothing happens. */
  readonly refresh: () => Promise<void>;
}

const SHARE_EVERY_MS = 30_000;
/** Matches that are resolved are kept so long. */
const KEEP_DAYS = 90;

/**
 * Opens the CVE database. It may not be there yet: then nothing is found in it.
 * @param deps.program How this program is run once more.
 * @param deps.lease Whether this replica matches; null where it is the only one.
 * @param deps.shared The folder by which all collectors have the same database; null where there is only this one, or none was configured.
 */
export function openCve({ data_dir: dataDir }: { readonly data_dir: string }, deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit; readonly clock: Clock; readonly logger: Log; readonly program: readonly [string, ...string[]]; readonly lease: { isHeld(): boolean } | null;
  readonly shared: string | null;
}): Cve {
  const { db, reads, audit, clock, logger, program, shared } = deps;
  const directory = cveDirectory(dataDir);
  clearLeftovers(directory);
  const reader = openCveReader(directory, { log: logger });
  const searches = createSearchThread(directory, { clock, log: logger });
  const share = shared === null ? null : createDatabaseShare({ directory, shared, log: logger, builtAt: () => reader.facts()?.builtAt ?? null });
  const refresh = async () => share?.sync();
  const takeFeeds = createTakeFeeds({ directory, clock, runImport: inProcess(program, cveImportTask) });
  const job = createJob({ clock, log: logger }, {
    name: "cve-database", everyMs: SHARE_EVERY_MS, who: "each replica", failure: "the CVE database could not be shared with the other collectors, trying again in half a minute",
    run: refresh,
  });
  const matcher = createMatcher({ ...deps, reader, directory }, { keepDays: KEEP_DAYS });
  const loaded = () => {
    const facts = reader.facts();
    return facts === null ? null : { entries: facts.cves, builtAt: facts.builtAt, configured: facts.configured, mostConfigured: facts.mostConfigured };
  };
  const affected = createAffectedService({ store: createAffectedStore({ reads }), clock, loaded });
  const suppressions = createSuppressionsService({ store: createSuppressionsStore({ db, reads }), audit, clock, onChanged: suppressionChanged });
  return {
    name: "cve", mount: "gateway", routes: [cveRoutes({ cves: createCveService({ reader, searches, affected }), affected, suppressions })], reader, refresh,
    jobs: [...matcher.jobs, ...(share === null ? [] : [job])], retention: matcher.retention, softwareChanged: matcher.changed,
    // What is new is written upon the newest, whoever has built that. The others get it from the job.
    async takeFeeds(feeds, options) {
      await refresh();
      const unused = await takeFeeds(feeds, options);
      await job.runSoon();
      return unused;
    },
    cvesOf: affected.cvesOf, devicesWith: affected.devicesWith,
    loaded,
    async close() {
      await matcher.close();
      await searches.close();
      reader.close();
    },
  };
}
