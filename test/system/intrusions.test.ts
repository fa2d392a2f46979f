import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { prepareLan } from "../lab/scenarios/run-scenario.ts";
import { findSuricata, type Suricata } from "../lab/suricata.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

const RULE = 'alert http any any -> any any (msg:"LAB gate of a trojan"; flow:established,to_server; http.uri; content:"/gate.php"; classtype:trojan-activity; '
  + "metadata:signature_severity Critical, mitre_technique_id T1071.001; sid:9100001; rev:3;)\n";
/** Reads the LAN's interface of the probe's box, which lies in a namespace of the lab. */
const YAML = (folder: string) => `%YAML 1.1
---
vars: { address-groups: { HOME_NET: "[10.77.0.0/24]", EXTERNAL_NET: "any" } }
stats: { enabled: yes, interval: 1 }
outputs: [ { eve-log: { enabled: yes, filetype: regular, filename: ${JSON.stringify(join(folder, "eve.json"))}, types: [ { alert: { packet: yes, metadata: yes } }, { stats: { totals: yes } } ] } } ]
logging: { outputs: [ { console: { enabled: yes } } ] }
af-packet: [ { interface: ${PROBE_BOX.lanInterface}, threads: 1, use-mmap: yes, ring-size: 2048 } ]
app-layer: { protocols: { http: { enabled: yes } } }
classification-file: ${JSON.stringify(join(folder, "classification.config"))}
unix-command: { enabled: no }
`;

const suricata = canMakeLabs() ? await findSuricata() : "no labs can be made here";
if (typeof suricata === "string") process.stdout.write(`a Suricata beside the probe is not tried: ${suricata}\n`);

describe.skipIf(typeof suricata === "string")("a Suricata beside the probe", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-suricata-"));
  const logs = join(folder, "logs");
  let site: Site;
  let running: ChildProcess | null = null;

  beforeAll(async () => {
    mkdirSync(logs);
    site = await openSite({ hosts: ["gateway", "web", "laptop"], probeToml: `[traffic]\ninterfaces = ["${PROBE_BOX.lanInterface}"]\n[ids]\neve = { file = ${JSON.stringify(join(logs, "eve.json"))} }\n[health]\ninterval_seconds = 5\n` });
    await prepareLan(site.lab);
    writeFileSync(join(folder, "rules"), RULE);
    writeFileSync(join(logs, "classification.config"), "config classification: trojan-activity,A Network Trojan was detected,1\n");
    writeFileSync(join(folder, "suricata.yaml"), YAML(logs));
  });
  afterAll(async () => {
    running?.kill("SIGKILL");
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (program: Suricata) => {
    const { path, args } = site.lab.inside("probe", program.path, [
      "-c", join(folder, "suricata.yaml"), `--af-packet=${PROBE_BOX.lanInterface}`, "-S", join(folder, "rules"), "-l", logs, "-k", "none", "--runmode", "single",
    ]);
    const child = spawn(path, args, { env: { ...process.env, ...program.env }, stdio: ["ignore", "pipe", "pipe"] });
    running = child;
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    await waitFor("Suricata", () => {
      if (child.exitCode !== null) throw new Error(said);
      return said.includes("started") ? true : null;
    });
  };
  const ask = (path: string) => site.lab.exec("laptop", process.execPath, ["-e", `fetch("http://10.77.0.20${path}").then(() => 0, () => 0)`]);

  test("what it finds is one alert about the host, with its techniques and what was asked for", async () => {
    await start(suricata as Suricata);
    const { rest } = site.collector;
    const alert = await waitFor("its alert", async () => {
      await ask("/gate.php");
      return (await rest.listAlerts({ source: "ids" })).data[0] ?? null;
    }, { everyMs: 1000 });
    expect(alert).toMatchObject({ type: "ids_alert", severity: "critical", title: "LAB gate of a trojan", mitre_techniques: ["T1071.001"], status: "open" });
    expect(alert.evidence[0]?.data).toMatchObject({
      engines: ["suricata"], signature_id: 9_100_001, revision: 3, category: "A Network Trojan was detected", application: "http", direction: "to-server",
      fields: { url: "/gate.php", method: "GET" }, state: "seen",
    });
    expect(alert.device_ip).toMatch(/^10\.77\.0\./);
    const state = await waitFor("how it does", async () => {
      const found = (await rest.listProbes()).data[0]?.health?.ids?.suricata;
      return found?.state === "reading" && found.alerts > 0 && found.dropped !== null ? found : null;
    }, { everyMs: 1000 });
    expect(state).toMatchObject({ error: null });
  });

  test("the same rule in the probe's own engine, which the collector sent it, is the same alert", async () => {
    const { rest } = site.collector;
    await rest.createIdsRuleset({ name: "lab", rules: RULE });
    await waitFor("the rule in use", async () => {
      const ids = (await rest.listProbes()).data[0]?.health?.ids;
      return ids?.state === "running" && ids.rules.loaded === 1 ? ids : null;
    }, { everyMs: 1000 });
    const alert = await waitFor("both engines in one alert", async () => {
      await ask("/gate.php");
      const found = (await rest.listAlerts({ source: "ids", status: "open" })).data;
      expect(found).toHaveLength(1);
      const engines = found[0]?.evidence.at(-1)?.data["engines"] as readonly string[] | undefined;
      return engines?.length === 2 ? found[0] : null;
    }, { everyMs: 2000 });
    expect(alert).toMatchObject({ title: "LAB gate of a trojan", severity: "critical" });
  });
});
