import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import { createRetention } from "../../retention/events.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { EventSettings } from "./configuration.ts";
import { eventsRoutes } from "./routes.ts";
import { createEventsService } from "./service.ts";
import { createEventsStore } from "./store.ts";

/** Who reads the event log, and what keeps it within an age and a size. */
export function openEvents(
  { events }: { readonly events: EventSettings },
  deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly log: EventLog; readonly clock: Clock; readonly logger: Log },
): ServiceModule {
  const { db, reads, log, clock, logger } = deps;
  return {
    name: "events", mount: "gateway", routes: [eventsRoutes(createEventsService({ store: createEventsStore({ reads }), log, clock }))],
    retention: [createRetention({ db, clock, log: logger }, { keepDays: events.keep_days, keepBytes: events.keep_megabytes * 1e6 })],
  };
}
