import { createId, type Log } from "@lanthorn/runtime";
import type { Claims } from "./claims-store.ts";
import type { HeldEndpoints } from "../held-endpoints.ts";
import type { DeliveryStore } from "../store.ts";
import type { WorkerWatch } from "./worker-watch.ts";

/** This process among those that share one database's webhooks: who it is, and which of them it takes. */
export interface ClaimShare {
  workerId(): string;
  /** Registers this process. */
  begin(): Promise<void>;
  /**
   * Takes what nobody has: up to a fair share at once, and what others left lying for a whole round.
   * @param active How many webhooks there are in all.
   */
  claim(unclaimed: readonly string[], active: number, now: number): Promise<void>;
  /** Says that this process lives, buries those that do not, and gives up to one that is new what is idle and more than a share. */
  beat(): Promise<void>;
  /** Frees what this process has. */
  end(): Promise<void>;
}

/** @param options.isAlone No other process uses the database: all webhooks are this one's, and what an earlier one held is free. */
export function createClaimShare(deps: {
  readonly claims: Claims; readonly store: Pick<DeliveryStore, "mend">; readonly held: HeldEndpoints; readonly watch: WorkerWatch;
  readonly log: Log;
}, options: { readonly isAlone: boolean }): ClaimShare {
  const { claims, held, watch, log } = deps;
  let workerId = createId();
  let unclaimedBefore: ReadonlySet<string> = new Set();
  return {
    workerId: () => workerId,
    async begin() {
      if (options.isAlone) await claims.bury((await claims.workers()).map(({ id }) => id));
      await claims.register(workerId);
      if (!options.isAlone) await watch.look(workerId);
    },
    async claim(unclaimed, active, now) {
      const left = unclaimed.filter((id) => unclaimedBefore.has(id));
      unclaimedBefore = new Set(unclaimed);
      const share = options.isAlone ? active : Math.ceil(active / watch.living());
      const limit = Math.max(left.length, share - held.count());
      if (unclaimed.length === 0 || limit <= 0) return;
      const mine = await claims.claim(workerId, share > held.count() ? unclaimed : left, limit);
      await deps.store.mend(mine.map(({ id }) => id), now);
      held.take(mine);
    },
    async beat() {
      if (!(await claims.beat(workerId))) {
        log.warn({ worker_id: workerId }, "another process took this one for dead; it registers again");
        for (const id of held.ids()) held.drop(id);
        workerId = createId();
        await claims.register(workerId);
      }
      await watch.look(workerId);
      if (!watch.hasNewcomer()) return;
      const surplus = held.idle().slice(0, held.count() - Math.ceil(held.count() / watch.living()));
      for (const id of surplus) held.drop(id);
      await claims.release(workerId, surplus);
    },
    end: () => claims.bury([workerId]),
  };
}
