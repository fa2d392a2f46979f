import { anomaliesOperations } from "@lanthorn/contract";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import type { LearnedService } from "./learned.ts";
import type { AnomaliesService } from "./service.ts";

const { endpoint, routes } = endpointsOf<{ readonly anomalies: AnomaliesService; readonly learned: LearnedService }>();

/** `/anomalies` and what is below it. */
export const anomaliesRoutes = routes(
  endpoint("sensors:read", anomaliesOperations.listAnomalies, {
    summary: "List anomalies",
    description: "What devices did that is not usual for them and their like, as probes found it that read all traffic. Those beyond a day's budget of alerts are here too (`is_alert` false).",
    answer: "Anomalies, the newest first",
  }, async (c, { anomalies }) => c.json(toAnswer(await anomalies.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", anomaliesOperations.listAnomalyFeedback, {
    summary: "List what is said to be normal", answer: "Feedback that has not expired, the oldest first",
  }, async (c, { anomalies }) => c.json(toAnswer(await anomalies.listFeedback(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:write", anomaliesOperations.deleteAnomalyFeedback, {
    summary: "Take feedback back", description: "The site's probes get it at once, or when they reconnect. Alerts that it resolved stay resolved.", answer: "Deleted: it is reported again",
  }, async (c, { anomalies }) => {
    await anomalies.removeFeedback(actorOf(c), c.req.valid("param").anomaly_feedback_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", anomaliesOperations.listAnomalyModels, {
    summary: "List how probes watch behavior",
    description: "How many devices each probe knows: those that it still learns, and raises nothing of, and those that it compares. What is learned stays on the probe.",
    answer: "Probes that are not revoked",
  }, async (c, { anomalies }) => c.json(toAnswer(await anomalies.models(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", anomaliesOperations.listAnomalyModelDevices, {
    summary: "List the devices that a probe learns",
    description: "With the state of each, and since when: `learning`, `active`, `drifted` or `frozen`. What is learned stays on the probe, which is asked.",
    answer: "Devices by their names at the probe",
  }, async (c, { learned }) => c.json(toAnswer(await learned.list(identityOf(c).tenantId, c.req.valid("param").probe_id, c.req.valid("query"))), 200)),
  endpoint("sensors:write", anomaliesOperations.freezeAnomalyModel, {
    summary: "Freeze what a probe learned",
    description: "Of a device, or of all devices that it knows. A frozen device is compared with what is usual for it and not learned, as while a site is changed. The probe is asked and keeps it, also over restarts; `is_frozen: false` has it learn again.",
    example: { is_frozen: true }, answer: "How many devices the probe changed",
  }, async (c, { learned }) => c.json(await learned.freeze(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json")), 200)),
  endpoint("sensors:write", anomaliesOperations.resetAnomalyModel, {
    summary: "Have a probe learn anew",
    description: "A device, or all that it knows with their groups. Nothing is reported of a device until it is learned again, for a week, or for a day where its group is known. What was said to be normal stays so.",
    example: {}, answer: "How many devices the probe forgot",
  }, async (c, { learned }) => c.json(await learned.reset(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json")), 200)),
  endpoint("sensors:read", anomaliesOperations.readDeviceBehaviour, {
    summary: "Read what is usual for a device",
    description: "By hour of working days and weekends, with the peers, ports and names that it usually has to do with, and its state. What is learned stays on the probes: those of the site are asked, and one that is away says so in `problem`.",
    answer: "What each probe of the site learned of it",
  }, async (c, { learned }) => c.json(await learned.read(identityOf(c).tenantId, c.req.valid("param").device_id), 200)),
  endpoint("sensors:read", anomaliesOperations.readAnomaly, {
    summary: "Read an anomaly", description: "With the features that weigh most, the hours before, what changed at the site at that time, and the captures of its alert.", answer: "The anomaly",
  }, async (c, { anomalies }) => c.json(await anomalies.read(identityOf(c).tenantId, c.req.valid("param").anomaly_id), 200)),
  endpoint("sensors:write", anomaliesOperations.createAnomalyFeedback, {
    summary: "Say that an anomaly is normal",
    description: "Of this kind, for the device or for all like it, always or until a time. It goes to the site's probes, which report it no more; anomalies from before count as normal too, and their alerts are resolved. A site has feedback on at most 256.",
    example: { scope: "device", until: "2099-12-31T00:00:00.000Z", reason: "the yearly archive" }, answer: "The feedback",
  }, async (c, { anomalies }) => c.json(await anomalies.say(actorOf(c), c.req.valid("param").anomaly_id, c.req.valid("json")), 201)),
);
