import { eventsOperations } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { conflict } from "../../gateway/route.ts";
import type { EventsService } from "./service.ts";

const { endpoint, routes } = endpointsOf<EventsService>();

/** `/events`. */
export const eventsRoutes = routes(
  endpoint("devices:read", eventsOperations.listEvents, {
    summary: "List events, oldest first",
    description: "The tenant's log, as the stream and webhooks send it. Begin with `since`, follow `cursor` to the end, and continue later with "
    + "`since` set to the last `position`. Events of alerts, scans and backups need the scope that reads those too. If the log "
    + "no longer reaches back as far, the answer is 409 with `details.resume_from`.",
    answer: "Events in the order of their `seq`", also: conflict("The log no longer reaches back as far"),
  }, async (c, service) => c.json(await service.list(identityOf(c), c.req.valid("query")), 200)),
);
