import { setMaxListeners } from "node:events";
import { type Clock, createId, describeError, type Log } from "@lanthorn/runtime";
import type { Attempt } from "./attempt.ts";
import { type Claims } from "./claims.ts";
import { ALL_LANES, createEndpoint, type Endpoint } from "./endpoint.ts";
import { createSemaphore } from "./semaphore.ts";
import { createRecorder } from "./recorder.ts";
import type { Sealing } from "../sealing/sealing.ts";
import type { DeliveryStore, WebhookRow } from "./store.ts";
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
 * @param options.isAlone Whether no other process uses the database: then what an earlier one held is free at once, and nobody
 * needs to know that this one lives.
 */
export function createDeliveryWorker(deps: WorkerDependencies, options: { readonly isAlone: boolean }): DeliveryWorker {
  const { store, claims, clock, log } = deps;
  const endpoints = new Map<string, Endpoint>();
  /** Not ours any more, but with an attempt under way. */
  const ending = new Set<Endpoint>();
  const stopping = new AbortController();
  const stop = new AbortController();
  // Every attempt under way listens to it.
  setMaxListeners(0, stop.signal);
  const watch = createWorkerWatch({ claims, clock, log });
  let workerId = createId();
  const recorder = createRecorder({ store, workerId: () => workerId, clock, log });
  const endpointDeps = { ...deps, recorder, places: createSemaphore(MAX_AT_ONCE), stopping: stopping.signal, stop: stop.signal };
  let unclaimedBefore: ReadonlySet<string> = new Set();
  let fault: string | null = null;
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  let clockOffset = clock.now() - clock.monotonic();
  const timers: (() => void)[] = [];

  const adopt = (row: WebhookRow): Endpoint => {
    const endpoint = createEndpoint(endpointDeps, row);
    endpoints.set(row.id, endpoint);
    return endpoint;
  };
  const drop = (id: string) => {
    const endpoint = endpoints.get(id);
    if (!endpoint) return;
    endpoint.update(null);
    endpoints.delete(id);
    ending.add(endpoint);
    void endpoint.settled().then(() => ending.delete(endpoint));
  };
  const refresh = async (id: string) => {
    try {
      const row = await store.webhook(id);
      if (row?.worker_id === workerId) endpoints.get(id)?.update(row);
      else drop(id);
    } catch (error) {
      log.error({ webhook_id: id, reason: describeError(error) }, "a changed webhook could not be read");
    }
    lookSoon();
  };

  /** Takes what nobody has: up to a fair share at once, and what others left lying for a whole round. */
  const claimSome = async (unclaimed: readonly string[], active: number) => {
    const left = unclaimed.filter((id) => unclaimedBefore.has(id));
    unclaimedBefore = new Set(unclaimed);
    const share = options.isAlone ? active : Math.ceil(active / watch.living());
    const limit = Math.max(left.length, share - endpoints.size);
    if (unclaimed.length === 0 || limit <= 0) return;
    const mine = await claims.claim(workerId, share > endpoints.size ? unclaimed : left, limit);
    await store.mend(mine.map(({ id }) => id), clock.now());
    for (const row of mine) adopt(row).wake(ALL_LANES);
  };

  const look = async () => {
    const offset = clock.now() - clock.monotonic();
    const jumpedMs = offset - clockOffset;
    clockOffset = offset;
    if (Math.abs(jumpedMs) > JUMP_MS) {
      log.warn({ jumped_ms: Math.round(jumpedMs) }, "the clock was changed; webhook retries keep their intervals");
      await store.shift([...endpoints.keys()], Math.round(jumpedMs));
    }
    const found = await store.due(clock.now());
    const active = new Set(found.map(({ id }) => id));
    for (const id of endpoints.keys()) if (!active.has(id)) drop(id);
    const unclaimed: string[] = [];
    for (const { id, workerId: holder, lanes } of found) {
      if (lanes.length === 0) continue;
      if (holder === null) unclaimed.push(id);
      else if (holder === workerId) {
        const row = endpoints.has(id) ? null : await store.webhook(id);
        (row ? adopt(row) : endpoints.get(id))?.wake(lanes);
      } else drop(id);
    }
    await claimSome(unclaimed, found.length);
    fault = null;
  };

  /** One look at a time; one that is asked for meanwhile follows. */
  const lookSoon = () => {
    lookAgain = true;
    looking ??= (async () => {
      while (lookAgain && !stopping.signal.aborted) {
        lookAgain = false;
        try {
          await look();
        } catch (error) {
          fault = describeError(error);
          log.error({ reason: fault }, "due deliveries could not be read, trying again");
        }
      }
      looking = null;
    })();
  };

  const beat = async () => {
    if (!(await claims.beat(workerId))) {
      log.warn({ worker_id: workerId }, "another process took this one for dead; it registers again");
      for (const id of endpoints.keys()) drop(id);
      workerId = createId();
      await claims.register(workerId);
    }
    await watch.look(workerId);
    if (!watch.hasNewcomer()) return;
    const idle = [...endpoints].filter(([, endpoint]) => endpoint.isIdle()).map(([id]) => id);
    const surplus = idle.slice(0, endpoints.size - Math.ceil(endpoints.size / watch.living()));
    for (const id of surplus) drop(id);
    await claims.release(workerId, surplus);
  };

  return {
    async start() {
      if (options.isAlone) await claims.bury((await claims.workers()).map(({ id }) => id));
      await claims.register(workerId);
      if (!options.isAlone) {
        await watch.look(workerId);
        timers.push(clock.every(BEAT_EVERY_MS, () => {
          beat().catch((error: unknown) => log.error({ reason: describeError(error) }, "the delivery worker could not write its heartbeat"));
        }));
      }
      timers.push(clock.every(LOOK_EVERY_MS, lookSoon));
      lookSoon();
    },
    enqueued(webhookIds) {
      for (const id of webhookIds) {
        const endpoint = endpoints.get(id);
        if (endpoint) endpoint.wake(["live"]);
        else lookSoon();
      }
    },
    changed(webhookId) {
      void refresh(webhookId);
    },
    health() {
      const why = recorder.fault() ?? fault;
      return why === null ? { status: "ok", detail: "deliveries are sent" } : {
        status: "degraded", detail: "deliveries cannot be stored; see the log",
      };
    },
    async close() {
      stopping.abort();
      for (const cancel of timers.splice(0)) cancel();
      await looking;
      const all = Promise.all([...endpoints.values(), ...ending].map((endpoint) => endpoint.settled()));
      const cancel = clock.after(PATIENCE_MS, () => stop.abort());
      await all;
      cancel();
      await recorder.close();
      await claims.bury([workerId]);
    },
  };
}
