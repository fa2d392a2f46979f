import { setMaxListeners } from "node:events";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Attempt } from "../sending/attempt.ts";
import { createClaimShare } from "./claim-share.ts";
import { type Claims } from "./claims-store.ts";
import { createHeldEndpoints, type HeldEndpoints } from "../held-endpoints.ts";
import { createSemaphore } from "./semaphore.ts";
import { createRecorder } from "./recorder.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { DeliveryStore } from "../store.ts";
import { createWorkerWatch } from "./worker-watch.ts";

/** Sends what is due to webhooks. Several processes share one database's webhooks. */
export interface DeliveryWorker {
  start(): Promise<void>;
  /** These webhooks have new deliveries, committed. Nothing is lost without this call: what is due is looked for each second. */
  enqueued(webhookIds: readonly string[]): void;
  /** A webhook was changed, or something of it asked for again. */
  changed(webhookId: string): void;
  health(): { readonly status: "ok" | "degraded"; readonly detail: string };
  /** Takes nothing further and waits some seconds for what is under way; what has no answer by then is sent again by the next start. */
  close(): Promise<void>;
}

interface WorkerDependencies {
  readonly store: DeliveryStore;
  readonly claims: Claims;
  readonly attempt: Attempt;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_EVERY_MS = 500;
const BEAT_EVERY_MS = 5000;
/** Attempts at once: far more than one core can send, few enough sockets. Most are kept from receivers that are slow. */
const MAX_AT_ONCE = { all: 512, slow: 128 };
const PATIENCE_MS = 5000;
/** A clock that is set differs by more; what NTP corrects by and a loaded machine's late timers by less. */
const JUMP_MS = 2000;

/**
 * It is no row of the table of jobs: it looks for what is due twice a second and also whenever something is enqueued, one look at a time,
 * and its heartbeat must not wait for a look.
 * @param options.isAlone Whether no other process uses the database: then what an earlier one held is free at once, and nobody
 * needs to know that this one lives.
 */
export function createDeliveryWorker(deps: WorkerDependencies, options: { readonly isAlone: boolean }): DeliveryWorker {
  const { store, claims, clock, log } = deps;
  const stopping = new AbortController();
  const stop = new AbortController();
  // Every attempt under way listens to it.
  setMaxListeners(0, stop.signal);
  const recorder = createRecorder({ store, workerId: () => share.workerId(), clock, log });
  const held = createHeldEndpoints(
    { ...deps, recorder, places: createSemaphore(MAX_AT_ONCE), stopping: stopping.signal, stop: stop.signal },
  );
  const share = createClaimShare({ claims, store, held, watch: createWorkerWatch({ claims, clock, log }), log }, options);
  const looks = createLooks({
    log, stopping: stopping.signal,
    look: createLook({ store, held, clock, log, workerId: share.workerId, claim: (unclaimed, active) => share.claim(unclaimed, active, clock.now()) }),
  });
  const timers: (() => void)[] = [];
  return {
    async start() {
      await share.begin();
      if (!options.isAlone) timers.push(clock.every(BEAT_EVERY_MS, () => {
        share.beat().catch((error: unknown) => log.error({ reason: describeError(error) }, "the delivery worker could not write its heartbeat"));
      }));
      timers.push(clock.every(LOOK_EVERY_MS, looks.soon));
      looks.soon();
    },
    enqueued(webhookIds) {
      for (const id of webhookIds) {
        const endpoint = held.find(id);
        if (endpoint) endpoint.wake(["live"]);
        else looks.soon();
      }
    },
    changed(webhookId) {
      void held.refresh(webhookId, share.workerId()).then(looks.soon);
    },
    health() {
      const why = recorder.fault() ?? looks.fault();
      return why === null ? { status: "ok", detail: "deliveries are sent" } : {
        status: "degraded", detail: "deliveries cannot be stored; see the log",
      };
    },
    async close() {
      stopping.abort();
      for (const cancel of timers.splice(0)) cancel();
      await looks.idle();
      const all = held.settled();
      const cancel = clock.after(PATIENCE_MS, () => stop.abort());
      await all;
      cancel();
      await recorder.close();
      await share.end();
    },
  };
}

/** Looks for what is due: wakes what is ours, drops what is not any more, and claims from what nobody has. */
function createLook({ store, held, clock, log, workerId, claim }: Pick<WorkerDependencies, "store" | "clock" | "log"> & {
  readonly held: HeldEndpoints; readonly workerId: () => string;
  readonly claim: (unclaimed: readonly string[], active: number) => Promise<void>;
}): () => Promise<void> {
  let clockOffset = clock.now() - clock.monotonic();
  return async () => {
    const offset = clock.now() - clock.monotonic();
    const jumpedMs = offset - clockOffset;
    clockOffset = offset;
    if (Math.abs(jumpedMs) > JUMP_MS) {
      log.warn({ jumped_ms: Math.round(jumpedMs) }, "the clock was changed; webhook retries keep their intervals");
      await store.shift(held.ids(), Math.round(jumpedMs));
    }
    const found = await store.due(clock.now());
    const active = new Set(found.map(({ id }) => id));
    for (const id of held.ids()) if (!active.has(id)) held.drop(id);
    const unclaimed: string[] = [];
    for (const { id, workerId: holder, lanes } of found) {
      if (lanes.length === 0) continue;
      if (holder === null) unclaimed.push(id);
      else if (holder === workerId()) {
        const row = held.find(id) ? null : await store.webhook(id);
        (row ? held.adopt(row) : held.find(id))?.wake(lanes);
      } else held.drop(id);
    }
    await claim(unclaimed, found.length);
  };
}

/** One look at a time; one that is asked for meanwhile follows. */
function createLooks({ look, log, stopping }: { readonly look: () => Promise<void>; readonly log: Log; readonly stopping: AbortSignal }) {
  let fault: string | null = null;
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  const lookAll = async () => {
    while (lookAgain && !stopping.aborted) {
      lookAgain = false;
      try {
        await look();
        fault = null;
      } catch (error) {
        fault = describeError(error);
        log.error({ reason: fault }, "due deliveries could not be read, trying again");
      }
    }
    looking = null;
  };
  return {
    soon() {
      lookAgain = true;
      looking ??= lookAll();
    },
    idle: async () => looking ?? undefined,
    fault: () => fault,
  };
}
