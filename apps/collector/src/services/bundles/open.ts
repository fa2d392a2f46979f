import type { Clock, Log } from "@lanthorn/runtime";
import { createJob } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import { bundlesRoutes } from "./routes.ts";
import type { BundlesStore } from "./store.ts";

/** A command beside the daemon publishes: this is how long it may take until probes hear of it. */
const LOOK_EVERY_MS = 15_000;

/**
 * Bundles for probes, and the job that announces new versions.
 * @param deps.onPublished Is called with the probes whose configuration names other bundles now.
 */
export function openBundles(store: BundlesStore, deps: {
  readonly clock: Clock; readonly log: Log;
  readonly admit: (probeId: string, key: string) => Promise<unknown>;
  readonly onPublished: (probeIds: readonly string[]) => Promise<void>;
}): ServiceModule {
  const { clock, log } = deps;
  let announced = "[]";
  const announcement = createJob({ clock, log }, {
    name: "bundle-announcement", everyMs: LOOK_EVERY_MS, who: "one replica", failure: "bundles could not be announced to probes, trying again",
    async run() {
      await store.forgetSites();
      const list = await store.list();
      const text = JSON.stringify(list);
      if (text === announced) return;
      const probes = await store.probeIds();
      await deps.onPublished(probes);
      announced = text;
      log.info({ bundles: list, probes: probes.length }, "announced bundles to probes");
    },
  });
  return { name: "bundles", mount: "agents", routes: [bundlesRoutes({ store, admit: deps.admit })], jobs: [announcement] };
}
