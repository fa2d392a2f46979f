import {
  type AnomaliesPart, type AnomaliesQuery, type AnomalyDetails, AnomalyDetected, type AnomalyFeedback, type AnomalyFeedbackCreate, type AnomalyKind, type AnomalyModel, type AnomalyRow, type List,
  MAX_ACCEPTED_ANOMALIES, momentToInstant, ProbeHealth, type Severity,
} from "@lanthorn/contract";
import { alertIdOf, type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../gateway/errors.ts";
import { type IdPage, pageById, pageOfAll } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { toPart } from "./reaction.ts";
import type { AnomaliesStore, AnomalyRecord, FeedbackRow, RaisedAnomaly, WatchingProbe } from "./store.ts";

/** What devices do that is not usual for them, and what people say of it. */
export interface AnomaliesService {
  /** Newest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: AnomaliesQuery): Promise<List<AnomalyRow>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<AnomalyDetails>;
  /** It is normal, from now on and before: it goes to the site's probes, and alerts that it covers are resolved. @throws ApiError NOT_FOUND; BAD_REQUEST; CONFLICT where there is too much. */
  say(actor: Actor, id: string, said: AnomalyFeedbackCreate): Promise<AnomalyFeedback>;
  /** Oldest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  listFeedback(tenantId: string, query: IdPage & { readonly site_id?: string | undefined }): Promise<List<AnomalyFeedback>>;
  /** @throws ApiError NOT_FOUND. */
  removeFeedback(actor: Actor, id: string): Promise<void>;
  models(tenantId: string, page: IdPage): Promise<List<AnomalyModel>>;
  /** What is sent to a site's probes; undefined where nothing was said. */
  partFor(siteId: string): Promise<AnomaliesPart | undefined>;
}

/** Ids of the captures of an alert, the newest first. */
export type CapturesOf = (tenantId: string, alertId: string) => Promise<string[]>;

const HOUR_MS = 3_600_000;
/** Of each kind. */
const MAX_AROUND = 6;
/** Open alerts are far fewer. */
const MAX_RESOLVED = 100;

/**
 * @param deps.onConfigured See `GuardsDependencies`.
 * @param deps.resolveAlert Resolves an alert; one that is not there is passed over.
 * @param deps.capturesOf Captures of which a probe said that they are of the alert.
 */
export function createAnomaliesService({ store, audit, clock, onConfigured, resolveAlert, capturesOf }: {
  readonly store: AnomaliesStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly onConfigured: (siteId: string) => Promise<void>;
  readonly resolveAlert: (actor: Actor, alertId: string) => Promise<unknown>; readonly capturesOf: CapturesOf;
}): AnomaliesService {
  const now = () => toInstant(clock.now());
  const require = async (tenantId: string, id: string) => {
    const row = await store.byId(tenantId, id);
    if (!row) throw notFound("anomaly");
    return row;
  };

  return {
    async list(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      const instantOf = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()) ?? undefined);
      const filter = { siteId: query.site_id, deviceId: query.device_id, kinds: query.kind, isAlert: query.is_alert, isNormal: query.is_normal, since: instantOf(query.since), until: instantOf(query.until) };
      return pageById(query, { read: async (rows) => store.withAlerts(tenantId, await store.list(tenantId, filter, rows)), count: () => store.count(tenantId, filter), show: toRow });
    },

    async read(tenantId, id) {
      const record = await require(tenantId, id);
      const [row = { ...record, alertId: null }] = await store.withAlerts(tenantId, [record]);
      const data = dataOf(row);
      const since = toInstant(Date.parse(data.since ?? row.found_at) - HOUR_MS);
      const happenings = await store.happenings(row.site_id, { since, until: row.found_at, limit: MAX_AROUND });
      // The probe knows its captures by the alert that this would have raised by itself.
      const captured = row.is_alert === 0 ? null : row.probe_id === null ? row.alertId : alertIdOf(row.probe_id, row.incident_id);
      return {
        ...toRow(row), pcap_ids: captured === null ? [] : await capturesOf(tenantId, captured), features: data.features ?? [], peers: data.peers ?? [], news: data.news ?? [], series: data.series ?? null, site_series: data.site_series ?? [], feedback_id: row.feedback_id,
        around: happenings.map(({ type, occurred_at: at, device_id: deviceId }) => ({ type, at, device_id: deviceId })),
      };
    },

    async say(actor, id, { scope, until, reason }) {
      const row = await require(actor.tenantId, id);
      const at = now();
      if (until !== undefined && until <= at) throw badRequest([{ path: ["until"], message: "must be in the future" }]);
      if (scope === "group" && row.device_group === "") throw badRequest([{ path: ["scope"], message: "the device has no like devices yet: say it of the device" }]);
      const isOfDevice = scope === "device";
      const feedback: FeedbackRow = {
        id: createId(), tenant_id: actor.tenantId, site_id: row.site_id, kind: row.kind, device: isOfDevice ? row.device : null, device_group: isOfDevice ? null : row.device_group, reason,
        created_by: actor.name, created_at: at, expires_at: until ?? null,
      };
      const covered = await store.transaction(async (trx) => {
        await store.reviseSite(trx, row.tenant_id, row.site_id);
        await store.forgetExpired(trx, row.site_id, at);
        if ((await store.feedback(trx, { tenantId: actor.tenantId, siteId: row.site_id }, at)).length >= MAX_ACCEPTED_ANOMALIES) {
          throw new ApiError("CONFLICT", `the site has feedback on ${MAX_ACCEPTED_ANOMALIES} anomalies already: delete some, or say it of a group`);
        }
        await store.addFeedback(trx, feedback);
        await audit(trx, { actor, action: "anomaly_feedback.create", target: { type: "anomaly_feedback", id: feedback.id }, before: null, after: toFeedback(feedback) });
        return store.markNormal(trx, feedback, MAX_RESOLVED);
      });
      void onConfigured(row.site_id);
      const alertIds = (await store.withAlerts(actor.tenantId, covered)).flatMap(({ alertId }) => alertId ?? []);
      for (const alertId of new Set(alertIds)) await resolveAlert(actor, alertId).catch(passNotFound);
      return toFeedback(feedback);
    },

    async listFeedback(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      return pageOfAll((await store.feedback(null, { tenantId, siteId: query.site_id }, now())).map(toFeedback), query, ({ id }) => id);
    },

    async removeFeedback(actor, id) {
      const removed = await store.transaction(async (trx) => {
        const row = await store.removeFeedback(trx, actor.tenantId, id);
        if (!row) throw notFound("anomaly feedback");
        await store.reviseSite(trx, row.tenant_id, row.site_id);
        await audit(trx, { actor, action: "anomaly_feedback.delete", target: { type: "anomaly_feedback", id }, before: toFeedback(row), after: null });
        return row;
      });
      void onConfigured(removed.site_id);
    },

    models: async (tenantId, page) => pageOfAll((await store.probes(tenantId)).map(toModel), page, ({ probe_id: id }) => id),
    partFor: async (siteId) => toPart(await store.feedback(null, { siteId }, now())),
  };
}

function passNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.code === "NOT_FOUND")) throw error;
}

/** What the event said when it was taken. */
function dataOf({ data }: AnomalyRecord): AnomalyDetected {
  return AnomalyDetected.parse(JSON.parse(data));
}

function toRow(row: RaisedAnomaly): AnomalyRow {
  const data = dataOf(row);
  const first = data.features?.[0];
  return {
    id: row.id, site_id: row.site_id, probe_id: row.probe_id, device_id: row.device_id, kind: row.kind as AnomalyKind, device: row.device, ip: row.ip, mac: row.mac, group: row.device_group,
    severity: row.severity as Severity, score: data.score, metric: data.metric, observed: data.observed, expected_low: first?.expected_low ?? data.expected, expected_high: first?.expected_high ?? data.expected,
    usual: first?.usual ?? data.expected, explanation: data.explanation, techniques: data.mitre_techniques ?? [], since: data.since ?? row.found_at, found_at: row.found_at,
    is_alert: row.is_alert === 1, alert_id: row.alertId, is_normal: row.feedback_id !== null,
  };
}

function toFeedback({ id, site_id, kind, device, device_group: group, reason, created_by, created_at, expires_at: until }: FeedbackRow): AnomalyFeedback {
  return { id, site_id, kind: kind as AnomalyKind, device, group, reason, created_by, created_at, until };
}

const ReportedHealth = ProbeHealth.pick({ traffic: true, coverage: true, interface: true }).partial();

/** What a probe reported of what it learns. */
export function toModel({ id, site_id, name, presence, health }: WatchingProbe): AnomalyModel {
  const reported = health === null ? null : ReportedHealth.safeParse(JSON.parse(health));
  const { traffic, coverage, interface: own } = reported?.success ? reported.data : {};
  const isSame = traffic?.interfaces.some((one) => one.name === own?.name) === true;
  return { probe_id: id, site_id, name, is_online: presence === "online", other_hosts: (isSame ? coverage?.other_hosts.value : undefined) ?? null, state: traffic?.anomaly ?? null };
}
