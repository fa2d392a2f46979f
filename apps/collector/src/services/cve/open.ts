import type { Clock, Log } from "@lanthorn/runtime";
import { inProcess } from "../../jobs/process.ts";
import type { ServiceModule } from "../../service-module.ts";
import { clearLeftovers, cveDirectory } from "./database/files.ts";
import { cveImportTask } from "./database/import-task.ts";
import { type CveReader, openCveReader } from "./database/reader.ts";
import { createSearchThread } from "./database/search/search-thread.ts";
import { cveRoutes } from "./routes.ts";
import { createCveService } from "./service.ts";
import { createTakeFeeds, type TakeFeeds } from "./take-feeds.ts";

/** CVEs: the database, and what fills it. */
export interface Cve extends ServiceModule {
  readonly reader: CveReader;
  readonly takeFeeds: TakeFeeds;
  /** What is in the database; null while there is none. */
  readonly loaded: () => { readonly entries: number; readonly builtAt: string } | null;
}

/** Opens the CVE database. It may not be there yet: then nothing is found in it. @param deps.program How this program is run once more. */
export function openCve({ data_dir: dataDir }: { readonly data_dir: string }, { clock, log, program }: {
  readonly clock: Clock; readonly log: Log; readonly program: readonly [string, ...string[]];
}): Cve {
  const directory = cveDirectory(dataDir);
  clearLeftovers(directory);
  const reader = openCveReader(directory, { log });
  const searches = createSearchThread(directory, { clock, log });
  return {
    name: "cve", mount: "gateway", routes: [cveRoutes(createCveService({ reader, searches }))], reader,
    takeFeeds: createTakeFeeds({ directory, clock, runImport: inProcess(program, cveImportTask) }),
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
