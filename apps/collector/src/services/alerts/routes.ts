import { z } from "@hono/zod-openapi";
import { Alert, AlertMute, AlertMuteCreate, AlertsExportQuery, AlertsQuery, Id, IdPageQuery, listEnvelope } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { AlertsService } from "./service.ts";

const AlertParams = z.object({ alert_id: Id });
const MuteParams = z.object({ mute_id: Id });

const { endpoint, routes } = endpointsOf<AlertsService>();

/** `/alerts`, and before it `/alerts/mutes` and `/alerts/export`, so that neither is taken for an alert's id. */
export const alertsRoutes = routes(
  endpoint("alerts:read", "GET /alerts/export", {
    operationId: "exportAlerts", summary: "Export alerts as CSV",
    description: "All pages of the list in the format of RFC 4180, with a header line. "
    + "A cell that a spreadsheet would read as a formula begins with an apostrophe.",
    query: AlertsExportQuery, answer: [200, "One line for each alert", { "text/csv": { schema: z.string() } }],
  }, async (c, service) =>
    answerCsv(c, "alerts.csv", await service.exportCsv(identityOf(c).tenantId, c.req.valid("query")))),
  endpoint("alerts:read", "GET /alerts/mutes", {
    operationId: "listAlertMutes", summary: "List mutes", query: IdPageQuery,
    answer: [200, "Mutes that have not expired, oldest first", listEnvelope(AlertMute)],
  }, async (c, service) => c.json(toAnswer(await service.mutes(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("alerts:read", "GET /alerts/mutes/{mute_id}", {
    operationId: "readAlertMute", summary: "Read a mute", params: MuteParams, answer: [200, "The mute", AlertMute],
  }, async (c, service) => c.json(await service.readMute(identityOf(c).tenantId, c.req.valid("param").mute_id), 200)),
  endpoint("alerts:write", "POST /alerts/mutes", {
    operationId: "createAlertMute", summary: "Mute alerts", description: "Muted alerts are counted and listed, but nobody is notified.",
    body: jsonBody(AlertMuteCreate), answer: [201, "The mute", AlertMute],
  }, async (c, service) => {
    const made = await service.mute(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/alerts/mutes/${made.id}` });
  }),
  endpoint("alerts:write", "DELETE /alerts/mutes/{mute_id}", {
    operationId: "deleteAlertMute", summary: "End a mute", params: MuteParams, answer: [204, "Ended"],
  }, async (c, service) => {
    await service.unmute(actorOf(c), c.req.valid("param").mute_id);
    return c.body(null, 204);
  }),
  endpoint("alerts:read", "GET /alerts", {
    operationId: "listAlerts", summary: "List alerts", query: AlertsQuery,
    answer: [200, "Alerts; their evidence without the bytes of packets", listEnvelope(Alert)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("alerts:read", "GET /alerts/{alert_id}", {
    operationId: "readAlert", summary: "Read an alert with its evidence", params: AlertParams, answer: [200, "The alert", Alert],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").alert_id), 200)),
  endpoint("alerts:write", "POST /alerts/{alert_id}/acknowledge", {
    operationId: "acknowledgeAlert", summary: "Acknowledge an alert", params: AlertParams, answer: [200, "The alert, acknowledged", Alert],
  }, async (c, service) => c.json(await service.acknowledge(actorOf(c), c.req.valid("param").alert_id), 200)),
  endpoint("alerts:write", "POST /alerts/{alert_id}/resolve", {
    operationId: "resolveAlert", summary: "Resolve an alert", description: "If it happens again, a new alert is raised.",
    params: AlertParams, answer: [200, "The alert, resolved", Alert],
  }, async (c, service) => c.json(await service.resolve(actorOf(c), c.req.valid("param").alert_id), 200)),
);
