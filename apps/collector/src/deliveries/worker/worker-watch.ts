import type { Clock, Log } from "@lanthorn/runtime";
import type { Claims } from "./claims-store.ts";

/** Watches the other processes that deliver. */
export interface WorkerWatch {
  /** Looks at all counters, and takes for dead whose stands still for too long. */
  look(ownId: string): Promise<void>;
  /** Processes that live, this one among them. */
  living(): number;
  /** Whether one has come since the look before: what this one holds may be shared anew. */
  hasNewcomer(): boolean;
}

/** Four beats: a process that is only slow, or stopped for a moment, keeps what it has. */
const DEAD_AFTER_MS = 20_000;

/** A worker whose counter stands still for 20 s of this process's monotonic clock is dead. Clocks of other machines are not compared. */
export function createWorkerWatch(deps: { readonly claims: Claims; readonly clock: Clock; readonly log: Log }): WorkerWatch {
  let seen = new Map<string, { readonly beats: number; readonly since: number }>();
  let living = 1;
  let newcomer = false;
  return {
    async look(ownId) {
      const now = deps.clock.monotonic();
      const others = (await deps.claims.workers()).filter(({ id }) => id !== ownId);
      newcomer = others.some(({ id }) => !seen.has(id));
      seen = new Map(others.map(({ id, beats }) => {
        const before = seen.get(id);
        return [id, before?.beats === beats ? before : { beats, since: now }];
      }));
      const dead = [...seen].filter(([, { since }]) => now - since >= DEAD_AFTER_MS).map(([id]) => id);
      if (dead.length > 0) deps.log.warn({ workers: dead }, "delivery processes have stopped; others take over their webhooks");
      await deps.claims.bury(dead);
      for (const id of dead) seen.delete(id);
      living = seen.size + 1;
    },
    living: () => living,
    hasNewcomer: () => newcomer,
  };
}
