/** The names of harmful lists that the collector gave this site, as they lie in the probe's data directory. */
import { join } from "node:path";
import { describeError, type Log } from "@lanthorn/runtime";
import { BLOCK_LISTS } from "../../bundles/names.ts";
import { REPORTED_CATEGORIES } from "../../dns-lists/category.ts";
import { createSiteLists, type SiteContent } from "../../dns-lists/reading/site-lists.ts";

/** A million take some 40 MB, and twice as much while they are read: the process must stay within its memory. */
const MAX_RULES = 1_000_000;

/** Reads them again when they are others. */
export interface ListedNames {
  /** Another version may be installed. */
  load(): void;
  close(): Promise<void>;
}

/** @param deps.onRead Takes what is there now. Where it cannot be read, what was there stays. */
export function createListedNames({ dataDir, onRead, log }: {
  readonly dataDir: string; readonly onRead: (content: SiteContent | null) => void; readonly log: Pick<Log, "info" | "error">;
}): ListedNames {
  const lists = createSiteLists({ directory: join(dataDir, BLOCK_LISTS), pointer: "versions", categories: REPORTED_CATEGORIES, maxRules: MAX_RULES }, log);
  let running: Promise<void> | null = null;
  let isAgain = false;
  let isClosed = false;
  const read = async () => {
    try {
      const found = await lists.read();
      if (found !== undefined && !isClosed) onRead(found);
    } catch (error) {
      if (!isClosed) log.error({ reason: describeError(error) }, "names of harmful lists could not be read; those before stay");
    }
    running = null;
    if (isAgain) load();
  };
  function load(): void {
    isAgain = running !== null;
    if (!isClosed && !running) running = read();
  }
  return {
    load,
    async close() {
      isClosed = true;
      await lists.close();
      await running;
    },
  };
}
