import type { ProbeEvent, SwitchReport } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { createRequest } from "../../apps/collector/src/certificates/testing/request.ts";
import { waitFor } from "../lab/wait-for.ts";
import type { Collector } from "../system/deployment.ts";
import { createSimulatedProbe, type SimulatedProbe } from "../system/simulated-probe.ts";
import { COVERAGE, TRAFFIC } from "./learned.ts";
import { createWorkingProbe } from "./working-probe.ts";

/** Names as an attacker would choose them. */
export const HOSTILE = ['<img src=x onerror="document.title=1">', "<script>document.title=1</script>", "in\u202Evoice\u2066", "{{7*7}}${7*7}", "a".repeat(255)];
export const ATTACKER = { ip: "10.9.0.66", mac: "02:00:5e:10:00:66" };
const HOSTILE_SOFTWARE = {
  vendor: "<b>acme</b>", product: "<img src=x>httpd", version: "<i>1.0</i>\u202E", edition: "<u>pro</u>", distribution: "<b>distribution</b>", package_version: "", confidence: 0.9,
};

/** Enrolls a probe that says what hostile hosts would make it say (a name, a banner, an attack) and does what it is commanded. Returns when the collector has it. @param options.readsTraffic Whether it says that it reads traffic at an access port. */
export async function sayHostile(collector: Collector, { readsTraffic = false } = {}): Promise<SimulatedProbe> {
  const { rest } = collector;
  const site = (await rest.listSites()).data[0];
  const { token } = await rest.createEnrollmentToken({ site_id: site?.id ?? "" });
  const { key, request } = await createRequest();
  const identity = await rest.enrollProbe({ token, certificate_request: request, name: "<b>probe</b>" });
  const broker = new URL(String(collector.ready["mqtt_url"]));
  const [ca, certificate] = [identity.ca_certificate, identity.certificate];
  const worker = createWorkingProbe({ httpsUrl: collector.httpsUrl, ca, key, certificate });
  const probe: SimulatedProbe = createSimulatedProbe({
    host: "127.0.0.1", port: Number(broker.port), ca, key, certificate, tenantId: identity.tenant_id, probeId: identity.probe_id,
  }, { onCommand: (command) => worker.onCommand(probe, command) });
  probe.open();
  probe.report({ ...worker.health(), ...(readsTraffic && { traffic: TRAFFIC, coverage: COVERAGE }) });
  await rest.createDnsList({ name: "<i>ads</i>\u202E", category: "advertising", names: "0.0.0.0 ads.example\n0.0.0.0 tracker.example" });
  await rest.createIdsRuleset({ name: "<b>local</b>", rules: `alert udp any any -> any any (msg:"<img src=x> talk to ${"a".repeat(300)}"; sid:1000001; rev:1;)` });
  const events = hostileEvents(toInstant(Date.now()));
  for (const event of events) probe.say(event);
  await waitFor("the hostile events", () => (probe.acknowledged() === events.length ? true : null));
  await waitFor("the probe's health", async () => (await rest.readProbe(probe.probeId)).health);
  return probe;
}

/** A host that is seen for the first time now. */
export function found(ip: string, mac: string, hostname: string): ProbeEvent {
  return { type: "host_found", occurred_at: toInstant(Date.now()), data: { ip, mac, hostname, vendor: "", addresses: [ip], evidence: [] } };
}

