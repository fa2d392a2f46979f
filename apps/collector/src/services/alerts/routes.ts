import { z } from "@hono/zod-openapi";
import { alertsOperations } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { AlertsService } from "./service.ts";

const { endpoint, routes } = endpointsOf<AlertsService>();

/** `/alerts`, and before it `/alerts/mutes`, `/alerts/export` and `/alerts/facets`, so that none is taken for an alert's id. */
export const alertsRoutes = routes(
  endpoint("alerts:read", alertsOperations.exportAlerts, {
    summary: "Export alerts as CSV", description: "All pages of the list in the format of RFC 4180, with a header line. "
    + "A cell that a spreadsheet would read as a formula begins with an apostrophe.",
    answer: [200, "One line for each alert", { "text/csv": { schema: z.string() } }],
  }, async (c, service) =>
    answerCsv(c, "alerts.csv", await service.exportCsv(identityOf(c).tenantId, c.req.valid("query")))),
  endpoint("alerts:read", alertsOperations.countAlerts, {
    summary: "Count the values of alerts", description: "How often each value occurs in the alerts that the list's filters leave.", answer: "The values",
  }, async (c, service) => c.json(await service.facets(identityOf(c).tenantId, c.req.valid("query")), 200)),
  endpoint("alerts:read", alertsOperations.listAlertMutes, {
    summary: "List mutes", answer: "Mutes that have not expired, oldest first",
  }, async (c, service) => c.json(toAnswer(await service.mutes(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("alerts:read", alertsOperations.readAlertMute, {
    summary: "Read a mute", answer: "The mute",
  }, async (c, service) => c.json(await service.readMute(identityOf(c).tenantId, c.req.valid("param").mute_id), 200)),
  endpoint("alerts:write", alertsOperations.createAlertMute, {
    summary: "Mute alerts", description: "Muted alerts are counted and listed, but nobody is notified. Of several mutes that match an alert the one that ends last counts: a shorter one shortens nothing.", answer: "The mute",
  }, async (c, service) => {
    const made = await service.mute(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/alerts/mutes/${made.id}` });
  }),
  endpoint("alerts:write", alertsOperations.deleteAlertMute, {
    summary: "End a mute", answer: "Ended",
  }, async (c, service) => {
    await service.unmute(actorOf(c), c.req.valid("param").mute_id);
    return c.body(null, 204);
  }),
  endpoint("alerts:read", alertsOperations.listAlerts, {
    summary: "List alerts", answer: "Alerts; their evidence without the bytes of packets",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("alerts:write", alertsOperations.changeAlerts, {
    summary: "Acknowledge, resolve or mute many alerts",
    description: "All that a text in the filter language leaves, or those of some `ids`. If their number is not `expected_count`, the answer is 409 with the "
    + "true one in `details.count`, and nothing is changed. Each is changed as by itself, with its own event, audit record and entry in its history, which "
    + "has the `note`. Muted they are by `muted_until`: one mute is made of each type, site and subject, as `POST /alerts/mutes` makes it, and none where one lasts as long already; if there were to be too many, the answer is 409 and nothing is changed. They are changed in pieces: "
    + "what fails midway leaves the rest as it was. A tenant has one bulk change of alerts at a time; a second one is answered 429.",
    example: { filter: "severity:<=low status:open seen:>7d", expected_count: 20, change: { status: "acknowledged", note: "TICKET-7: the new printers" } }, answer: "How many were changed",
  }, async (c, service) => c.json(await service.changeAll(actorOf(c), c.req.valid("json")), 200)),
  endpoint("alerts:read", alertsOperations.readAlert, {
    summary: "Read an alert with its evidence", answer: "The alert",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").alert_id), 200)),
  endpoint("alerts:read", alertsOperations.listAlertHistory, {
    summary: "List what was done with an alert", description: "Who acknowledged, resolved or muted it, when and why. What ended it by itself is its `resolved_by`.",
    answer: "Entries, the newest first",
  }, async (c, service) => c.json(toAnswer(await service.history(identityOf(c).tenantId, c.req.valid("param").alert_id, c.req.valid("query"))), 200)),
  endpoint("alerts:write", alertsOperations.acknowledgeAlert, {
    summary: "Acknowledge an alert", answer: "The alert, acknowledged",
  }, async (c, service) => c.json(await service.acknowledge(actorOf(c), c.req.valid("param").alert_id), 200)),
  endpoint("alerts:write", alertsOperations.resolveAlert, {
    summary: "Resolve an alert", description: "If it happens again, a new alert is raised.", answer: "The alert, resolved",
  }, async (c, service) => c.json(await service.resolve(actorOf(c), c.req.valid("param").alert_id), 200)),
);
