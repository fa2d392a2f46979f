import type { Worker } from "node:worker_threads";
import type { Claim } from "@lanthorn/fingerprints";
import { type Clock, describeError, type Log, startThread } from "@lanthorn/runtime";
import type { DatabaseQuery } from "./databases.ts";
import { type ServiceFinding, withClaims } from "./finding.ts";

/** Queries databases of fingerprints in a thread of their own, so that the event loop waits for none, whatever is in them. */
export interface DatabaseThread {
  /** @returns The finding with what the databases say of its texts, too; as it was where they say nothing or fail. Does not reject. */
  consult(finding: ServiceFinding): Promise<ServiceFinding>;
  close(): void;
}

/** A query as it is sent to the thread. */
export interface DatabaseTask {
  readonly id: number;
  readonly query: DatabaseQuery;
}
/** What the thread sends back: the claims for one task by its `id`, or a warning about one database, which ends no task. */
export type DatabaseAnswer =
  | { readonly kind: "claims"; readonly id: number; readonly claims: readonly Claim[] }
  | { readonly kind: "warning"; readonly about: { readonly name: string; readonly reason: string }; readonly message: string };

/** A scan is over by then; the next one reads them again. They are megabytes, and the quiet daemon has no use for them. */
const KEPT_MS = 30_000;
/** Reading the largest of Recog's files takes 0.2 s, and asking one 20 ms at most: this is for what hangs. */
const MAX_ANSWER_MS = 20_000;
/** All of Recog's files together take 30 MB. */
const MAX_HEAP_MB = 128;

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, (claims: readonly Claim[]) => void>;
}

/**
 * @param deps.dataDir Where `lanthorn-probe fingerprints update` keeps databases.
 * @param deps.version Which version holds; null where there are none: no thread is started then.
 */
export function createDatabaseThread(deps: {
  readonly dataDir: string;
  readonly version: () => string | null;
  /** A version failed before it had answered anything: it cannot be used on this machine. */
  readonly onBroken: (reason: string) => void;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn" | "error">;
}): DatabaseThread {
  let running: Running | null = null;
  /** Databases that ended their thread, or took too long, are not asked again. */
  let brokenVersion: string | null = null;
  let askedVersion: string | null = null;
  let answeredVersion: string | null = null;
  let lastId = 0;
  let cancelTimer = () => {};

  const stop = () => {
    cancelTimer();
    const stopped = running;
    running = null;
    if (!stopped) return;
    stopped.worker.removeAllListeners().on("error", () => {});
    void stopped.worker.terminate();
    for (const resolve of stopped.waiting.values()) resolve([]);
  };
  const fail = (reason: string) => {
    if (!running) return;
    deps.log.error({ reason }, "fingerprint databases failed; they are not used until others are installed or the probe is restarted");
    brokenVersion = askedVersion;
    stop();
    if (answeredVersion !== askedVersion && deps.version() === askedVersion) deps.onBroken(reason);
  };
  const setTimer = () => {
    cancelTimer();
    cancelTimer = running && running.waiting.size > 0
      ? deps.clock.after(MAX_ANSWER_MS, () => fail(`no answer within ${MAX_ANSWER_MS / 1000} s`)) : deps.clock.after(KEPT_MS, stop);
  };
  const start = (): Running => {
    const worker = startThread("database-worker", import.meta.url, {
      workerData: { dataDir: deps.dataDir }, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const waiting: Running["waiting"] = new Map();
    worker.on("message", (answer: DatabaseAnswer) => {
      if (answer.kind === "warning") {
        deps.log.warn(answer.about, answer.message);
        return;
      }
      answeredVersion = askedVersion;
      waiting.get(answer.id)?.(answer.claims);
      waiting.delete(answer.id);
      setTimer();
    });
    worker.on("error", (error) => fail(describeError(error)));
    worker.on("exit", () => fail("their thread ended"));
    worker.unref();
    return { worker, waiting };
  };
  const ask = (query: DatabaseQuery) => new Promise<readonly Claim[]>((resolve) => {
    running ??= start();
    lastId += 1;
    running.waiting.set(lastId, resolve);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    running.worker.postMessage({ id: lastId, query } satisfies DatabaseTask);
    if (running.waiting.size === 1) setTimer();
  });
  return {
    async consult(finding) {
      const version = finding.texts.length > 0 ? deps.version() : null;
      if (version === null || version === brokenVersion) return finding;
      askedVersion = version;
      const { texts, claims, verdicts } = finding;
      const own = claims.map(({ field, value, source }) => ({ field, value, source }));
      return withClaims(finding, await ask({ texts, claims: own, product: verdicts.product?.value ?? "" }));
    },
    close: stop,
  };
}
