import { rm } from "node:fs/promises";
import { join } from "node:path";
import { toInstant } from "@lanthorn/runtime";
import * as z from "zod";
import { checkFile, type Counts, judgeCounts } from "../checking/check.ts";
import type { FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";
import { type Fetched, type FetchContext, inTurn } from "./context.ts";
import { download } from "./download.ts";

const DAY_MS = 86_400_000;
/** NVD refuses longer ones. https://nvd.nist.gov/developers/vulnerabilities */
const MAX_WINDOW_MS = 120 * DAY_MS;
/** What was modified while the last window was read may carry a moment before its end. */
const OVERLAP_MS = 600_000;
const PAGE_RECORDS = 2000;
/** A window that says it is larger says it wrongly: all of NVD is 350,000 CVEs. */
const MAX_TOTAL = 5_000_000;

/** Where the reading is. `from` null stands for all that there is. */
const Cursor = z.object({
  /** Everything that was modified before it is here. */
  modifiedUntil: z.number().nullable(),
  window: z.object({
    from: z.number().nullable(), until: z.number(), next: z.int().min(0), total: z.int().min(0).nullable(), records: z.int().min(0),
    configured: z.int().min(0),
  }).nullable(),
  page: z.int().min(0),
});
type Cursor = z.infer<typeof Cursor>;
type Window = NonNullable<Cursor["window"]>;

/**
 * Reads NVD's API: all pages once, then windows of what was modified since. Each page is a file, and where the reading is stands in
 * the database after each, so a process that dies goes on with the page after. Pages are handed over when all windows are read.
 * @throws FeedFailure
 * @see https://nvd.nist.gov/developers/vulnerabilities
 */
export async function fetchNvd(context: FetchContext, url: string): Promise<Fetched> {
  const { memory, clock } = context;
  const begun = Cursor.safeParse(memory.cursor);
  let cursor: Cursor = begun.success ? begun.data : { modifiedUntil: null, window: null, page: 0 };
  // Pages that were handed over and imported are not needed any more.
  let files: readonly FeedFile[] = memory.isPending || cursor.window !== null ? memory.files : await forget(memory.files);
  let isWhole = files.length > 0 ? memory.isWhole : cursor.modifiedUntil === null;
  let { counts } = memory;
  const started = clock.now();
  while (cursor.window !== null || cursor.modifiedUntil === null || started - cursor.modifiedUntil > OVERLAP_MS) {
    if (cursor.window === null) {
      const window = nextWindow(cursor.modifiedUntil, clock.now());
      if (window.from === null) [files, isWhole] = [await forget(files), true];
      cursor = { ...cursor, window };
    }
    const read = await readPage(context, url, cursor);
    files = read.file === null ? files : [...files, read.file];
    cursor = read.cursor;
    if (read.ended?.from === null) {
      counts = { records: read.ended.records, configuredShare: read.ended.configured / Math.max(1, read.ended.records) };
      await judge(context, counts, files);
    }
    await context.keep({ cursor, files, isWhole });
  }
  return { validators: {}, cursor, files, isWhole, counts, isChanged: files.length > 0 };
}

/** Pages that are no good feed together are read anew at the next turn. @throws FeedFailure */
async function judge({ feed, memory, keep }: FetchContext, counts: Counts, files: readonly FeedFile[]): Promise<void> {
  try {
    judgeCounts(feed, counts, memory.counts);
  } catch (error) {
    await keep({ cursor: null, files: await forget(files), isWhole: false, isPending: false });
    throw error;
  }
}

function nextWindow(modifiedUntil: number | null, now: number): Window {
  const counted = { next: 0, total: null, records: 0, configured: 0 };
  if (modifiedUntil === null) return { from: null, until: now, ...counted };
  const from = modifiedUntil - OVERLAP_MS;
  return { from, until: Math.min(now, from + MAX_WINDOW_MS), ...counted };
}

async function readPage(context: FetchContext, base: string, { window, ...cursor }: Cursor): Promise<{
  readonly cursor: Cursor; readonly file: FeedFile | null; readonly ended: Window | null;
}> {
  if (window === null) throw new Error("there is no window");
  const { feed, folder, apiKey, stop } = context;
  const name = `page-${String(cursor.page).padStart(6, "0")}.json`;
  const { file, head, records, configured } = await inTurn(context, async () => {
    const got = await download(context, {
      url: pageUrl(base, window), name, path: join(folder, name), maxBytes: feed.maxBytes, validators: {}, isPackable: true, stop,
      ...(apiKey !== null && { secrets: { apiKey } }), onBytes: (bytes) => context.onProgress({ bytes }),
    });
    if (got === null) throw new FeedFailure("malformed", "its server says that nothing is new before it has sent anything");
    const scan = await checkFile(got.file, feed);
    return { file: got.file, head: scan?.head ?? "", records: scan?.records ?? 0, configured: scan?.configured ?? 0 };
  });
  const page = parseHead(head);
  const expected = page === null ? -1 : Math.min(PAGE_RECORDS, Math.max(0, page.total - window.next));
  // A page that holds another number of records than it says is no page; one record more or less would be lost for good.
  const isFull = page !== null && (records === page.results || records === expected) && records >= Math.min(expected, 1);
  if (page === null || !isFull || page.start !== window.next || page.total > MAX_TOTAL) {
    await rm(file.path, { force: true });
    throw new FeedFailure("malformed", `page ${cursor.page} does not hold what it says`);
  }
  const read = { ...window, next: window.next + records, total: page.total, records: window.records + records, configured: window.configured + configured };
  context.onProgress({ pages: cursor.page + 1, records: read.records, recordsTotal: page.total });
  const hasEnded = read.next >= page.total;
  if (records === 0) await rm(file.path, { force: true });
  return {
    file: records === 0 ? null : file, ended: hasEnded ? read : null,
    cursor: { page: cursor.page + 1, modifiedUntil: hasEnded ? window.until : cursor.modifiedUntil, window: hasEnded ? null : read },
  };
}

function pageUrl(base: string, { from, until, next }: Window): string {
  const url = new URL(base);
  url.searchParams.set("resultsPerPage", String(PAGE_RECORDS));
  url.searchParams.set("startIndex", String(next));
  if (from !== null) {
    url.searchParams.set("lastModStartDate", toInstant(from));
    url.searchParams.set("lastModEndDate", toInstant(until));
  }
  return url.href;
}

/** The fields that stand before the records. */
function parseHead(head: string): { readonly results: number; readonly start: number; readonly total: number } | null {
  const numberOf = (name: string) => Number(new RegExp(`"${name}"\\s{0,8}:\\s{0,8}(\\d{1,9})`).exec(head)?.[1] ?? Number.NaN);
  const found = { results: numberOf("resultsPerPage"), start: numberOf("startIndex"), total: numberOf("totalResults") };
  return Object.values(found).every((value) => Number.isSafeInteger(value)) ? found : null;
}

async function forget(files: readonly FeedFile[]): Promise<readonly FeedFile[]> {
  for (const { path } of files) await rm(path, { force: true });
  return [];
}
