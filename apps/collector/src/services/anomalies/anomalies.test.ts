import { Alert, AnomalyDetails, AnomalyFeedback, AnomalyRow, type EventData, listEnvelope, ProbeConfiguration, type ProbeHealth, type TrafficHealth } from "@lanthorn/contract";
import { alertIdOf, createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { enrollListening } from "../agents/testing/listening-probe.ts";
import { startStack } from "../agents/testing/stack.ts";
import { openPcapBench } from "../pcap/testing/pcap-bench.ts";
import { type Anomalies, openAnomalies } from "./open.ts";

const NOW = Date.UTC(2026, 5, 1, 12);
const MAC = "02:00:00:00:00:07";
const DATA: Required<EventData<"anomaly_detected">> = {
  metric: "fan_out", ip: "10.0.0.7", mac: MAC, score: 0.8, expected: 0, observed: 190, severity: "medium", explanation: "It asked very many hosts or ports.", kind: "scan", device: MAC, group: "uses tcp/443",
  features: [{ name: "fan_out", share: 1, observed: 190, expected_low: 0, expected_high: 2.3, usual: 0 }], since: toInstant(NOW - 3_600_000), peers: ["10.0.0.20"], news: [],
  series: { bucket_seconds: 300, ends_at: toInstant(NOW), values: [0, 0, 190] }, site_series: [{ name: "failed_flows", score: 0.6, observed: 190, at: toInstant(NOW) }], mitre_techniques: ["T1046"], is_alert: true, incident_id: createId(),
};

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
let anomalies: Anomalies;
let configured: string[];
beforeEach(async () => {
  [clock, configured] = [createFakeClock(NOW), []];
  gateway = await startTestGateway({
    clock, alerts: true,
    modules(parts) {
      anomalies = openAnomalies({ ...parts, log: silentLog, onConfigured: async (siteId) => void configured.push(siteId), ask: () => Promise.reject(new Error("nobody is asked here")), capturesOf: () => Promise.resolve([]), publishCountries: () => Promise.resolve(true) }, { keepDays: 30 });
      return [anomalies];
    },
  });
  tenant = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const report = (data: Partial<EventData<"anomaly_detected">> = {}, probeId: string | null = null) =>
  gateway.append(tenant, [{ type: "anomaly_detected", occurredAt: toInstant(clock.now()), probeId, data: { ...DATA, incident_id: createId(), ...data } }]);
const list = async (query = "", of = tenant) => listEnvelope(AnomalyRow).parse((await gateway.get(`/api/v1/anomalies${query}`, of.token)).body);
const alerts = async () => listEnvelope(Alert).parse((await gateway.get("/api/v1/alerts?source=anomaly", tenant.token)).body).data;
const say = (id: string, body: object) => gateway.call("POST", `/api/v1/anomalies/${id}/feedback`, tenant.token, body);

describe("anomalies of devices", () => {
  test("are listed with filters and pages, read with what explains them, and one incident is one", async () => {
    const incident = createId();
    await gateway.append(tenant, [{ type: "config_changed", occurredAt: toInstant(NOW - 60_000), data: { ip: "10.0.0.9", hostname: "sw", version: 2, changed_by: "", lines_added: 1, lines_removed: 0 } }]);
    await report({ incident_id: incident });
    await report({ incident_id: incident });
    await report({ kind: "beacon", is_alert: false, device: "10.1.0.9", mac: "", ip: "10.1.0.9" });
    const all = await list();
    expect(all).toMatchObject({ data: [{ kind: "beacon", is_alert: false, device: "10.1.0.9" }, { kind: "scan", is_alert: true, expected_high: 2.3, techniques: ["T1046"], is_normal: false }], meta: { total: 2 } });
    const page = await list("?per_page=1");
    expect((await list(`?per_page=1&cursor=${page.meta.next_cursor}`)).data).toEqual(all.data.slice(1));
    for (const [query, total] of [["?kind=scan,exfiltration", 1], ["?is_alert=false", 1], ["?is_normal=true", 0], ["?since=1h", 2], ["?until=1h", 0], [`?site_id=${tenant.siteId}`, 2], [`?device_id=${createId()}`, 0]] as const) {
      expect([query, (await list(query)).meta.total]).toEqual([query, total]);
    }
    expect((await gateway.get(`/api/v1/anomalies?site_id=${createId()}`, tenant.token)).status).toBe(404);
    const details = AnomalyDetails.parse((await gateway.get(`/api/v1/anomalies/${all.data[1]?.id}`, tenant.token)).body);
    expect(details).toMatchObject({ features: DATA.features, series: DATA.series, site_series: DATA.site_series, peers: DATA.peers, feedback_id: null, around: [{ type: "config_changed" }] });
    const other = await gateway.createTenant("operator");
    expect([(await list("", other)).meta.total, (await gateway.get(`/api/v1/anomalies/${details.id}`, other.token)).status]).toEqual([0, 404]);
  });

  test("are read with the first of each kind of what changed at the site, however many devices were new", async () => {
    const [found, around] = [NOW - 3_600_000, NOW - 4_000_000];
    const host = (turn: number) => ({ ip: `10.0.1.${turn}`, mac: "", hostname: "", vendor: "", addresses: [], evidence: [] });
    await gateway.append(tenant, Array.from({ length: 30 }, (_, turn) => ({ type: "host_found" as const, occurredAt: toInstant(around + turn), data: host(turn) })));
    await gateway.append(tenant, [
      { type: "config_changed", occurredAt: toInstant(around + 40), data: { ip: "10.0.0.9", hostname: "sw", version: 2, changed_by: "", lines_added: 1, lines_removed: 0 } },
      { type: "scan_started", occurredAt: toInstant(around + 35), data: { scan_id: createId(), type: "discovery", target: "10.0.0.0/24", hosts_total: 254 } },
      { type: "config_changed", occurredAt: toInstant(found - 3_600_001), data: { ip: "10.0.0.9", hostname: "sw", version: 1, changed_by: "", lines_added: 1, lines_removed: 0 } },
    ]);
    await report();
    const { id } = (await list()).data[0] ?? {};
    const details = AnomalyDetails.parse((await gateway.get(`/api/v1/anomalies/${id}`, tenant.token)).body);
    expect(details.around.map(({ type, at }) => [type, Date.parse(at) - around])).toEqual([...Array.from({ length: 6 }, (_, turn) => ["host_found", turn]), ["scan_started", 35], ["config_changed", 40]]);
  });

  test("of a kind whose alert is open are a part of that alert", async () => {
    const probeId = createId();
    await report({}, probeId);
    await clock.leap(3_600_000);
    await report({}, probeId);
    await report({ device: "02:00:00:00:00:08", is_alert: false }, probeId);
    const [alert] = await alerts();
    expect((await list()).data.map(({ alert_id: id }) => id)).toEqual([null, alert?.id, alert?.id]);
  });

  test("raise an alert, unless they are beyond the day's budget", async () => {
    await report({ is_alert: false });
    expect(await alerts()).toEqual([]);
    await report();
    expect(await alerts()).toMatchObject([{ type: "anomaly", severity: "medium", title: "10.0.0.7 asks unusually many hosts or ports", device_ip: "10.0.0.7" }]);
  });

  test("that are normal, are so from before and from now on: alerts are resolved, probes get it, and nothing more is raised", async () => {
    const probeId = createId();
    await report({}, probeId);
    await report({ kind: "beacon" }, probeId);
    const [, scan] = (await list()).data;
    const said = await say(scan?.id ?? "", { until: toInstant(NOW + 3_600_000), reason: "our scanner" });
    expect(said.status).toBe(201);
    const feedback = AnomalyFeedback.parse(said.body);
    expect(feedback).toMatchObject({ kind: "scan", device: MAC, group: null, reason: "our scanner", until: toInstant(NOW + 3_600_000) });
    expect((await list("?is_normal=true")).data).toMatchObject([{ id: scan?.id }]);
    expect(configured).toEqual([tenant.siteId]);
    expect(await anomalies.partFor(tenant.siteId)).toEqual({ accepted: [{ kind: "scan", device: MAC, until: feedback.until }] });
    await report({ incident_id: createId() }, probeId);
    expect((await list("?is_normal=true")).data.map(({ is_alert: isAlert }) => isAlert)).toEqual([false, true]);
    expect((await alerts()).filter(({ status }) => status === "open")).toHaveLength(1);
    await clock.leap(2 * 3_600_000);
    expect(await anomalies.partFor(tenant.siteId)).toBeUndefined();
    await report({}, probeId);
    expect((await list("?is_normal=false&kind=scan")).data).toMatchObject([{ is_alert: true }]);
  });

  test("of a group are normal for all like devices, and are reported again when that is taken back", async () => {
    await report();
    const [first] = (await list()).data;
    const { id } = AnomalyFeedback.parse((await say(first?.id ?? "", { scope: "group" })).body);
    await report({ device: "02:00:00:00:00:08" });
    expect((await list("?is_normal=true")).meta.total).toBe(2);
    expect(listEnvelope(AnomalyFeedback).parse((await gateway.get("/api/v1/anomalies/feedback", tenant.token)).body).data).toMatchObject([{ id, group: "uses tcp/443", device: null }]);
    expect((await gateway.call("DELETE", `/api/v1/anomalies/feedback/${id}`, tenant.token)).status).toBe(204);
    expect([(await list("?is_normal=true")).meta.total, await anomalies.partFor(tenant.siteId)]).toEqual([0, undefined]);
    expect((await gateway.call("DELETE", `/api/v1/anomalies/feedback/${id}`, tenant.token)).status).toBe(404);
    await report({ group: "" });
    const [last] = (await list()).data;
    for (const body of [{ scope: "group" }, { until: toInstant(NOW - 1) }, { scope: "all" }, { until: "tomorrow" }]) expect([body, (await say(last?.id ?? "", body)).status]).toEqual([body, 400]);
    expect((await say(createId(), {})).status).toBe(404);
    const viewer = await gateway.createUser(tenant, "viewer");
    expect((await gateway.call("POST", `/api/v1/anomalies/${last?.id}/feedback`, viewer.token, {})).status).toBe(403);
  });

  test("are forgotten after a month", async () => {
    await report();
    await clock.leap(31 * 86_400_000);
    await anomalies.retention?.[0]?.run();
    expect(await gateway.db.selectFrom("anomalies").select("id").execute()).toEqual([]);
  });
});

test("an anomaly has the captures that its probe made as it was found, also where its alert was raised by an earlier one", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const { database: { db }, tenantId, siteId } = bench.stack;
  const [incident, id] = [createId(), createId()];
  await db.insertInto("anomalies").values({
    id, tenant_id: tenantId, site_id: siteId, probe_id: probe.probeId, incident_id: incident, device_id: null, kind: "scan", device: MAC, device_group: "", ip: "", mac: MAC,
    severity: "medium", is_alert: 1, feedback_id: null, found_at: toInstant(NOW), data: JSON.stringify(DATA),
  }).execute();
  const captures = async () => AnomalyDetails.parse((await bench.call("GET", `/anomalies/${id}`)).body).pcap_ids;
  expect(await captures()).toEqual([]);
  const mine = await bench.stored(probe, Buffer.from("packets"), { alert_ids: [alertIdOf(probe.probeId, incident)] });
  await bench.stored(probe, Buffer.from("others"), { alert_ids: [createId()] });
  expect(await captures()).toEqual([mine]);
  await db.updateTable("anomalies").set({ is_alert: 0 }).execute();
  expect(await captures()).toEqual([]);
});

test("what is normal reaches the site's probes, and the models are as they report", async () => {
  const stack = await startStack();
  const probe = await enrollListening(stack);
  try {
    await stack.database.db.insertInto("anomalies").values({
      id: createId(), tenant_id: stack.tenantId, site_id: stack.siteId, probe_id: probe.probeId, incident_id: createId(), device_id: null, kind: "scan", device: MAC, device_group: "", ip: "", mac: MAC,
      severity: "medium", is_alert: 0, feedback_id: null, found_at: toInstant(NOW), data: JSON.stringify(DATA),
    }).execute();
    const [row] = listEnvelope(AnomalyRow).parse((await stack.call("GET", "/api/v1/anomalies")).body).data;
    expect((await stack.call("POST", `/api/v1/anomalies/${row?.id}/feedback`, { body: {} })).status).toBe(201);
    const sent = await probe.hears(({ anomalies: part }) => part !== undefined);
    expect(ProbeConfiguration.parse(sent).anomalies).toEqual({ accepted: [{ kind: "scan", device: MAC }] });
    const state: NonNullable<TrafficHealth["anomaly"]> = {
      learning: 2, active: 7, drifted: 0, frozen: 0, evicted: 0, compared_hours: 30, distrusted_hours: 1, clock_steps: 0, found: 1, held_back: 0, suppressed: 0, left_out: 0, flows_left_out: 0, damaged: 0,
    };
    const traffic: ProbeHealth["traffic"] = { state: "running", error: null, memory_bytes: 1, restarts: 0, gap: null, interfaces: [], shed: [], ring: { seconds: 0, bytes: 0 }, captures: [], continuous: null, anomaly: state };
    const models = async () => (await stack.call("GET", "/api/v1/anomalies/models")).body.data as unknown;
    expect(await models()).toMatchObject([{ probe_id: probe.probeId, state: null }]);
    await probe.report({ traffic });
    await expect.poll(models).toMatchObject([{ probe_id: probe.probeId, site_id: stack.siteId, is_online: true, state }]);
  } finally {
    probe.end();
    await stack.close();
  }
});
