import { CollectorError } from "../../errors.ts";
import type { CveImport, CveImportProgress, CveImportResult, FeedFormat } from "./database/import-types.ts";

/** Does an import, as `inProcess` does. */
type Import = (input: CveImport, stopped: AbortSignal, onProgress: (progress: CveImportProgress) => void) => Promise<CveImportResult>;

/** A feed that was fetched: what of it the import needs. */
export interface TakenFeed {
  readonly name: string;
  readonly format: FeedFormat;
  readonly isWhole: boolean;
  readonly files: readonly { readonly name: string; readonly path: string }[];
}

/** Takes feeds into the CVE database. */
export type TakeFeeds = (feeds: readonly TakenFeed[], options: {
  readonly onProgress: (progress: { readonly feed: string; readonly records: number; readonly recordsTotal: number | null }) => void;
  readonly stopped: AbortSignal;
}) => Promise<readonly { readonly name: string; readonly error: string }[]>;

/**
 * @param deps.directory The folder of the CVE database.
 * @returns What imports feeds and names those that could not be used: broken ones. It rejects where nothing was wrong with them and nothing was
 * taken, as on a full disk, or where together they would lose much of the database.
 */
export function createTakeFeeds({ directory, clock, runImport }: {
  readonly directory: string; readonly clock: { now(): number }; readonly runImport: Import;
}): TakeFeeds {
  return async (feeds, { onProgress, stopped }) => {
    const input: CveImport = {
      directory, now: clock.now(), acceptsDrop: false,
      feeds: feeds.map(({ name, format, isWhole, files }) => ({ name, format, isWhole, files: files.map((file) => ({ name: file.name, path: file.path })) })),
    };
    const result = await runImport(input, stopped, ({ stage, feed, records }) => {
      if (stage === "reading") onProgress({ feed, records, recordsTotal: null });
    });
    const unused = result.feeds.flatMap(({ name, error }) => (error === null ? [] : [{ name, error }]));
    if (result.state === "refused" && unused.length < feeds.length) {
      throw new CollectorError("cve-import-failed", `the CVE database stays as it is: ${result.error ?? "the feeds were refused"}`);
    }
    return unused;
  };
}
