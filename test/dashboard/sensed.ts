import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RestClient } from "@lanthorn/client";
import { LAN, PROBE_BOX } from "../lab/host-plan.ts";
import { waitFor } from "../lab/wait-for.ts";
import { startDaemon } from "../system/daemon.ts";
import { PROBE } from "../system/deployment.ts";
import { importFeeds, nvdFile, nvdRecord } from "../system/feeds.ts";
import type { Site } from "../system/site.ts";

const RULES = `alert tcp any any -> any 23 (msg:"Telnet at a store"; flow:established; sid:1000001; rev:1; metadata:signature_severity Minor;)
alert http any any -> any any (msg:"A till calls the gate of a trojan"; flow:established,to_server; http.uri; content:"/gate.php"; sid:1000002; rev:1; metadata:signature_severity Major;)`;
const NAMES = ["core-switch.lab.test", "nas.lab.test", "web.lab.test", "build.lab.test", "ads.example", "tracker.example", "download.bad.example"] as const;
/** Asks the site's resolver for names, calls what the rules look for, and tries two passwords at the decoy's telnet. */
const ATTACK = `const { Resolver } = require("node:dns").promises; const r = new Resolver({ timeout: 3000, tries: 1 }); r.setServers(["${PROBE_BOX.lanAddress}"]);
const telnet = () => new Promise((done) => { const say = ["root\\r\\n", "123456\\r\\n", "admin\\r\\n", "admin\\r\\n"]; let seen = ""; const s = require("node:net").connect(23, "${PROBE_BOX.lanAddress}"); s.setTimeout(8000, () => s.destroy()); s.on("error", () => {}).on("close", done);
s.on("data", (d) => { seen += d; if (/(?:login|Password): $/.test(seen)) { seen = ""; if (say.length > 0) s.write(say.shift()); else s.end(); } }); });
(async () => { for (const name of process.argv.slice(1)) await r.resolve4(name).catch(() => {}); await fetch("http://10.77.0.20/gate.php?id=7").then((answer) => answer.text()).catch(() => {}); await telnet(); })()`;

/** Where a probe's other processes meet it, below a folder. */
export function sensorFolders(folder: string) {
  const folders = { dns: join(folder, "dns"), decoy: join(folder, "decoy") };
  for (const each of Object.values(folders)) mkdirSync(each, { recursive: true });
  return { folders, probeEnv: { LANTHORN_DNS_DIRECTORY: folders.dns, LANTHORN_DECOY_DIRECTORY: folders.decoy } };
}

/**
 * Runs the site's resolver and a decoy beside its probe, and gives them something to see: names that are blocked, an intruder at the
 * decoy, traffic that rules look for, and services with CVEs.
 * @param folder One that `sensorFolders` was given, and the probe its `probeEnv`. @returns What ends the processes.
 */
export async function sense(site: Site, rest: RestClient, folder: string): Promise<() => Promise<void>> {
  const { folders } = sensorFolders(folder);
  writeFileSync(join(folder, "dns.toml"), [
    `listen = ["${PROBE_BOX.lanAddress}"]`, 'queries = { report = "all" }', `collector_directory = ${JSON.stringify(folders.dns)}`, `[[upstreams]]\naddress = "${LAN.dnsServer}"\n`,
  ].join("\n"));
  writeFileSync(join(folder, "decoy.toml"), [
    `data_dir = ${JSON.stringify(folder)}`, `link_directory = ${JSON.stringify(folders.decoy)}`,
    `[[decoys]]\nname = "nas-15"\npersona = "nas"\naddress = "${PROBE_BOX.lanAddress}"\nservices = [{ service = "ftp", port = 21 }, { service = "telnet", port = 23 }, { service = "http", port = 80 }]\n`,
  ].join("\n"));
  const started = await Promise.all([["resolver", "dns.toml"] as const, ["decoy", "decoy.toml"] as const].map(([name, file]) => startDaemon({
    script: PROBE, args: [name, "--config", join(folder, file)], env: {}, namespace: site.lab.probe.namespace, logFile: join(folder, `${name}.log`),
  })));
  await rest.createDnsList({ name: "Names of malware", category: "malware", names: "||bad.example^" });
  const { id } = await rest.createIdsRuleset({ name: "Our own", rules: RULES });
  await rest.activateIdsRulesetVersion(id, "1");
  await importFeeds(site.collector, {
    "nvd.json": nvdFile([
      nvdRecord("CVE-2020-1001", "openbsd:openssh", "99.0", 9.1), nvdRecord("CVE-2020-1003", "thekelleys:dnsmasq", "99", 7), nvdRecord("CVE-2020-1004", "f5:nginx", "99", 5.3),
    ]),
  });
  await waitFor("the rules in use", async () => (await rest.listProbes()).data.some(({ health }) => health?.ids?.rules.loaded === 2) || null, { everyMs: 1000 });
  await waitFor("what sensors see", async () => {
    await site.lab.exec("laptop", process.execPath, ["-e", ATTACK, ...NAMES]);
    const { data } = await rest.listAlerts({ per_page: 1000 });
    return ["dns", "ids", "honeypot", "cve"].every((name) => data.some(({ source }) => source === name)) || null;
  }, { everyMs: 5000 });
  return async () => {
    await Promise.all(started.map((daemon) => daemon.stop()));
  };
}
