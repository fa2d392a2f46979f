import type { FeedDefinition, FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";
import { scanFile, type Scan } from "./scan.ts";
import { readZipDirectory } from "./zip.ts";

/** Records of a feed, counted; null where they were not, as in what only xz unpacks. */
export interface Counts {
  readonly records: number | null;
  /** The share of records that say where they apply, 0 to 1. */
  readonly configuredShare: number | null;
}

/** Looks through a file of any packing. @returns Null for xz, which only its reader unpacks. @throws FeedFailure */
export async function checkFile(file: FeedFile, feed: FeedDefinition): Promise<Pick<Scan, "records" | "configured"> & Partial<Scan> | null> {
  if (file.packing === "xz") return null;
  if (file.packing === "zip") return { records: (await readZipDirectory(file, feed)).records, configured: null };
  return scanFile(file, feed);
}

/** Adds up what was counted in the files of a feed. */
export function sumCounts(scans: readonly (Pick<Scan, "records" | "configured"> | null)[]): Counts {
  const counted = scans.filter((scan) => scan !== null);
  if (counted.length < scans.length) return { records: null, configuredShare: null };
  const records = counted.reduce((sum, scan) => sum + scan.records, 0);
  const configured = counted.reduce((sum, scan) => sum + (scan.configured ?? 0), 0);
  return { records, configuredShare: records > 0 && counted.some((scan) => scan.configured !== null) ? configured / records : null };
}

/**
 * Whether a whole feed may take the place of the last good one.
 * @param before Of the last good one; null values where there is none.
 * @throws FeedFailure `too-few`, `shrunken`, `fewer-configurations`.
 */
export function judgeCounts(feed: FeedDefinition, counts: Counts, before: Counts): void {
  const { records, configuredShare: share } = counts;
  if (records === null) return;
  if (records < feed.minRecords) throw new FeedFailure("too-few", `it has ${records} records, and at least ${feed.minRecords} are expected`);
  if (before.records !== null && records < before.records * (1 - feed.maxDropPercent / 100)) {
    throw new FeedFailure("shrunken", `it has ${records} records where the last good one had ${before.records}`);
  }
  if (feed.maxShareDropPercent === null || share === null || before.configuredShare === null) return;
  if (share < before.configuredShare - feed.maxShareDropPercent / 100) {
    throw new FeedFailure(
      "fewer-configurations",
      `${percent(share)} of its records say where they apply, and ${percent(before.configuredShare)} of the last good one did`,
    );
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
