import { z } from "@hono/zod-openapi";
import { Alert, AlertMute, AlertMuteCreate, AlertsExportQuery, AlertsQuery, Id, IdPageQuery, listEnvelope } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { AlertsService } from "./service.ts";

const AlertParams = z.object({ alert_id: Id });
const MuteParams = z.object({ mute_id: Id });

const list = declareRoute("alerts:read", {
  method: "get",
  path: "/alerts",
  operationId: "listAlerts",
  summary: "List alerts",
  request: { query: AlertsQuery },
  responses: { 200: { description: "Alerts; their evidence without the bytes of packets", content: json(listEnvelope(Alert)) } },
});

const exportCsv = declareRoute("alerts:read", {
  method: "get",
  path: "/alerts/export",
  operationId: "exportAlerts",
  summary: "Export alerts as CSV",
  description: "All pages of the list in the format of RFC 4180, with a header line. "
    + "A cell that a spreadsheet would read as a formula begins with an apostrophe.",
  request: { query: AlertsExportQuery },
  responses: { 200: { description: "One line for each alert", content: { "text/csv": { schema: z.string() } } } },
});

const read = declareRoute("alerts:read", {
  method: "get",
  path: "/alerts/{alert_id}",
  operationId: "readAlert",
  summary: "Read an alert with its evidence",
  request: { params: AlertParams },
  responses: { 200: { description: "The alert", content: json(Alert) } },
});

const acknowledge = declareRoute("alerts:write", {
  method: "post",
  path: "/alerts/{alert_id}/acknowledge",
  operationId: "acknowledgeAlert",
  summary: "Acknowledge an alert",
  request: { params: AlertParams },
  responses: { 200: { description: "The alert, acknowledged", content: json(Alert) } },
});

const resolve = declareRoute("alerts:write", {
  method: "post",
  path: "/alerts/{alert_id}/resolve",
  operationId: "resolveAlert",
  summary: "Resolve an alert",
  description: "If it happens again, a new alert is raised.",
  request: { params: AlertParams },
  responses: { 200: { description: "The alert, resolved", content: json(Alert) } },
});

const mutes = declareRoute("alerts:read", {
  method: "get",
  path: "/alerts/mutes",
  operationId: "listAlertMutes",
  summary: "List mutes",
  request: { query: IdPageQuery },
  responses: { 200: { description: "Mutes that have not expired, oldest first", content: json(listEnvelope(AlertMute)) } },
});

const mute = declareRoute("alerts:write", {
  method: "post",
  path: "/alerts/mutes",
  operationId: "createAlertMute",
  summary: "Mute alerts",
  description: "Muted alerts are counted and listed, but nobody is notified.",
  request: { body: jsonBody(AlertMuteCreate) },
  responses: { 201: { description: "The mute", content: json(AlertMute) } },
});

const readMute = declareRoute("alerts:read", {
  method: "get",
  path: "/alerts/mutes/{mute_id}",
  operationId: "readAlertMute",
  summary: "Read a mute",
  request: { params: MuteParams },
  responses: { 200: { description: "The mute", content: json(AlertMute) } },
});

const unmute = declareRoute("alerts:write", {
  method: "delete",
  path: "/alerts/mutes/{mute_id}",
  operationId: "deleteAlertMute",
  summary: "End a mute",
  request: { params: MuteParams },
  responses: { 204: { description: "Ended" } },
});

/** `/alerts`, and before it `/alerts/mutes` and `/alerts/export`, so that neither is taken for an alert's id. */
export function alertsRoutes(service: AlertsService) {
  const router = createRouter();
  router.openapi(exportCsv, async (c) =>
    answerCsv(c, "alerts.csv", await service.exportCsv(identityOf(c).tenantId, c.req.valid("query"))));
  router.openapi(mutes, async (c) => c.json(toAnswer(await service.mutes(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(readMute, async (c) => c.json(await service.readMute(identityOf(c).tenantId, c.req.valid("param").mute_id), 200));
  router.openapi(mute, async (c) => {
    const made = await service.mute(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/alerts/mutes/${made.id}` });
  });
  router.openapi(unmute, async (c) => {
    await service.unmute(actorOf(c), c.req.valid("param").mute_id);
    return c.body(null, 204);
  });
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").alert_id), 200));
  router.openapi(acknowledge, async (c) => c.json(await service.acknowledge(actorOf(c), c.req.valid("param").alert_id), 200));
  router.openapi(resolve, async (c) => c.json(await service.resolve(actorOf(c), c.req.valid("param").alert_id), 200));
  return router;
}
