import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { toFailure } from "../failure.ts";
import type { FeedClient } from "../fetching/client.ts";
import type { Fetched, FetchContext } from "../fetching/context.ts";
import { fetchFiles } from "../fetching/files.ts";
import { fetchNvd } from "../fetching/nvd.ts";
import { takePaths } from "../fetching/paths.ts";
import { fetchReleases } from "../fetching/releases.ts";
import type { ConfiguredFeed } from "../source.ts";
import type { FeedRow, FeedsStore } from "../store.ts";
import { columnsOf, memoryOf } from "./memory.ts";

/** What fetching feeds needs. `pause` resolves early when `stop` is aborted. */
export interface FetchDependencies {
  readonly store: FeedsStore;
  readonly client: FeedClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
  readonly directory: string;
  readonly apiKey: string | null;
}

const FIRST_RETRY_MS = 600_000;
/** The error code of a feed whose consumer failed. */
export const IMPORT_FAILED = "import";

/**
 * Fetches one feed, and writes down what came of it and when it is due again.
 * @returns Whether there is anything to import, or why it failed.
 * @throws What the database throws.
 */
export async function fetchFeed(deps: FetchDependencies, feed: ConfiguredFeed, row: FeedRow, given: Pick<FetchContext, "onProgress" | "stop">): Promise<
  { readonly state: "fetched" | "unchanged" } | { readonly state: "failed"; readonly error: string }
> {
  const { store, clock, random } = deps;
  const { name } = feed.definition;
  const folder = join(deps.directory, name);
  try {
    const got = await fetchFrom(feed, await contextOf(deps, feed, row, given), clock);
    const { isChanged, ...memory } = got;
    await store.set(name, {
      ...columnsOf(memory), ...(isChanged && { is_pending: 1 }), answered_at: toInstant(clock.now()), not_before: null,
      next_at: toInstant(clock.now() + feed.intervalMs * (0.9 + 0.2 * random())),
      // What could not be imported is well again when it is imported.
      ...(row.error_code !== IMPORT_FAILED && { failures: 0, error_code: null, error: null }),
    });
    await sweep(deps, feed, folder);
    return { state: isChanged || row.is_pending === 1 ? "fetched" : "unchanged" };
  } catch (error) {
    const failure = toFailure(error);
    if (failure.code === "stopped" || given.stop.aborted) throw failure;
    const failures = row.failures + 1;
    // Longer each time, at random, so that a source that comes back does not meet everybody at once.
    const wait = Math.min(feed.intervalMs, FIRST_RETRY_MS * 2 ** Math.min(row.failures, 10)) * (0.5 + 0.5 * random());
    const at = clock.now() + Math.max(wait, failure.retryAfterMs ?? 0);
    await store.set(name, {
      failures, error_code: failure.code, error: failure.message.slice(0, 500), next_at: toInstant(at),
      not_before: failure.retryAfterMs === null ? null : toInstant(clock.now() + failure.retryAfterMs),
    });
    await sweep(deps, feed, folder);
    return { state: "failed", error: failure.message };
  }
}

/** Removes what no row knows: what was refused, what a process that died has left, and what was replaced. */
async function sweep({ store }: Pick<FetchDependencies, "store">, { definition: { name }, source }: ConfiguredFeed, folder: string): Promise<void> {
  // What lies at a path is the operator's, and that may be here.
  if (source.kind === "path" && [source.path, dirname(source.path)].some((path) => resolve(path) === resolve(folder))) return;
  const row = (await store.list()).find((one) => one.name === name);
  const known = new Set(row === undefined ? [] : memoryOf(row).files.map(({ path }) => path));
  const found = await readdir(folder).catch(() => []);
  for (const file of found) if (!known.has(join(folder, file))) await rm(join(folder, file), { force: true, recursive: true });
}

function fetchFrom({ source }: ConfiguredFeed, context: FetchContext, clock: Pick<Clock, "now">): Promise<Fetched> {
  if (source.kind === "path") return takePaths(context, source);
  if (source.kind === "files") return fetchFiles(context, source.files(new Date(clock.now()).getUTCFullYear()));
  return source.kind === "nvd-api" ? fetchNvd(context, source.url) : fetchReleases(context, source.url);
}

async function contextOf(deps: FetchDependencies, { definition }: ConfiguredFeed, row: FeedRow, given: Pick<FetchContext, "onProgress" | "stop">): Promise<FetchContext> {
  const { store, clock, directory, apiKey, random } = deps;
  const folder = join(directory, definition.name);
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const pause = (ms: number) => deps.pause(ms, given.stop);
  const spacing = definition.spacingMs[apiKey === null ? 0 : 1];
  let requestedAt = row.requested_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.requested_at);
  return {
    ...given, feed: definition, memory: memoryOf(row), folder, client: deps.client, clock, random, pause,
    apiKey: definition.source.kind === "nvd-api" ? apiKey : null,
    async turn() {
      // A clock that was set back must not hold it up for longer than the spacing.
      const wait = Math.min(spacing, requestedAt + spacing - clock.now());
      if (wait > 0) await pause(wait);
      requestedAt = clock.now();
      if (spacing > 0) await store.set(definition.name, { requested_at: toInstant(requestedAt) });
    },
    keep: (memory) => store.set(definition.name, columnsOf(memory)),
  };
}
