/** In which country hosts outside are registered, by the table that the collector published. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CountryTable, openCountryTable, TABLE_FILE } from "@lanthorn/anomaly";
import { parseIp } from "@lanthorn/packets";
import { describeError, type Log, nextTurn } from "@lanthorn/runtime";
import type { BundleFiles } from "../../bundles/manifest.ts";
import { COUNTRIES } from "../../bundles/names.ts";
import { openBundleStore } from "../../bundles/store.ts";
import { ProbeError } from "../../errors.ts";

/** The table that is there now. */
export interface Countries {
  /** @param ip As text. @returns Two letters; "" where it is not known. */
  countryOf(ip: string): string;
  /** Ranges of the table; 0 where there is none. */
  ranges(): number;
  /** Another version may be installed. What cannot be read leaves the one before. Does not reject. */
  load(): Promise<void>;
  close(): Promise<void>;
}

/** @throws ProbeError `bundle-refused` for files that are no table. */
export async function checkCountries(files: BundleFiles): Promise<void> {
  const bytes = files.get(TABLE_FILE);
  if (!bytes || !await openCountryTable(bytes, nextTurn)) throw new ProbeError("bundle-refused", `${TABLE_FILE} is no table of countries of this version`);
}

/** Nothing is known before `load`. */
export function createCountries({ dataDir, log }: { readonly dataDir: string; readonly log: Pick<Log, "info" | "error"> }): Countries {
  let table: CountryTable | null = null;
  let loading: Promise<void> = Promise.resolve();
  const load = async () => {
    try {
      const folder = await openBundleStore(dataDir, COUNTRIES).findWholeFolder();
      const read = folder === null ? null : await openCountryTable(await readFile(join(folder, TABLE_FILE)), nextTurn);
      if (folder !== null && read === null) log.error({ folder }, "the table of countries cannot be read; the one before stays");
      else table = read;
      if (read) log.info({ ranges: read.ranges }, "read countries of addresses");
    } catch (error) {
      log.error({ reason: describeError(error) }, "the table of countries cannot be read; the one before stays");
    }
  };
  return {
    countryOf(ip) {
      const bytes = table && parseIp(ip);
      return table && bytes ? table.countryOf(bytes) : "";
    },
    ranges: () => table?.ranges ?? 0,
    load() {
      loading = loading.then(load);
      return loading;
    },
    close: () => loading,
  };
}
