import type { EventData } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../../events/log.ts";
import type { ConsumeFeeds, FeedSubject, LoadedData } from "../definition.ts";
import { toFailure } from "../failure.ts";
import type { ConfiguredFeed } from "../source.ts";
import type { FeedRow, FeedsStore, UpdateRow } from "../store.ts";
import { fetchFeed, type FetchDependencies, IMPORT_FAILED } from "./fetch-feed.ts";
import { memoryOf } from "./memory.ts";
import { createProgress, parseProgress, type Progress } from "./progress.ts";

/** What doing an update needs. */
export interface UpdateDependencies extends FetchDependencies {
  readonly store: FeedsStore;
  readonly clock: Clock;
  readonly logger: Log;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  /** A subject without one has its files kept until there is one. */
  readonly consumers: Readonly<Partial<Record<FeedSubject, ConsumeFeeds>>>;
  /** What the consumer has made of its feeds; null for nothing. */
  readonly loaded: () => LoadedData | null;
}

const BEAT_MS = 5000;
const RETRY_IMPORT_MS = 600_000;

/**
 * Fetches the feeds that an update has, one after the other, and hands what is new to the consumers. It says how far it is every
 * five seconds, in its row and on the stream, and gives up where another process has taken the row over.
 * @returns When it has ended; never rejects. An update that the collector's end has interrupted stays running, for the next process.
 */
export async function runUpdate(
  deps: UpdateDependencies, row: UpdateRow, given: { readonly feeds: readonly ConfiguredFeed[]; readonly stop: AbortSignal },
): Promise<void> {
  const { store, clock, logger } = deps;
  const progress = createProgress(parseProgress(row.progress));
  const lost = new AbortController();
  const stop = AbortSignal.any([given.stop, lost.signal]);
  let beating: Promise<void> = Promise.resolve();
  const beat = async () => {
    const isOurs = await store.beat(row.id, row.holder, { progress: JSON.stringify(progress.feeds()) });
    if (!isOurs) lost.abort();
    const feed = progress.changed();
    if (isOurs && feed !== null) await say(deps, row, eventOf(row, feed));
  };
  const endBeats = clock.every(BEAT_MS, () => {
    beating = beating.then(beat).catch((error: unknown) => logger.warn({ reason: describeError(error) }, "how far an update is could not be written"));
  });
  try {
    await work(deps, given.feeds, progress, stop);
    endBeats();
    await beating;
    if (!lost.signal.aborted) await endUpdate(deps, row, progress);
  } catch (error) {
    if (!stop.aborted) logger.error({ update_id: row.id, reason: describeError(error) }, "an update of feeds was interrupted, going on later");
  } finally {
    endBeats();
    await beating;
    // So that the next process begins no feed again that is done.
    if (given.stop.aborted && !lost.signal.aborted) await beat().catch(() => {});
  }
}

async function work(deps: UpdateDependencies, feeds: readonly ConfiguredFeed[], progress: Progress, stop: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  for (const { name, state } of progress.feeds()) {
    const feed = feeds.find(({ definition }) => definition.name === name);
    const row = (await store.list()).find((one) => one.name === name);
    if (state !== "queued" && state !== "fetching") continue;
    if (feed === undefined || row === undefined) progress.set(name, { state: "failed", error: "it is not configured" });
    else if (row.not_before !== null && Date.parse(row.not_before) > clock.now()) progress.set(name, { state: "waiting" });
    else {
      progress.set(name, { state: "fetching" });
      const outcome = await fetchFeed(deps, feed, row, {
        stop,
        onProgress: ({ bytes, bytesTotal, pages, records, recordsTotal }) => progress.set(name, {
          ...(bytes !== undefined && { bytes }), ...(bytesTotal !== undefined && { bytes_total: bytesTotal }), ...(pages !== undefined && { pages }),
          ...(records !== undefined && { records }), ...(recordsTotal !== undefined && { records_total: recordsTotal }),
        }),
      });
      progress.set(name, { state: outcome.state, error: "error" in outcome ? outcome.error : null });
      const logged = { feed: name, state: outcome.state, ...("error" in outcome && { reason: outcome.error }) };
      if (outcome.state === "failed") deps.logger.warn(logged, "a feed could not be fetched");
      else deps.logger.info(logged, "a feed was fetched");
    }
  }
  const subjects = new Set(feeds.map(({ definition }) => definition.subject));
  for (const subject of subjects) await consume(deps, feeds.filter(({ definition }) => definition.subject === subject), progress, stop);
}

