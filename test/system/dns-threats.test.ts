import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENTS, type EventData, WebhookPayload } from "@lanthorn/contract";
import { alertIdOf, seededRandom } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { tryCommand } from "../lab/run-command.ts";
import { prepareLan } from "../lab/scenarios/run-scenario.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { notesOf } from "./evidence-run.ts";
import { openSite, type Site } from "./site.ts";

const SERVER = "10.77.0.20";
const DOMAINS = { dns2tcp: "d.tunnel-one.com", iodine: "i.tunnel-two.net" } as const;
/** iodine makes an interface of its own, and sets its address with the program that is there only where net-tools are. */
const canRunIodine = existsSync("/dev/net/tun") && existsSync("/sbin/ifconfig");
if (!canRunIodine) process.stdout.write("iodine is not tried: it needs /dev/net/tun and /sbin/ifconfig\n");

/** Asks the server at a port for the names and types in its argument, sixteen at a time. */
const ASK = `const { Resolver } = require("node:dns").promises; const [port, list] = process.argv.slice(1); const names = JSON.parse(list);
const ask = async () => { for (let one = names.shift(); one; one = names.shift()) { const r = new Resolver({ timeout: 3000, tries: 2 }); r.setServers(["${SERVER}:" + port]); await r.resolve(one[0], one[1]).catch(() => {}); } };
Promise.all(Array.from({ length: 16 }, ask));`;
const IS_THERE = `const { Resolver } = require("node:dns").promises; const r = new Resolver({ timeout: 1000, tries: 1 }); r.setServers(["${SERVER}:5300"]); r.resolve4("eu.riotgames.com").then(console.log, () => {})`;
/** Of what iodined is asked by resolvers before a client comes. */
const IS_TUNNEL = `const { Resolver } = require("node:dns").promises; const r = new Resolver({ timeout: 1000, tries: 1 }); r.setServers(["${SERVER}"]); r.resolveNs("${DOMAINS.iodine}").then(() => console.log("answers"), () => {})`;
/** Fetches once through a tunnel's end on this host. */
const FETCH = 'fetch("http://127.0.0.1:2222/").then((answer) => answer.text(), () => 0)';
const WEB = 'require("node:http").createServer((_, answer) => answer.end("x".repeat(20000))).listen(8099, "127.0.0.1")';

