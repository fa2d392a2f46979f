import type { Clock, Log } from "@lanthorn/runtime";
import { createJob } from "../../jobs/job.ts";
import { inProcess } from "../../jobs/process.ts";
import type { ServiceModule } from "../../service-module.ts";
import { clearLeftovers, cveDirectory } from "./database/files.ts";
import { cveImportTask } from "./database/import-task.ts";
import { type CveReader, openCveReader } from "./database/reader.ts";
import { createSearchThread } from "./database/search/search-thread.ts";
import { cveRoutes } from "./routes.ts";
import { createCveService } from "./service.ts";
import { createDatabaseShare } from "./sharing/share-database.ts";
import { createTakeFeeds, type TakeFeeds } from "./take-feeds.ts";

/** CVEs: the database, and what fills it. */
export interface Cve extends ServiceModule {
  readonly reader: CveReader;
  readonly takeFeeds: TakeFeeds;
  /** What is in the database; null while there is none. */
  readonly loaded: () => { readonly entries: number; readonly builtAt: string } | null;
  /** Takes the other collectors' database where it is newer. Where there are none, nothing happens. */
  readonly refresh: () => Promise<void>;
}

const SHARE_EVERY_MS = 30_000;

/**
 * Opens the CVE database. It may not be there yet: then nothing is found in it.
 * @param deps.program How this program is run once more.
 * @param deps.shared The folder by which all collectors have the same database; null where there is only this one, or none was configured.
 */
export function openCve({ data_dir: dataDir }: { readonly data_dir: string }, { clock, log, program, shared }: {
  readonly clock: Clock; readonly log: Log; readonly program: readonly [string, ...string[]]; readonly shared: string | null;
}): Cve {
  const directory = cveDirectory(dataDir);
  clearLeftovers(directory);
  const reader = openCveReader(directory, { log });
  const searches = createSearchThread(directory, { clock, log });
  const share = shared === null ? null : createDatabaseShare({ directory, shared, log, builtAt: () => reader.facts()?.builtAt ?? null });
  const refresh = async () => share?.sync();
  const takeFeeds = createTakeFeeds({ directory, clock, runImport: inProcess(program, cveImportTask) });
  const job = createJob({ clock, log }, {
    name: "cve-database", everyMs: SHARE_EVERY_MS, who: "each replica", failure: "the CVE database could not be shared with the other collectors, trying again in half a minute",
    run: refresh,
  });
  return {
    name: "cve", mount: "gateway", routes: [cveRoutes(createCveService({ reader, searches }))], reader, refresh,
    ...(share !== null && { jobs: [job] }),
    // What is new is written upon the newest, whoever has built that. The others get it from the job.
    async takeFeeds(feeds, options) {
      await refresh();
      const unused = await takeFeeds(feeds, options);
      await job.runSoon();
      return unused;
    },
    loaded() {
      const facts = reader.facts();
      return facts === null ? null : { entries: facts.cves, builtAt: facts.builtAt };
    },
    async close() {
      await searches.close();
      reader.close();
    },
  };
}