function hostileEvents(at: string): readonly ProbeEvent[] {
  const hostname = HOSTILE[0] ?? "";
  return [
    { type: "host_found", occurred_at: at, data: { ...ATTACKER, hostname, vendor: "<i>Evil</i>\u202E", addresses: [ATTACKER.ip], evidence: [
      { field: "hostname", value: hostname, source: "dhcp", confidence: 0.9, seen_at: at },
    ] } },
    { type: "port_found", occurred_at: at, data: {
      ...ATTACKER, port: 80, protocol: "tcp", state: "open", service: "http", version: "<script>1</script>", banner: `</code><img src=x>\u202E${"b".repeat(4000)}`, scan_id: null,
      software: { ...HOSTILE_SOFTWARE, version: "1.0", cpe: "cpe:2.3:a:acme:httpd:1.0:*:*:*:*:*:*:*" },
    } },
    { type: "host_software", occurred_at: at, data: { ...ATTACKER, software: [{ ...HOSTILE_SOFTWARE, product: "<script>firmware</script>\u202E", cpe: "", source: "snmp" }] } },
    { type: "rogue_detected", occurred_at: at, data: {
      kind: "arp_spoofing", severity: "critical", ...ATTACKER, expected_macs: ["02:00:5e:10:00:01"], vlan_id: null, subject: "<svg onload=document.title=1>",
      detail: `<img src=x onerror=document.title=1>\u202E${"c".repeat(900)}`, facts: { "<b>fact</b>": "<u>value</u>" },
      packets: [Buffer.from("<img src=x>".repeat(20)).toString("base64")],
    } },
    { type: "ids_alert", occurred_at: at, data: {
      signature_id: 1_000_001, revision: 1, signature: "<img src=x onerror=document.title=1> talk", category: "<b>bad</b>", severity: "high", source_ip: ATTACKER.ip, source_port: 4000,
      destination_ip: "10.9.0.7", destination_port: 53, protocol: "udp", mitre_techniques: ["T1071.004"], packets: [], count: 40, subject_ip: ATTACKER.ip, state: "seen",
    } },
    { type: "anomaly_detected", occurred_at: at, data: {
      metric: "bytes_to_rare", ...ATTACKER, score: 0.97, expected: 1000, observed: 90_000_000, severity: "high", explanation: "<img src=x onerror=document.title=1>\u202E sent much", kind: "exfiltration",
      device: ATTACKER.mac, group: "<b>uses tcp/443</b>", since: at, peers: ["<i>peer</i>.example"], news: ["<u>new</u>"], is_alert: true, mitre_techniques: ["T1048"],
      features: [{ name: "bytes_to_rare", share: 0.9, observed: 90_000_000, expected_low: 0, expected_high: 2000, usual: 1000 }],
      series: { bucket_seconds: 3600, ends_at: at, values: [900, 1000, 1100, 950, 90_000_000] },
    } },
    { type: "honeypot_hit", occurred_at: at, data: {
      service: "ssh", stage: "credential", severity: "high", source_ip: ATTACKER.ip, source_mac: ATTACKER.mac, source_port: 4001, destination_port: 22, username: "<script>root</script>",
      detail: "<img src=x>\u202E",
    } },
    { type: "dns_queries", occurred_at: at, data: {
      from: at, to: at, level: "all", queries: 100, from_cache: 40, failed: 1, blocked: 12, observed: 3, left_out: 0,
      rows: [["<b>ads</b>.example", "blocked"], ["in\u202Evoice.example", "observed"], [`${"a".repeat(240)}.example`, "resolved"]].map(([name = "", action]) => ({
        client_ip: ATTACKER.ip, name, type: "A", action: action as "blocked", list: action === "resolved" ? "" : "<i>ads</i>", times: 12, last_at: at,
      })),
    } },
    { type: "switch_report", occurred_at: at, data: hostileSwitch(hostname) },
  ];
}

/** A switch that calls itself, its ports and its neighbors what an attacker would. */
function hostileSwitch(name: string): SwitchReport {
  const port = (portName: string, role: "access" | "uplink") => ({ name: portName, alias: name, mac: "" as const, up: true, speed_mbps: 1000, role, mac_count: 1 });
  return {
    ip: "10.9.0.2", answers: true, system_name: name, system_description: name, object_id: "", engine_id: "", macs: ["02:00:5e:10:00:02"],
    ports: [port("Gi1/0/3\u202E", "access"), port("<b>uplink</b>", "uplink")],
    neighbors: [{
      port: "<b>uplink</b>", protocol: "lldp", chassis_id: "02:00:5e:10:00:01", chassis_id_type: "mac", port_id: "{{7*7}}", port_description: name,
      system_name: "<svg onload=document.title=1>", system_description: name, capabilities: ["bridge", "router"], management_addresses: [], vlan_ids: [],
    }],
    hosts: [{ mac: ATTACKER.mac, port: "Gi1/0/3\u202E", vlan: 20 }], addresses: [],
  };
}