describe.skipIf(!canMakeLabs())("threats in other people's DNS", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-"));
  const called: WebhookPayload[] = [];
  const ends: (() => Promise<unknown>)[] = [];
  let site: Site;
  let tools: DebianRoot;
  let receiver: Server;

  beforeAll(async () => {
    tools = await unpackDebianPackages(["iodine", "dns2tcp", "dnsmasq-base"]);
    site = await openSite({
      hosts: ["gateway", "web", "laptop"], events: ["dns_threat"], collectorEnv: { LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" },
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
    await site.collector.rest.createWebhook({ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, events: ["alert.created"], active: true });
    await site.collector.rest.updateSiteCaptures(site.siteId, { upload: "on_demand" });
    await waitFor("traffic to be read", async () => ((await site.collector.rest.listProbes()).data[0]?.health?.traffic?.state === "running" ? true : null), { everyMs: 1000 });
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
    receiver?.close();
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs until it is stopped, or the test ends. */
  const start = (host: string, program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { path, args: rest } = site.lab.inside(host, program, args);
    const child = spawn(path, rest, { env: { ...process.env, ...env }, stdio: "ignore" });
    const ended = new Promise((resolve) => void child.once("exit", resolve));
    const stop = () => {
      child.kill("SIGKILL");
      return ended;
    };
    ends.push(stop);
    return stop;
  };
  const startTool = (host: string, name: string, args: readonly string[]) => {
    const { path, env } = tools.command(name);
    return start(host, path, args, env);
  };
  const threats = (): readonly EventData<"dns_threat">[] => site.frames.flatMap(({ event, data }) => (event === "dns_threat" ? [EVENTS.dns_threat.data.parse(data)] : []));
  const threatOf = (category: string, campaign: string) => waitFor(`${category} ${campaign}`, () => threats().find((one) => one.category === category && one.campaign === campaign) ?? null);
  const ask = (port: number, names: readonly (readonly [string, string])[]) => site.lab.exec("laptop", process.execPath, ["-e", ASK, String(port), JSON.stringify(names)]);

  test("what scanners, content networks, games and mail servers ask a real resolver is none, and generated names are", async () => {
    const random = seededRandom(7);
    const text = (length: number, alphabet: string) => Array.from({ length }, () => alphabet[random(alphabet.length)]).join("");
    const [hex, letters] = ["0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"];
    startTool("web", "dnsmasq", [
      "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--port=5300", "--bind-interfaces", `--listen-address=${SERVER}`, "--pid-file=", "--user=root", "--address=/#/", "--address=/mcafee.com/127.0.0.128",
      "--address=/googlevideo.com/198.51.100.9", "--address=/riotgames.com/198.51.100.10", "--address=/example.org/198.51.100.11", "--address=/unknown-scanner.com/127.0.0.2",
    ]);
    await waitFor("the resolver", async () => ((await site.lab.exec("laptop", process.execPath, ["-e", IS_THERE])).stdout.includes("198.51.100.10") ? true : null));
    const quiet = Array.from({ length: 80 }, (_, n) => {
      const ip = Array.from({ length: 4 }, () => random(256)).join(".");
      return [
        [`${ip}.zen.spamhaus.org`, "A"], [`${ip}.bl.unknown-list.net`, "A"], [`${ip}.bl.unknown-list.net`, "TXT"], [`${text(40, hex)}.hashes.unknown-list.org`, "A"],
        [`${text(30, hex)}.${text(40, hex)}.i.00.s.sophosxl.net`, "TXT"], [`${text(40, letters)}.a.j.e5.sk`, "TXT"], [`${text(26, hex)}.avqs.mcafee.com`, "A"], [`${text(26, hex)}.verdict.unknown-scanner.com`, "A"],
        [`rr${n % 9}---sn-${text(8, `${hex}xyz`)}.googlevideo.com`, "A"], [`euw${n}.lol.riotgames.com`, "A"], [`_minecraft._tcp.play${n}.com`, "SRV"], [`s${n}._domainkey.example.org`, "TXT"],
        [`${ip}.in-addr.arpa`, "PTR"], [`printer${n}.corp.lan`, "A"], [`www.example.org`, "A"],
      ] as const;
    }).flat();
    await ask(5300, quiet);
    await ask(5300, Array.from({ length: 60 }, (_, n) => [`${text(14, letters)}.${["com", "net", "info"][n % 3]}`, "A"] as const));
    const found = await threatOf("generated_names", "");
    expect(found).toMatchObject({ mode: "passive", action: "reported", severity: "high", server_ip: SERVER, mitre_techniques: ["T1568.002"], state: "seen" });
    expect(threats().map(({ category, query_name: name }) => [category, name]).filter(([category]) => category !== "generated_names")).toEqual([]);
  });

  test("a name that a list of the collector's has is an alert also where another resolver answers it", async () => {
    await site.collector.rest.createDnsList({ name: "Beacons", category: "command-and-control", names: "bad-beacon.example" });
    const traffic = async () => (await site.collector.rest.listProbes()).data[0]?.health?.traffic;
    await waitFor("the names at the probe", async () => ((await traffic())?.dns?.listed_names ?? 0) > 0 || null, { everyMs: 1000 });
    await ask(5300, [["www.good.example", "A"], ["bad-beacon.example", "A"]]);
    const threat = await threatOf("command-and-control", "Beacons");
    expect(threat).toMatchObject({
      mode: "passive", action: "reported", severity: "critical", feed: "Beacons", lists: ["Beacons"], query_name: "bad-beacon.example", query_type: "A", server_ip: SERVER, blocked_record: null, mitre_techniques: ["T1071"],
    });
    expect(threat.packets?.length).toBe(1);
    const alert = await waitFor("its alert", async () => (await site.collector.rest.listAlerts({ source: "dns" })).data.find(({ id }) => id === alertIdOf(site.probeId, threat.incident_id ?? "")) ?? null);
    expect(alert).toMatchObject({ type: "dns_threat", severity: "critical", device_ip: threat.client_ip });
  });

  test("a tunnel of dns2tcp is one alert that says what to do, a call, and a capture in which its frame is marked", async () => {
    const file = join(folder, "dns2tcpd.conf");
    writeFileSync(file, `listen = ${SERVER}\nport = 53\nuser = root\nchroot = ${folder}\ndomain = ${DOMAINS.dns2tcp}\nkey = pw\nresources = web:127.0.0.1:8099\n`);
    start("web", process.execPath, ["-e", WEB]);
    const stops = [startTool("web", "dns2tcpd", ["-F", "-f", file]), startTool("laptop", "dns2tcpc", ["-r", "web", "-z", DOMAINS.dns2tcp, "-k", "pw", "-l", "2222", SERVER])];
    const threat = await waitFor("the tunnel", async () => {
      await site.lab.exec("laptop", process.execPath, ["-e", FETCH], { timeoutMs: 20_000 });
      return threats().find(({ campaign }) => campaign === "tunnel-one.com") ?? null;
    }, { everyMs: 1000 });
    for (const stop of stops) await stop();
    expect(threat).toMatchObject({ category: "tunnel", query_type: "TXT", severity: "high" });
    const alertId = alertIdOf(site.probeId, threat.incident_id ?? "");
    const alert = await waitFor("its alert", async () => (await site.collector.rest.listAlerts({ source: "dns" })).data.find(({ id }) => id === alertId) ?? null);
    expect(alert).toMatchObject({ type: "dns_threat", status: "open", severity: "high", device_ip: threat.client_ip, title: `${threat.client_ip} sends data through DNS to tunnel-one.com` });
    expect(alert.mitre_techniques).toContain("T1071.004");
    await waitFor("the call", () => called.some(({ data }) => JSON.stringify(data).includes(alertId)) || null);
    const { path, env } = (await unpackDebianPackages(["tshark"])).command("tshark");
    const note = await waitFor("its evidence", () => notesOf(site).find(({ alert_ids: about }) => about.includes(alertId)) ?? null);
    const { stdout } = await tryCommand(path, ["-r", join(site.box.dataDir, "captures", "files", `${note.pcap_id}.pcapng`), "-T", "fields", "-e", "dns.qry.name", "-e", "frame.comment"], { env });
    expect(stdout.split("\n").find((line) => line.includes(`lanthorn alert ${alertId}`))).toContain("tunnel-one.com");
  });

  test.skipIf(!canRunIodine)("a tunnel of iodine is another alert, also where it leaves DNS after its handshake", async () => {
    startTool("web", "iodined", ["-f", "-c", "-P", "pw", "-l", SERVER, "172.29.9.1/24", DOMAINS.iodine]);
    await waitFor("iodined", async () => ((await site.lab.exec("laptop", process.execPath, ["-e", IS_TUNNEL])).stdout.includes("answers") ? true : null));
    startTool("laptop", "iodine", ["-f", "-r", "-P", "pw", SERVER, DOMAINS.iodine]);
    expect(await threatOf("tunnel", "tunnel-two.net")).toMatchObject({ mode: "passive", severity: "high" });
    const alerts = await waitFor("the alerts", async () => {
      const found = (await site.collector.rest.listAlerts({ source: "dns", status: "open" })).data;
      return found.length >= 4 ? found : null;
    });
    expect(alerts.map(({ subject }) => subject.split(" ").slice(1).join(" ")).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(["command-and-control Beacons", "generated_names", "tunnel tunnel-one.com", "tunnel tunnel-two.net"]);
  });
});