/** Hands over all that waits for its import, also what an earlier update has fetched. */
async function consume(deps: UpdateDependencies, feeds: readonly ConfiguredFeed[], progress: Progress, stop: AbortSignal): Promise<void> {
  const { store, clock, consumers } = deps;
  const [subject] = feeds.map(({ definition }) => definition.subject);
  const consumer = subject && consumers[subject];
  const rows = await store.list();
  const pending = feeds.flatMap((feed): readonly (readonly [ConfiguredFeed, FeedRow])[] => {
    const row = rows.find(({ name }) => name === feed.definition.name);
    return row?.is_pending === 1 && !isReading(row) ? [[feed, row]] : [];
  });
  if (!consumer || pending.length === 0 || stop.aborted) return;
  const setAll = (facts: Parameters<Progress["set"]>[1]) => {
    for (const [{ definition: { name } }] of pending) progress.set(name, facts);
  };
  setAll({ state: "importing" });
  try {
    const unused = await consumer(pending.map(([{ definition: { name, format } }, row]) => {
      const { files, isWhole } = memoryOf(row);
      return { name, format, files, isWhole };
    }), {
      stopped: stop, onProgress: ({ feed, records, recordsTotal }) => progress.set(feed, { records, records_total: recordsTotal }),
    });
    for (const [feed, row] of pending) {
      const error = unused.find(({ name }) => name === row.name)?.error;
      if (error !== undefined) {
        // The same files would be refused again.
        await importFailed({ store, clock, progress }, [feed, row], { error, columns: { is_pending: 0, validators: "{}", cursor: null } });
        deps.logger.error({ feed: row.name, reason: error }, "a feed could not be imported, fetching it again later");
        continue;
      }
      progress.set(row.name, { state: "imported" });
      await store.set(row.name, {
        // Data that were built before do not have it.
        is_pending: 0, consumed_at: (subject === "cve" ? deps.loaded()?.builtAt : undefined) ?? toInstant(clock.now()), ...(row.error_code === IMPORT_FAILED && { failures: 0, error_code: null, error: null }),
      });
    }
  } catch (error) {
    if (stop.aborted) throw error;
    const { message } = toFailure(error);
    deps.logger.error({ reason: describeError(error) }, "what was fetched could not be imported, trying again later");
    for (const one of pending) await importFailed({ store, clock, progress }, one, { error: message, columns: {} });
  }
}

async function importFailed(
  { store, clock, progress }: Pick<UpdateDependencies, "store" | "clock"> & { readonly progress: Progress },
  [{ intervalMs }, { name, failures }]: readonly [ConfiguredFeed, FeedRow], { error, columns }: { readonly error: string; readonly columns: Partial<FeedRow> },
): Promise<void> {
  const text = `import: ${error}`.slice(0, 500);
  progress.set(name, { state: "failed", error: text });
  await store.set(name, {
    ...columns, failures: failures + 1, error_code: IMPORT_FAILED, error: text,
    next_at: toInstant(clock.now() + Math.min(intervalMs, RETRY_IMPORT_MS * 2 ** Math.min(failures, 10))),
  });
}

/** Whether an incremental source was not read to its end: its pages are handed over together. */
function isReading({ cursor }: FeedRow): boolean {
  return cursor !== null && cursor.includes('"window":{');
}

async function endUpdate(deps: UpdateDependencies, row: UpdateRow, progress: Progress): Promise<void> {
  const { store, clock } = deps;
  const feeds = progress.feeds();
  const failed = feeds.filter(({ state }) => state === "failed");
  const [status, error] = failed.length === 0 ? ["completed", null] as const : ["failed", failed.map(({ name, error: why }) => `${name}: ${why}`).join("; ").slice(0, 1000)] as const;
  const at = toInstant(clock.now());
  const appended = await store.transaction(async (trx) => {
    await store.end(trx, row.id, { status, error, progress: JSON.stringify(feeds), finished_at: at });
    return deps.log.append(trx, row.tenant_id, [newEvent("feed_update", eventOf({ ...row, status }, null), at)]);
  });
  deps.published(row.tenant_id, appended.fromSeq);
  await store.forget(100);
  const counts = { updated: feeds.filter(({ state }) => state === "imported" || state === "fetched").length, failed: failed.length };
  deps.logger.info({ update_id: row.id, ...counts }, "an update of feeds has ended");
}

async function say({ store, log, published, clock }: UpdateDependencies, { tenant_id: tenantId }: UpdateRow, data: EventData<"feed_update">): Promise<void> {
  const { fromSeq } = await store.transaction((trx) => log.append(trx, tenantId, [newEvent("feed_update", data, toInstant(clock.now()))]));
  published(tenantId, fromSeq);
}

/** An event about no site, as the collector says it. */
export function newEvent(type: "feed_update" | "feed_health", data: object, at: string) {
  return { type, data, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at };
}

function eventOf({ id, status }: Pick<UpdateRow, "id" | "status">, feed: ReturnType<Progress["changed"]>): EventData<"feed_update"> {
  const whole = { update_id: id, status: status as EventData<"feed_update">["status"] };
  if (feed === null) return { ...whole, feed: null, state: null, bytes: 0, bytes_total: null, pages: 0, records: 0, records_total: null, message: `The update is ${status}` };
  const { name, error, ...counts } = feed;
  const total = counts.records_total === null ? "" : ` of ${counts.records_total}`;
  return { ...whole, feed: name, ...counts, message: `${name}: ${counts.state}, ${counts.records}${total} records${error === null ? "" : `; ${error}`}`.slice(0, 512) };
}
