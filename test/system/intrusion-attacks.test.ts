import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { EVENTS, WebhookPayload } from "@lanthorn/contract";
import { alertIdOf } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { tryCommand } from "../lab/run-command.ts";
import { prepareLan } from "../lab/scenarios/run-scenario.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { notesOf } from "./evidence-run.ts";
import { openSite, type Site } from "./site.ts";

const META = "metadata:signature_severity Major; rev:1;";
/** Of each protocol a rule, and the words of its alert. */
const RULES = {
  http: [9_100_011, `alert http any any -> any any (msg:"LAB gate of a trojan"; flow:established,to_server; http.uri; content:"/gate.php"; sid:9100011; ${META})`],
  dns: [9_100_012, `alert dns any any -> any any (msg:"LAB name of a botnet"; dns.query; content:"c2.botnet.test"; nocase; sid:9100012; ${META})`],
  smb: [9_100_013, `alert smb any any -> any any (msg:"LAB shares are listed"; flow:established,to_server; smb.named_pipe; content:"IPC$"; nocase; sid:9100013; ${META})`],
  ssh: [9_100_014, `alert ssh any any -> any any (msg:"LAB banner of a worm"; flow:established,to_server; ssh.software; content:"libssh2_1.4.3"; sid:9100014; ${META})`],
} as const;
type Attack = keyof typeof RULES;
const ATTACKS = Object.keys(RULES) as readonly Attack[];

const HTTP = 'fetch("http://10.77.0.20/gate.php?id=7").then((answer) => answer.text()).catch(() => {})';
const DNS = 'const { Resolver } = require("node:dns").promises; const r = new Resolver({ timeout: 2000, tries: 1 }); r.setServers(["10.77.0.1"]); r.resolve4("c2.botnet.test").catch(() => {})';
/** Says who it is as a worm does, and goes once the server has said who that is. */
const SSH = 'const s = require("node:net").connect(22, "10.77.0.20", () => s.write("SSH-2.0-libssh2_1.4.3\\r\\n")); s.on("data", () => s.end()).on("error", () => {}); s.setTimeout(5000, () => s.destroy())';

