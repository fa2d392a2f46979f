import { createRetentionJob } from "../../jobs/job.ts";
import { nextTurn, toInstant } from "@lanthorn/runtime";
import type { ServiceModule } from "../../service-module.ts";
import { createBaselineRoutes } from "./rest/rest.ts";
import { countDue, cursors, forgetBeyond, forgetEnded } from "./store/queue.ts";
import { createBaselineWatch, type WatchDependencies } from "./watch/watch.ts";

const FORGET_EVERY_MS = 3_600_000;
const AT_ONCE = 200;
/** Differences of a tenant that have ended; there are more where something comes and goes all the time. */
const MAX_ENDED = 100_000;
const DAY_MS = 86_400_000;

/** The service module of baselines, whose job is `watch`. */
interface BaselinesModule extends ServiceModule {
  readonly watch: ReturnType<typeof createBaselineWatch>;
}

/** @param options.keepDays How long differences that have ended are kept. */
export function openBaselines(deps: WatchDependencies & Parameters<typeof createBaselineRoutes>[0], options: { readonly keepDays: number }): BaselinesModule {
  const { db, reads, clock, logger } = deps;
  const watch = createBaselineWatch(deps);
  const forget = createRetentionJob({ clock, log: logger }, {
    name: "baseline-retention", everyMs: FORGET_EVERY_MS, who: "one replica", what: "old differences from baselines",
    async run(stopped) {
      let total = 0;
      const all = async (some: () => Promise<number>) => {
        for (let went = AT_ONCE; went === AT_ONCE && !stopped.aborted; total += went) {
          went = await some();
          await nextTurn();
        }
      };
      await all(() => forgetEnded(db, toInstant(clock.now() - options.keepDays * DAY_MS), AT_ONCE));
      for (const { id } of await cursors(reads)) await all(() => forgetBeyond(db, id, MAX_ENDED, AT_ONCE));
      return total;
    },
  });
  return {
    name: "baselines", mount: "gateway", routes: createBaselineRoutes(deps), jobs: [watch], retention: [forget], watch,
    metrics: [{
      name: "lanthorn_baselines_waiting", help: "Baselines of sites and devices that wait to be compared",
      read: () => countDue(reads, toInstant(clock.now())),
    }],
  };
}
