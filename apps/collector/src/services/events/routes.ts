import { EventsPage, EventsQuery } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { conflict, createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { EventsService } from "./service.ts";

const list = declareRoute("devices:read", {
  method: "get",
  path: "/events",
  operationId: "listEvents",
  summary: "List events, oldest first",
  description: "The tenant's log, as the stream and webhooks send it. Begin with `since`, follow `cursor` to the end, and continue later with "
    + "`since` set to the last `position`. Events of alerts, scans and backups need the scope that reads those too. If the log "
    + "no longer reaches back as far, the answer is 409 with `details.resume_from`.",
  request: { query: EventsQuery },
  responses: { 200: { description: "Events in the order of their `seq`", content: json(EventsPage) }, ...conflict("The log no longer reaches back as far") },
});

/** `/events`. */
export function eventsRoutes(service: EventsService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(await service.list(identityOf(c), c.req.valid("query")), 200));
  return router;
}
