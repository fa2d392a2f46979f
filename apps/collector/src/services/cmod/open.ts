import { type Clock, type Lifecycle, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Configuration } from "../../configuration.ts";
import type { Schema } from "../../db/schema.ts";
import { repeatWork } from "../../repeated-work.ts";
import { cmodRoutes } from "./routes.ts";
import { createCmodService } from "./service.ts";
import { createCmodStore } from "./store.ts";
import { createTextWorker } from "./text-worker.ts";

const FORGET_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The configuration module over the collector's database, with its retention. */
export function openCmod(
  { configurations: keep }: Pick<Configuration, "configurations">,
  deps: Omit<Parameters<typeof createCmodService>[0], "store" | "worker"> & {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly logger: Log;
    readonly lifecycle: Pick<Lifecycle, "onClose">;
  },
): ReturnType<typeof cmodRoutes> {
  const { clock } = deps;
  const store = createCmodStore(deps);
  const { close } = repeatWork({ clock, log: deps.logger }, {
    everyMs: FORGET_EVERY_MS, failure: "old configurations could not be forgotten, trying again in an hour",
    work: () => store.forget(toInstant(clock.now() - keep.keep_days * DAY_MS)),
  });
  const worker = createTextWorker({ clock, log: deps.logger });
  deps.lifecycle.onClose("configurations", async () => {
    worker.close();
    await close();
  });
  return cmodRoutes(createCmodService({ ...deps, store, worker }, { keepVersions: keep.keep_versions }));
}
