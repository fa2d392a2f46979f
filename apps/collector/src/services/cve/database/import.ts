import { statSync } from "node:fs";
import { CollectorError } from "../../../errors.ts";
import { createFactWriter } from "./fact-writer.ts";
import { readFeedFile } from "./feeds/feed-file.ts";
import type { FeedSinks } from "./feeds/feed-entries.ts";
import { createFeedTally } from "./feeds/feed-tally.ts";
import { currentFile, installNext, lockDatabases, removeNext, scratchFile } from "./files.ts";
import { beginGeneration, type GenerationCounts, type NextGeneration } from "./generation.ts";
import type { CveFeed, CveImport, CveImportProgress, CveImportResult, FeedOutcome } from "./import-types.ts";
import { createRecordWriter } from "./record-writer.ts";

/** Between two lines of progress: some tenths of a second. */
const RECORDS_A_LINE = 2000;
/** Records are withdrawn one by one: a feed that withdraws more of them at once lies. In percent of what was there. */
const MAX_DROP_PERCENT = 5;
/** Below this, some records are a large share. */
const MIN_COMPARED = 1000;

/**
 * Builds the next generation of the CVE database out of the last one and what feeds say, and puts it in its place. A feed that is broken is
 * left out as a whole, and the others are taken. When anything else goes wrong, the last generation goes on answering.
 * @param report Called at each stage and every 2000 records.
 * @throws CollectorError `cve-import-failed` where another import runs or the disk is full.
 */
export async function importFeeds(input: CveImport, report: (progress: CveImportProgress) => void): Promise<CveImportResult> {
  const { directory } = input;
  const release = lockDatabases(directory);
  if (release === null) throw new CollectorError("cve-import-failed", "another import is running: wait until it has ended");
  try {
    const broken = new Map<string, FeedOutcome>();
    for (;;) {
      removeNext(directory);
      const result = await build(input, broken, report);
      // What it had written before it broke is in the file, so another one is built without it.
      if (result !== null) return result;
    }
  } catch (error) {
    removeNext(directory);
    throw error instanceof CollectorError ? error : new CollectorError("cve-import-failed", "the CVE database could not be built", { cause: error });
  } finally {
    release();
  }
}

/** @returns Null where a feed broke in the middle: it is in `broken` then. */
async function build(
  input: CveImport, broken: Map<string, FeedOutcome>, report: (progress: CveImportProgress) => void,
): Promise<CveImportResult | null> {
  const feeds = input.feeds.filter(({ name }) => !broken.has(name));
  const outcomesOf = (outcomes: readonly FeedOutcome[]) => input.feeds.flatMap(({ name }) =>
    broken.get(name) ?? outcomes.find((outcome) => outcome.name === name) ?? []);
  if (feeds.length === 0) {
    return { state: "refused", error: "none of the feeds could be used", feeds: outcomesOf([]), generation: 0, isFresh: false, before: null, after: null, bytes: 0 };
  }
  const next = beginGeneration(input.directory);
  try {
    const outcomes: FeedOutcome[] = [];
    const records = createRecordWriter(next.db, { generation: next.number, now: input.now, isFresh: next.isFresh });
    const facts = createFactWriter(next.db);
    for (const feed of feeds) {
      const outcome = await takeFeed(feed, { records, facts, report, scratch: scratchFile(input.directory), acceptsDrop: input.acceptsDrop });
      if (outcome.error !== null) {
        broken.set(feed.name, outcome);
        return null;
      }
      outcomes.push(outcome);
      noteFeed(next, outcome, input.now);
    }
    report({ stage: "finishing", feed: "", records: 0, octets: 0, octetsTotal: 0 });
    const after = next.finish(input.now, { acceptsDrop: input.acceptsDrop });
    next.close();
    const drop = input.acceptsDrop ? null : dropOf(next.last, after);
    const common = { feeds: outcomesOf(outcomes), isFresh: next.isFresh, before: next.last, after };
    if (drop !== null) {
      removeNext(input.directory);
      return { ...common, state: "refused", error: drop, generation: next.number - 1, bytes: 0 };
    }
    installNext(input.directory);
    return { ...common, state: "imported", error: null, generation: next.number, bytes: statSync(currentFile(input.directory)).size };
  } finally {
    next.close();
  }
}

async function takeFeed(feed: CveFeed, { report, scratch, acceptsDrop, ...sinks }: Omit<FeedSinks, "tally"> & {
  readonly report: (progress: CveImportProgress) => void; readonly scratch: string; readonly acceptsDrop: boolean;
}): Promise<FeedOutcome> {
  const { name } = feed;
  let kind: string | null = null;
  const octetsTotal = feed.files.reduce((sum, { path }) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  let [octets, unpacked] = [0, 0];
  const tally = createFeedTally((records) => {
    if (records % RECORDS_A_LINE === 0) report({ stage: "reading", feed: name, records, octets, octetsTotal });
  });
  report({ stage: "reading", feed: name, records: 0, octets, octetsTotal });
  const onKind = (found: string) => {
    kind = found;
  };
  for (const file of feed.files) {
    const before = octets;
    const read = await readFeedFile(file.path, {
      feed, sinks: { ...sinks, tally }, onKind, scratch,
      onOctets(done) {
        octets = before + done;
      },
    });
    octets = before + read.octets;
    unpacked += read.unpacked;
    if (read.error !== null) return { name, kind, octets, unpacked, ...tally.counts(), error: `${file.name}: ${read.error}` };
  }
  const { records } = tally.counts();
  report({ stage: "reading", feed: name, records, octets, octetsTotal });
  return { name, kind, octets, unpacked, ...tally.counts(), error: tally.doubt() ?? (acceptsDrop ? null : tally.doubtOfLost()) };
}

function noteFeed({ db }: NextGeneration, { name, kind, octets, records, refused }: FeedOutcome, now: number): void {
  db.prepare("insert or replace into feeds (kind, name, imported_at, octets, records, refused) values (?, ?, ?, ?, ?, ?)")
    .run(kind, name, now, octets, records, refused);
}

/** What has become so much less that the feeds lie; null where nothing has. */
function dropOf(before: GenerationCounts | null, after: GenerationCounts): string | null {
  if (before === null || before.cves < MIN_COMPARED) return null;
  if (after.cves < before.cves * (1 - MAX_DROP_PERCENT / 100)) return `there would be ${after.cves} CVEs, where there were ${before.cves}`;
  const [had, has] = [before, after].map(({ cves, configured }) => configured / cves * 100) as [number, number];
  if (has >= had - MAX_DROP_PERCENT) return null;
  return `${Math.round(has)} % of the CVEs would say what they affect, where ${Math.round(had)} % did`;
}
