import { createHash } from "node:crypto";
import { TABLE_FILE } from "@lanthorn/anomaly";
import { type Clock, type Log, startThread } from "@lanthorn/runtime";
import { FileRefused } from "../../../sources/file-refused.ts";
import { createTaskThread } from "../../../sources/task-thread.ts";
import type { CountriesOrder, ReadCountries } from "./read-countries.ts";

/** A feed as the manager of feeds hands it over. */
interface FetchedCountries extends CountriesOrder {
  readonly name: string;
}

/** What is published: its file by name. @returns False where the newest version has the same. */
export type PublishCountries = (files: ReadonlyMap<string, Buffer>, sha256: string) => Promise<boolean>;

/** Makes a table of countries of what was fetched, for the probes. @returns Feeds that could not be used, as `ConsumeFeeds`. */
export interface CountriesTaker {
  readonly take: (feeds: readonly FetchedCountries[]) => Promise<readonly { readonly name: string; readonly error: string }[]>;
  readonly close: () => Promise<void>;
}

const MAX_HEAP_MB = 512;

/** Starts its thread when there is work for it. */
export function createCountriesTaker({ clock, log, publish }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "info" | "error">; readonly publish: PublishCountries;
}): CountriesTaker {
  const thread = createTaskThread({
    clock, log, what: "countries of addresses", codes: { busy: "countries-busy", failed: "countries-failed" },
    start: () => startThread("countries-worker", import.meta.url, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } }),
  });
  return {
    async take(feeds) {
      const unused: { name: string; error: string }[] = [];
      for (const { name, files } of feeds) {
        try {
          const { bytes, ranges, registries } = await thread.run(() => Promise.resolve({ order: { files } })) as ReadCountries;
          const isNew = await publish(new Map([[TABLE_FILE, Buffer.from(bytes)]]), createHash("sha256").update(bytes).digest("hex"));
          if (isNew) log.info({ ranges, registries: registries.map(({ registry, day }) => `${registry} ${day}`) }, "published countries of addresses to probes");
        } catch (error) {
          if (!(error instanceof FileRefused)) throw error;
          unused.push({ name, error: error.message });
        }
      }
      return unused;
    },
    close: thread.close,
  };
}
