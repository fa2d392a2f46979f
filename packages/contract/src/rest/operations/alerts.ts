import * as z from "zod";
import { Id } from "../../values.ts";
import { BulkResult } from "../bulk.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { Alert, AlertAction, AlertBulkRequest, AlertMute, AlertMuteCreate, AlertsExportQuery, AlertsQuery } from "../alerts.ts";
import { AlertFacets, AlertFacetsQuery } from "../facets.ts";
import { operations } from "../operation.ts";

const OfMute = z.object({ mute_id: Id });
const OfAlert = z.object({ alert_id: Id });

/** Alerts and their mutes. */
export const alertsOperations = operations({
  /** The whole list as CSV, with the list's filters. */
  exportAlerts: { target: "GET /alerts/export", query: AlertsExportQuery, status: 200, content: "text/csv" },
  /** How often values occur in the list. */
  countAlerts: { target: "GET /alerts/facets", query: AlertFacetsQuery, status: 200, answer: AlertFacets },
  listAlertMutes: { target: "GET /alerts/mutes", query: IdPageQuery, status: 200, answer: listEnvelope(AlertMute) },
  readAlertMute: { target: "GET /alerts/mutes/{mute_id}", params: OfMute, status: 200, answer: AlertMute },
  createAlertMute: { target: "POST /alerts/mutes", body: AlertMuteCreate, status: 201, answer: AlertMute },
  deleteAlertMute: { target: "DELETE /alerts/mutes/{mute_id}", params: OfMute, status: 204 },
  listAlerts: { target: "GET /alerts", query: AlertsQuery, status: 200, answer: listEnvelope(Alert) },
  /** One change of all alerts that a filter leaves. */
  changeAlerts: { target: "POST /alerts/bulk", body: AlertBulkRequest, status: 200, answer: BulkResult },
  /** What people did with an alert. */
  listAlertHistory: { target: "GET /alerts/{alert_id}/history", params: OfAlert, query: IdPageQuery, status: 200, answer: listEnvelope(AlertAction) },
  readAlert: { target: "GET /alerts/{alert_id}", params: OfAlert, status: 200, answer: Alert },
  acknowledgeAlert: { target: "POST /alerts/{alert_id}/acknowledge", params: OfAlert, status: 200, answer: Alert },
  resolveAlert: { target: "POST /alerts/{alert_id}/resolve", params: OfAlert, status: 200, answer: Alert },
});
