import { type Clock, describeError, type Lifecycle, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Configuration } from "../../configuration.ts";
import type { Schema } from "../../db/schema.ts";
import { cmodRoutes } from "./routes.ts";
import { createCmodService } from "./service.ts";
import { createCmodStore } from "./store.ts";

const FORGET_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The configuration module over the collector's database, with its retention. */
export function openCmod(
  { configurations: keep }: Pick<Configuration, "configurations">,
  deps: Omit<Parameters<typeof createCmodService>[0], "store"> & {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly logger: Log; readonly lifecycle: Pick<Lifecycle, "onClose">;
  },
): ReturnType<typeof cmodRoutes> {
  const { clock } = deps;
  const store = createCmodStore(deps);
  const stop = clock.every(FORGET_EVERY_MS, () => {
    store.forget(toInstant(clock.now() - keep.keep_days * DAY_MS)).catch((error: unknown) =>
      deps.logger.error({ reason: describeError(error) }, "old configurations could not be forgotten, trying again in an hour"));
  });
  deps.lifecycle.onClose("configurations", async () => stop());
  return cmodRoutes(createCmodService({ ...deps, store }, { keepVersions: keep.keep_versions }));
}
