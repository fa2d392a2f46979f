import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alertIdOf, createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { type Command, DEFAULT_CAPTURE_SETTINGS, EVENTS, ProbeHealth, type TrafficHealth } from "@lanthorn/contract";
import { type BlockFrame, encodeFrameBlock, type TrafficCaptureOptions } from "@lanthorn/packet-io";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRequest } from "../../apps/collector/src/certificates/testing/request.ts";
import type { FromProcess } from "../../apps/probe/src/traffic/messages.ts";
import { openParts } from "../../apps/probe/src/traffic/process/open-parts.ts";
import { type Begin, createTrafficProcess, type TrafficProcess } from "../../apps/probe/src/traffic/process/traffic-process.ts";
import { TrafficSettings } from "../../apps/probe/src/traffic/settings.ts";
import { LAPTOP, ordinaryDays, scan } from "../../apps/probe/src/traffic/testing/site-weeks.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Collector, startCollector } from "./deployment.ts";
import { createSimulatedProbe, type SimulatedProbe } from "./simulated-probe.ts";

const DAY = 86_400;
/** Eleven days ago, 00:00 UTC: the days end yesterday. */
const BEGIN = (Math.floor(Date.now() / 1000 / DAY) - 11) * DAY;
const SCANNED_AT = BEGIN + 9 * DAY + 10 * 3600 + 60;