describe.skipIf(!canMakeLabs())("attacks on the daemons of a LAN", () => {
  let site: Site;
  let smbclient: ReturnType<DebianRoot["command"]>;
  let receiver: Server;
  const called: WebhookPayload[] = [];

  beforeAll(async () => {
    const { path, env } = (await unpackDebianPackages(["smbclient"])).command("smbclient");
    // Samba's own libraries lie in a folder below the others.
    smbclient = { path, env: { ...env, LD_LIBRARY_PATH: `${env["LD_LIBRARY_PATH"] ?? ""}:${env["LD_LIBRARY_PATH"] ?? ""}/samba` } };
    site = await openSite({
      hosts: ["gateway", "web", "files", "laptop"], events: ["ids_alert"], collectorEnv: { LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" },
      probeToml: `[traffic]\ninterfaces = ["${PROBE_BOX.lanInterface}"]\nevidence = { before_seconds = 15, after_seconds = 2 }\ncontinuous = { free_floor_megabytes = 0 }\n[health]\ninterval_seconds = 5\n`,
    });
    await prepareLan(site.lab);
    receiver = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => {
        called.push(WebhookPayload.parse(JSON.parse(body)));
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    const { rest } = site.collector;
    await rest.createWebhook({ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, events: ["ids.alert"], active: true });
    await rest.updateSiteCaptures(site.siteId, { upload: "on_demand" });
  });
  afterAll(async () => {
    receiver?.close();
    await site?.close();
  });

  const run = async (attack: Attack) => {
    const script = { http: HTTP, dns: DNS, ssh: SSH, smb: null }[attack];
    const [path, args, env] = script === null ? [smbclient.path, ["-N", "-L", "//10.77.0.70", "-s", "/dev/null"], smbclient.env] : [process.execPath, ["-e", script], {}];
    await site.lab.exec("laptop", path, args, { env });
  };
  const openAlerts = async () => (await site.collector.rest.listAlerts({ source: "ids", status: "open" })).data;
  /** Alerts of the events that came, by the number of their rule. */
  const alertIds = () => new Map(site.frames.flatMap((frame): readonly (readonly [number, string])[] => {
    if (frame.event !== "ids_alert") return [];
    const { signature_id: sid, incident_id: incident } = EVENTS.ids_alert.data.parse(frame.data);
    return incident === undefined ? [] : [[sid, alertIdOf(site.probeId, incident)]];
  }));

  test("come as an event, a call and one alert each, by rules that the collector gave the probe", async () => {
    const { rest } = site.collector;
    const made = await rest.createIdsRuleset({ name: "lab", rules: ATTACKS.map((attack) => RULES[attack][1]).join("\n"), automatic: false, interval_hours: 24, enabled: true });
    await rest.activateIdsRulesetVersion(made.id, "1");
    await waitFor("the rules in use", async () => {
      const ids = (await rest.listProbes()).data[0]?.health?.ids;
      return ids?.state === "running" && ids.rules.loaded === ATTACKS.length ? ids : null;
    }, { everyMs: 1000 });
    await waitFor("an event of each", async () => {
      const seen = alertIds();
      await Promise.all(ATTACKS.filter((attack) => !seen.has(RULES[attack][0])).map(run));
      return ATTACKS.every((attack) => seen.has(RULES[attack][0])) || null;
    }, { everyMs: 1000 });
    // Once more: what goes on is the same alert.
    await Promise.all(ATTACKS.map(run));
    const alerts = await waitFor("the alerts", async () => {
      const found = await openAlerts();
      return found.length >= ATTACKS.length ? found : null;
    });
    expect(alerts.map(({ title, severity }) => `${severity} ${title}`).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(["high LAB banner of a worm", "high LAB gate of a trojan", "high LAB name of a botnet", "high LAB shares are listed"]);
    expect(new Set(alerts.map(({ id }) => id))).toEqual(new Set(alertIds().values()));
    const facts = Object.fromEntries(alerts.map(({ evidence }) => [evidence[0]?.data["signature_id"], [evidence[0]?.data["application"], evidence[0]?.data["direction"], evidence[0]?.data["destination_ip"]]]));
    expect(facts).toEqual({
      9_100_011: ["http", "to-server", "10.77.0.20"], 9_100_012: ["dns", "to-server", "10.77.0.1"], 9_100_013: ["smb", "to-server", "10.77.0.70"], 9_100_014: ["ssh", "to-server", "10.77.0.20"],
    });
    expect(new Set(alerts.map(({ device_ip: ip }) => ip)).size).toBe(1);
    await waitFor("the calls", () => ATTACKS.every((attack) => called.some(({ data }) => (data as { readonly signature_id?: unknown }).signature_id === RULES[attack][0])) || null);
  });

  test("are in the evidence of their alert: the frame that raised it is marked, and the rule matches the file", async () => {
    const { path, env } = (await unpackDebianPackages(["tshark"])).command("tshark");
    for (const [sid, alertId] of alertIds()) {
      const note = await waitFor(`the evidence of ${sid}`, () => notesOf(site).find(({ alert_ids: about }) => about.includes(alertId)) ?? null);
      const { stdout } = await tryCommand(path, ["-r", join(site.box.dataDir, "captures", "files", `${note.pcap_id}.pcapng`), "-T", "fields", "-e", "frame.comment"], { env });
      expect([sid, stdout.includes(`lanthorn alert ${alertId}`)]).toEqual([sid, true]);
    }
    // Read by the collector, a file is the probe's no more.
    for (const [sid, alertId] of alertIds()) {
      const stored = await waitFor(`the collector's record of ${sid}`, async () => (await site.collector.rest.listPcaps({ alert_id: alertId })).data[0] ?? null);
      const tested = await waitFor(`the test of ${sid}`, () => site.collector.rest.testIdsRule({ signature_id: sid, generator_id: 1, pcap_id: stored.id }), { everyMs: 1000 });
      expect([sid, tested.matched, tested.missed]).toEqual([sid, true, null]);
    }
  });
});
