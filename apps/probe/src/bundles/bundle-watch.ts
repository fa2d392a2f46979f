import type { BundleAnnouncement, BundleState } from "@lanthorn/contract/uplink";
import { type Clock, createBackoff, type Log } from "@lanthorn/runtime";
import { openBundleStore } from "./store.ts";
import { createVersionTaker, MAX_ERROR_LENGTH } from "./version-taker.ts";

/** Keeps the bundles that this probe uses at the version that the collector announces. */
export interface BundleWatch {
  announced(bundles: readonly BundleAnnouncement[]): void;
  /** What uses a bundle failed with its current version: the one before is used again, and that version is not taken again. */
  failed(name: string, reason: string): void;
  state(): readonly BundleState[];
  close(): Promise<void>;
}

const RETRY_FIRST_MS = 5000;
const RETRY_LONGEST_MS = 6 * 3_600_000;

/**
 * @param deps.names Bundles that the probe has a use for; others are left alone.
 * @param deps.fetch, deps.install As of `createVersionTaker`.
 */
export function createBundleWatch(deps: {
  readonly names: readonly string[];
  readonly dataDir: string;
  readonly fetch: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly install: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}): BundleWatch {
  const { clock, log } = deps;
  const stopper = new AbortController();
  const { signal } = stopper;
  let wanted: ReadonlyMap<string, number> = new Map();
  const taker = createVersionTaker({ ...deps, signal });
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let running: Promise<void> | null = null;
  let isAgain = false;
  let cancelRetry = () => {};
  const storeOf = (name: string) => openBundleStore(deps.dataDir, name);

  async function run(): Promise<void> {
    let isDone = true;
    do {
      isAgain = false;
      isDone = true;
      for (const [name, version] of wanted) if (!signal.aborted && !(await taker.take(name, version))) isDone = false;
    } while (isAgain && !signal.aborted);
    running = null;
    if (isDone) backoff.reset();
    else if (!signal.aborted) cancelRetry = clock.after(RETRY_FIRST_MS + backoff.next(), begin);
  }

  function begin(): void {
    cancelRetry();
    if (signal.aborted) return;
    if (running) isAgain = true;
    else running = run();
  }

  return {
    announced(bundles) {
      const next = new Map(bundles.filter(({ name }) => deps.names.includes(name)).map(({ name, version }) => [name, version]));
      const isSame = next.size === wanted.size && [...next].every(([name, version]) => wanted.get(name) === version);
      wanted = next;
      if (isSame) return;
      backoff.reset();
      begin();
    },
    failed(name, reason) {
      const store = storeOf(name);
      const { currentNumber } = store.record();
      store.reject(reason);
      log.error({ bundle: name, version: currentNumber, reason, back_to: store.record().currentNumber }, "a bundle failed in use; the version before is used again");
    },
    state: () => deps.names.map((name) => {
      const { currentNumber, rejected } = storeOf(name).record();
      const failure = rejected && `version ${rejected.number} failed in use: ${rejected.reason}`.slice(0, MAX_ERROR_LENGTH);
      return { name, version: currentNumber || null, error: taker.error(name) ?? failure };
    }),
    async close() {
      stopper.abort();
      cancelRetry();
      await running;
    },
  };
}