describe("a device that scans after a week and two days, of which the frames have the times", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-anomalies-"));
  const clock = createFakeClock(BEGIN * 1000);
  const processes: TrafficProcess[] = [];
  const said: FromProcess[] = [];
  let collector: Collector;
  let probe: SimulatedProbe;

  beforeAll(async () => {
    collector = await startCollector({ dataDir: join(dataDir, "collector"), host: "127.0.0.1" });
    const { rest } = collector;
    const site = (await rest.listSites()).data[0];
    const { token } = await rest.createEnrollmentToken({ site_id: site?.id ?? "" });
    const { key, request } = await createRequest();
    const identity = await rest.enrollProbe({ token, certificate_request: request, name: "box" });
    probe = createSimulatedProbe({
      host: "127.0.0.1", port: Number(new URL(String(collector.ready["mqtt_url"])).port), ca: identity.ca_certificate, key, certificate: identity.certificate, tenantId: identity.tenant_id, probeId: identity.probe_id,
    }, { onCommand: carryOut });
    probe.open();
  });
  afterAll(async () => {
    for (const one of processes) await one.close();
    probe?.close();
    await collector?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** As the daemon does: the process carries it out, and its answer is the reply. */
  async function carryOut({ type, data }: Command): Promise<Readonly<Record<string, unknown>>> {
    const id = said.length + 1;
    processes.at(-1)?.onMessage({ kind: "command", id, command: type as "behaviour_read", data });
    return waitFor("the answer", () => said.flatMap((one) => (one.kind === "reply" && one.id === id ? [one.data] : []))[0] ?? null);
  }

  /** The process without its channel and sockets: frames come from here, and what it says goes to the probe's queue. */
  async function startTraffic() {
    const send = (message: FromProcess): boolean => {
      said.push(message);
      if (message.kind === "anomaly") probe.say({ type: "anomaly_detected", occurred_at: new Date(message.at).toISOString(), data: message.anomaly });
      return true;
    };
    const begin: Begin = {
      kind: "begin", settings: TrafficSettings.parse({ interfaces: ["lan0"], memory_megabytes: 128, ring_megabytes: 16 }), data_dir: dataDir, probe_id: createId(), version: "1", spool_bytes: 1e6,
      site: DEFAULT_CAPTURE_SETTINGS, gaps: [], home_networks: [],
    };
    const deps = { begin, send, clock, log: silentLog };
    const captures: Pick<TrafficCaptureOptions, "allocate" | "onBlock">[] = [];
    const traffic = createTrafficProcess({
      ...deps, random: Math.random, compile: () => ({ program: null }), parts: await openParts({ ...deps, program: [], ownNetworks: () => [] }),
      openCapture(options) {
        captures.push(options);
        return { load: () => 0, counters: () => ({ frames: 0, droppedByKernel: 0, droppedByInterface: 0 }), close: () => undefined };
      },
    });
    processes.push(traffic);
    const see = async (frames: readonly BlockFrame[]) => {
      const made = encodeFrameBlock(frames);
      const place = captures[0]?.allocate(made.end) ?? { bytes: Buffer.alloc(0), offset: 0 };
      made.bytes.copy(place.bytes, place.offset, 0, made.end);
      captures[0]?.onBlock({ ...place, end: place.offset + made.end, frames: made.frames });
      await clock.leap((frames.at(-1)?.seconds ?? 0) * 1000 - clock.now());
    };
    const live = async (days: { readonly from: number; readonly to: number }) => {
      for (const frames of ordinaryDays([LAPTOP], days, BEGIN)) await see(frames);
    };
    return { traffic, see, live };
  }

  /** What is usual is asked of the process, and so is what changes it. */
  async function readAndFreeze(anomaly: TrafficHealth["anomaly"]): Promise<void> {
    const { rest } = collector;
    const { id } = await rest.createDevice({ ip: LAPTOP.ip, mac: LAPTOP.mac });
    expect((await rest.readDeviceBehaviour(id)).probes).toMatchObject([{ name: "box", behaviour: null, problem: expect.stringContaining("does not watch") as string }]);
    const sample = ProbeHealth.parse(JSON.parse(readFileSync(new URL("../../packages/contract/samples/v1/health-traffic.json", import.meta.url), "utf8")));
    probe.report({ ...sample, at: new Date().toISOString(), traffic: sample.traffic && { ...sample.traffic, anomaly } });
    const behaviour = async () => (await rest.readDeviceBehaviour(id)).probes[0]?.behaviour ?? null;
    const usual = await waitFor("the behavior", behaviour);
    expect(usual).toMatchObject({ device: LAPTOP.mac, lifecycle: "active", group: "uses udp/123 uses udp/443" });
    expect(usual.peers.map(({ name }) => name)).toContain("203.0.113.1");
    expect(await rest.freezeAnomalyModel(probe.probeId, { device_id: id, is_frozen: true })).toEqual({ probe_id: probe.probeId, devices: 1 });
    expect(await behaviour()).toMatchObject({ lifecycle: "frozen" });
    expect(await rest.resetAnomalyModel(probe.probeId, {})).toMatchObject({ probe_id: probe.probeId });
    expect(await behaviour()).toBeNull();
  }

  test("is an alert with what explains it, and after a word of its owner nothing more of it is; a restart of the process forgets nothing", async () => {
    const first = await startTraffic();
    await first.live({ from: 0, to: 8 });
    await first.traffic.close();
    processes.pop();
    const { traffic, see, live } = await startTraffic();
    await live({ from: 8, to: 9 + 10 / 24 });
    expect(said.filter(({ kind }) => kind === "anomaly")).toEqual([]);
    const newAt = new Date((SCANNED_AT - 600) * 1000).toISOString();
    probe.say({ type: "host_found", occurred_at: newAt, data: { ip: "10.0.0.44", mac: "02:00:00:00:00:44", hostname: "", vendor: "", addresses: ["10.0.0.44"], evidence: [] } });
    await see(scan(SCANNED_AT, LAPTOP));
    await live({ from: 9 + 10.1 / 24, to: 9 + 12 / 24 });
    const { rest } = collector;
    const [found] = await waitFor("the anomaly", async () => ((await rest.listAnomalies()).data.length > 0 ? (await rest.listAnomalies()).data : null));
    expect(found).toMatchObject({ kind: "scan", device: LAPTOP.mac, ip: LAPTOP.ip, is_alert: true, is_normal: false, techniques: ["T1046"], since: new Date((SCANNED_AT - 60) * 1000).toISOString() });
    const details = await rest.readAnomaly(found?.id ?? "");
    expect(details.features[0]?.observed).toBeGreaterThan(100);
    expect(details.series?.values).toHaveLength(36);
    expect(details).toMatchObject({ group: "uses udp/123 uses udp/443", around: [{ type: "host_found", at: newAt, device_id: expect.any(String) as string }], pcap_ids: [] });
    const alert = await rest.readAlert(found?.alert_id ?? "");
    expect(alert).toMatchObject({ type: "anomaly", source: "anomaly", status: "open", device_ip: LAPTOP.ip, mitre_techniques: ["T1046"] });
    expect(alert.id).toBe(alertIdOf(probe.probeId, said.flatMap((one) => (one.kind === "anomaly" ? [one.anomaly.incident_id] : []))[0] ?? ""));

    const evidence = EVENTS.pcap_recorded.data.parse(JSON.parse(readFileSync(new URL("../../packages/contract/samples/v1/events/pcap_recorded.json", import.meta.url), "utf8")).data);
    probe.say({ type: "pcap_recorded", occurred_at: new Date().toISOString(), data: { ...evidence, pcap_id: createId(), alert_ids: [alert.id] } });
    const { pcap_ids: captures } = await waitFor("the capture", async () => (await rest.listPcaps({ alert_id: alert.id })).meta.total > 0 ? rest.readAnomaly(details.id) : null);
    expect(captures).toEqual((await rest.listPcaps({ alert_id: alert.id })).data.map(({ id }) => id));

    const feedback = await rest.createAnomalyFeedback(details.id, { scope: "device", reason: "our scanner" });
    expect((await rest.readAlert(alert.id)).status).toBe("resolved");
    traffic.onMessage({ kind: "anomalies", anomalies: { accepted: [{ kind: feedback.kind, device: feedback.device ?? "" }] } });
    await live({ from: 9 + 12 / 24, to: 10 + 10 / 24 });
    await see(scan(SCANNED_AT + DAY, LAPTOP));
    await live({ from: 10 + 10.1 / 24, to: 10 + 12 / 24 });
    const states = said.flatMap((one) => (one.kind === "state" && one.counters.anomaly ? [one.counters.anomaly] : []));
    expect(states.at(-1)).toMatchObject({ active: 1, found: 1, suppressed: 1, distrusted_hours: 0, damaged: 0 });
    expect((await rest.listAnomalies()).meta.total).toBe(1);
    await readAndFreeze(states.at(-1));
  });
});
