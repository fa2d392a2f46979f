import { type Clock, createId, describeError, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { ConfiguredFeed } from "../source.ts";
import type { FeedRow, UpdateRow } from "../store.ts";
import { NOTHING, newRow } from "./memory.ts";
import { queued } from "./progress.ts";
import { runUpdate, type UpdateDependencies } from "./run-update.ts";

/** Begins updates of feeds: when they are due, and when somebody asks. One runs at a time in the whole deployment. */
export interface FeedManager {
  /** Begins one that is due, and goes on with one whose process has died. Does not wait for it. */
  tick(): Promise<void>;
  /**
   * Begins one of all feeds now.
   * @param by.also Runs in the transaction that begins it.
   * @returns Its row; null while another runs.
   */
  start(by: { readonly tenantId: string; readonly name: string; readonly also: (trx: Transaction<Schema>, row: UpdateRow) => Promise<void> }): Promise<UpdateRow | null>;
  /** When the next scheduled update begins, in milliseconds since the epoch; null where none is. */
  nextAt(rows: readonly FeedRow[]): number | null;
  /** Resolves when no update runs in this process. */
  idle(): Promise<void>;
  /** Ends an update that runs, so that the next process goes on with it. */
  close(): Promise<void>;
}

/** A collector that starts again and again fetches nothing. */
const FIRST_MS = 300_000;
/** Feeds that are due this soon go with those that are due now, so that they are imported together. */
const TOGETHER_MS = 1_800_000;
/** As long as a row may stand still that its process counts up every five seconds. */
const DEAD_AFTER_MS = 45_000;

/** @param options.operatorTenant Whose events tell of scheduled updates. */
export function createFeedManager(deps: UpdateDependencies & { readonly db: Kysely<Schema>; readonly refresh: () => Promise<void> }, options: {
  readonly feeds: readonly ConfiguredFeed[]; readonly operatorTenant: () => Promise<string | null>;
  /** Whether no other process shares the database: what runs there and not here is then dead at once. */
  readonly isAlone: boolean;
}): FeedManager {
  const { store, clock, logger } = deps;
  const { feeds } = options;
  const holder = createId();
  const stopper = new AbortController();
  let running: Promise<void> | null = null;
  let seen: { readonly id: string; readonly beats: number; readonly since: number } | null = null;

  const run = (row: UpdateRow) => {
    running = runUpdate(deps, row, { feeds, stop: stopper.signal }).finally(() => {
      running = null;
    });
  };
  const known = async (): Promise<readonly FeedRow[]> => {
    if (running === null) await forgetLost(deps, feeds);
    const rows = await ensureRows(deps, feeds);
    return rows.filter(({ name }) => feeds.some(({ definition }) => definition.name === name));
  };
  const begin = async (names: readonly string[], by: Pick<UpdateRow, "tenant_id" | "trigger" | "requested_by">, also?: (trx: Transaction<Schema>, row: UpdateRow) => Promise<void>) => {
    const row: UpdateRow = {
      id: createId(), ...by, running_key: "running", holder, beats: 0, status: "running", progress: JSON.stringify(names.map(queued)), error: null,
      started_at: toInstant(clock.now()), finished_at: null,
    };
    if (!(await store.begin(row, also && ((trx) => also(trx, row))))) return null;
    run(row);
    return row;
  };
  /** The row of another process that is dead is gone on with. */
  const adopt = async (row: UpdateRow) => {
    const isSame = seen?.id === row.id && seen.beats === row.beats;
    if (!isSame) seen = { id: row.id, beats: row.beats, since: clock.monotonic() };
    if (!options.isAlone && clock.monotonic() - (seen?.since ?? 0) < DEAD_AFTER_MS) return;
    if (await store.adopt(row, holder)) run({ ...row, holder });
  };

  return {
    async tick() {
      if (running !== null || stopper.signal.aborted || feeds.length === 0) return;
      const other = await store.running();
      if (other) {
        await adopt(other);
        return;
      }
      const now = clock.now();
      const rows = await known();
      if (!rows.some((row) => isDue(row, now))) return;
      const tenantId = await options.operatorTenant();
      if (tenantId === null) return;
      const due = feeds.map(({ definition }) => definition.name).filter((name) => rows.some((row) => row.name === name && isDue(row, now + TOGETHER_MS)));
      await begin(due, { tenant_id: tenantId, trigger: "scheduled", requested_by: "schedule" });
    },
    async start({ tenantId, name, also }) {
      await known();
      return begin(feeds.map(({ definition }) => definition.name), { tenant_id: tenantId, trigger: "manual", requested_by: name }, also);
    },
    nextAt(rows) {
      const times = rows.flatMap(({ name, next_at: at }) => (at !== null && feeds.some(({ definition }) => definition.name === name) ? [Date.parse(at)] : []));
      return times.length === 0 ? null : Math.max(Math.min(...times), clock.now());
    },
    async idle() {
      await running;
    },
    async close() {
      stopper.abort();
      await running?.catch((error: unknown) => logger.warn({ reason: describeError(error) }, "an update of feeds ended badly"));
    },
  };
}

function isDue({ next_at: at, not_before: notBefore }: FeedRow, now: number): boolean {
  return at !== null && Date.parse(at) <= now && (notBefore === null || Date.parse(notBefore) <= now);
}

/**
 * Forgets what was handed over where that is not there any more, as after a restore, or where it went into another collector's data, which are
 * newer than these: what has changed since is no use without it.
 */
async function forgetLost(
  { store, clock, loaded, refresh, logger }: UpdateDependencies & { readonly refresh: () => Promise<void> }, feeds: readonly ConfiguredFeed[],
): Promise<void> {
  const taken = (await store.list()).filter(({ name, consumed_at: at }) => at !== null && feeds.some(({ definition }) => definition.name === name));
  const hasAll = () => {
    const builtAt = loaded()?.builtAt;
    return builtAt !== undefined && taken.every(({ consumed_at: at }) => at === null || at <= builtAt);
  };
  if (taken.length === 0 || hasAll()) return;
  await refresh().catch((error: unknown) => logger.error({ reason: describeError(error) }, "the data of the other collectors could not be taken"));
  if (hasAll()) return;
  logger.warn({}, "what was made of the feeds is missing, or newer at another collector: all of them are fetched again (collectors that share a database need one feeds.directory)");
  for (const { name } of taken) await store.set(name, { ...NOTHING, next_at: toInstant(clock.now()) });
}

/** Adds rows of feeds that are new here, and forgets what is known of one that has another source now. */
async function ensureRows(
  { store, clock, random }: Pick<UpdateDependencies, "store" | "random"> & { readonly clock: Pick<Clock, "now"> }, feeds: readonly ConfiguredFeed[],
): Promise<readonly FeedRow[]> {
  const before = await store.list();
  let hasChanged = false;
  for (const feed of feeds) {
    const row = before.find(({ name }) => name === feed.definition.name);
    if (row?.url === feed.source.url) continue;
    hasChanged = true;
    if (row) await store.set(row.name, { ...NOTHING, url: feed.source.url, next_at: toInstant(clock.now()) });
    else await store.add(newRow(feed, clock.now(), FIRST_MS * (0.5 + 0.5 * random())));
  }
  return hasChanged ? store.list() : before;
}
