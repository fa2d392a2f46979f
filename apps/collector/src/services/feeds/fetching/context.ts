import { createBackoff, type Clock } from "@lanthorn/runtime";
import type { FeedDefinition, FeedFile } from "../definition.ts";
import { type FeedFailure, isPassing } from "../failure.ts";
import type { Counts } from "../checking/check.ts";
import { type FeedClient, stopped } from "./client.ts";
import type { Validators } from "./download.ts";

/** What is known of a feed from before, and is kept for the next time. */
export interface FeedMemory {
  /** By file. */
  readonly validators: Readonly<Record<string, Validators>>;
  /** Where in an incremental source the fetching is; null before its beginning. */
  readonly cursor: unknown;
  readonly files: readonly FeedFile[];
  readonly isWhole: boolean;
  /** Whether the files were not imported so far. */
  readonly isPending: boolean;
  /** Of the last whole one that was good. */
  readonly counts: Counts;
}

/** How far a download is. */
export interface FetchProgress {
  readonly bytes: number;
  readonly bytesTotal: number | null;
  readonly pages: number;
  readonly records: number;
  readonly recordsTotal: number | null;
}

/** What fetching came to. `unchanged` where nothing is new. */
export interface Fetched extends Omit<FeedMemory, "isPending"> {
  readonly isChanged: boolean;
}

/** What fetching a feed needs. */
export interface FetchContext {
  readonly feed: FeedDefinition;
  readonly memory: FeedMemory;
  /** The feed's own folder, which is there. */
  readonly folder: string;
  readonly client: FeedClient;
  readonly clock: Pick<Clock, "now">;
  readonly random: () => number;
  /** Resolves after so many milliseconds, or when the collector stops. */
  readonly pause: (ms: number) => Promise<void>;
  /** Waits until the source may be asked again, and remembers when it was. */
  readonly turn: () => Promise<void>;
  /** Keeps how far it is, so that another process goes on from there. */
  readonly keep: (memory: Partial<FeedMemory>) => Promise<void>;
  readonly onProgress: (progress: Partial<FetchProgress>) => void;
  /** Of NVD; null for none. */
  readonly apiKey: string | null;
  readonly stop: AbortSignal;
}

const MAX_ATTEMPTS = 4;
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;
/** A source that wants more is left alone until its next turn, so that the other feeds go on. */
const MAX_WAIT_MS = 120_000;

/**
 * Does one request in its turn, and again after failures that may pass: after what `Retry-After` says, or exponentially longer waits.
 * @throws FeedFailure The last one.
 */
export async function inTurn<T>({ turn, pause, random, stop }: Pick<FetchContext, "turn" | "pause" | "random" | "stop">, request: () => Promise<T>): Promise<T> {
  const backoff = createBackoff({ firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, random });
  for (let attempt = 1; ; attempt += 1) {
    await turn();
    if (stop.aborted) throw stopped();
    try {
      return await request();
    } catch (error) {
      const wait = isPassing(error) && attempt < MAX_ATTEMPTS ? waitAfter(error, backoff.next()) : null;
      if (wait === null) throw error;
      await pause(wait);
    }
  }
}

function waitAfter({ retryAfterMs }: FeedFailure, usualMs: number): number | null {
  if (retryAfterMs === null) return usualMs;
  return retryAfterMs > MAX_WAIT_MS ? null : retryAfterMs;
}
