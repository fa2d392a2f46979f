import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENTS, type EventData } from "@lanthorn/contract";
import { alertIdOf } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { HOSTS, LAN, PROBE_BOX } from "../lab/host-plan.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { PROBE } from "./deployment.ts";
import { openSite, type Site } from "./site.ts";

const BAIT = "Blue-Heron-4";
/** Guesses passwords of a decoy's FTP, one connection for each, and prints how many were refused. */
const GUESS = `const { connect } = require("node:net"); const [user, times, password] = process.argv.slice(1); let refused = 0;
const guess = (n) => new Promise((resolve) => { const s = connect(2121, "${PROBE_BOX.lanAddress}"); s.on("error", resolve); s.on("close", resolve);
s.on("data", (d) => { const t = String(d); if (t.startsWith("220")) s.write("USER " + user + "\\r\\n"); else if (t.startsWith("331")) s.write("PASS " + (password ?? n) + "\\r\\n"); else { refused += t.startsWith("530") ? 1 : 0; s.destroy(); } }); });
(async () => { for (let left = Number(times); left > 0; left -= 100) await Promise.all(Array.from({ length: Math.min(100, left) }, (_, n) => guess(n))); console.log(refused); })()`;

/** Lets itself in by telnet, gives a command, and leaves. */
const TYPE = `const say = [["login: ", "backup\\r\\n"], ["Password: ", process.argv[1] + "\\r\\n"], ["$ ", "id\\r\\n"], ["$ ", "exit\\r\\n"]]; let seen = ""; const s = require("node:net").connect(2323, "${PROBE_BOX.lanAddress}");
s.on("data", (d) => { seen += d; if (say.length > 0 && seen.includes(say[0][0])) { seen = ""; s.write(say.shift()[1]); } }); s.on("close", () => console.log(say.length));`;

/** Answers LLMNR, NBNS and mDNS as poisoners do once it is given a line, over one version of IP, and prints each name that it is asked for. */
const POISON = `const dgram = require("node:dgram"); const own = process.argv[1]; const isV6 = own.includes(":"); const given = Buffer.from([10, 77, 0, 66]); let answers = false; process.stdin.on("data", () => { answers = true; });
const letters = (b) => Array.from({ length: 15 }, (_, n) => String.fromCharCode(b[13 + 2 * n] - 65 << 4 | b[14 + 2 * n] - 65)).join("").trim().toLowerCase();
for (const [port, group] of isV6 ? [[5355, "ff02::1:3"], [5353, "ff02::fb"]] : [[5355, "224.0.0.252"], [5353, "224.0.0.251"], [137, null]]) {
const s = dgram.createSocket({ type: isV6 ? "udp6" : "udp4", ipv6Only: isV6, reuseAddr: true }); s.bind(port, () => group && s.addMembership(group, isV6 ? "::%eth0" : own));
s.on("message", (q, from) => { if (q.length < 17 || q[2] & 0x80 || from.address.split("%")[0] === own) return; const end = q.indexOf(0, 12) + 5; console.log(port + " " + (port === 137 ? letters(q) : q.toString("latin1", 13, 13 + q[12]))); if (!answers) return;
const head = port === 137 ? [0x85, 0, 0, 0, 0, 1, 0, 0, 0, 0] : [0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0];
const tail = port === 137 ? Buffer.concat([q.subarray(12, 46), Buffer.from([0, 32, 0, 1, 0, 0, 0, 60, 0, 6, 0, 0]), given]) : Buffer.concat([q.subarray(12, end), Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4]), given]);
s.send(Buffer.concat([q.subarray(0, 2), Buffer.from(head), tail]), from.port, from.address); }); }`;

describe.skipIf(!canMakeLabs())("decoys of a site", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-decoys-"));
  const shared = join(folder, "shared");
  let site: Site;
  let decoys: Daemon | null = null;
  const startDecoys = async () => {
    decoys = await startDaemon({
      script: PROBE, args: ["decoy", "--config", join(folder, "decoy.toml")], env: {}, namespace: site.lab.probe.namespace, logFile: join(folder, "decoys.log"),
    });
  };

  beforeAll(async () => {
    mkdirSync(shared);
    writeFileSync(join(folder, "decoy.toml"), [
      `data_dir = ${JSON.stringify(folder)}`, `link_directory = ${JSON.stringify(shared)}`,
      `[[decoys]]\nname = "files2"\naddress = "${PROBE_BOX.lanAddress}"\nservices = [{ service = "ftp", port = 2121 }, { service = "telnet", port = 2323 }, { service = "ssh", port = 2222 }, { service = "https", port = 4443 }, { service = "print", port = 9100 }]`,
      `[[bait]]\nusername = "backup"\npassword = "${BAIT}"\n`, "[name_bait]\nenabled = true\ninterval_seconds = 60",
    ].join("\n"));
    site = await openSite({ hosts: ["gateway", "laptop", "printer"], events: ["honeypot_hit"], probeEnv: { LANTHORN_DECOY_DIRECTORY: shared } });
    await startDecoys();
  });
  afterAll(async () => {
    await decoys?.kill();
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const guess = async (...args: readonly string[]) => Number((await site.lab.exec("laptop", process.execPath, ["-e", GUESS, ...args])).stdout);
  const hits = (): readonly EventData<"honeypot_hit">[] => site.frames.flatMap(({ event, data }) => (event === "honeypot_hit" ? [EVENTS.honeypot_hit.data.parse(data)] : []));
  const alerts = async () => (await site.collector.rest.listAlerts({ source: "honeypot" })).data;

  test("are all served, those that need keys too", () => {
    const places = decoys?.ready["places"] as readonly { readonly service: string; readonly problem: string | null }[];
    expect(places.map(({ service, problem }) => [service, problem])).toEqual([["ftp", null], ["telnet", null], ["ssh", null], ["https", null], ["print", null]]);
  });

  const laptop = HOSTS.find(({ name }) => name === "laptop");

  test("a thousand guesses are one alert with the device; a bait credential makes it critical", async () => {
    await waitFor("the laptop in the inventory", async () => (await site.collector.rest.listDevices()).data.some(({ mac }) => mac === laptop?.mac) || null);
    expect(await guess("root", "1000")).toBe(1000);
    const hit = await waitFor("the guess", () => hits().find(({ stage }) => stage === "credential") ?? null);
    expect(hit).toMatchObject({ decoy: "files2", service: "ftp", severity: "high", username: "root", destination_port: 2121, mitre_techniques: expect.arrayContaining(["T1110.001"]) });
    expect(hit.source_mac).not.toBe("");
    const alert = await waitFor("its alert", async () => (await alerts()).find(({ severity }) => severity === "high") ?? null);
    expect(alert).toMatchObject({ id: alertIdOf(site.probeId, hit.incident_id ?? ""), type: "honeypot_hit", status: "open", device_ip: hit.source_ip });
    expect(alert.device_id).not.toBeNull();
    await guess("backup", "1", BAIT);
    await waitFor("the rise", async () => (await alerts()).find(({ severity }) => severity === "critical") ?? null);
    expect((await alerts()).map(({ id }) => id)).toEqual([alert.id]);
    expect(hits().length).toBeLessThan(6);
    expect(JSON.stringify(hits())).not.toContain(BAIT);
  });

  test("what is typed in the shell that bait opens comes with its session, and stays out of the log", async () => {
    expect((await site.lab.exec("laptop", process.execPath, ["-e", TYPE, BAIT])).stdout.trim()).toBe("0");
    const session = await waitFor("the session", async () => (await site.collector.rest.listHoneypotSessions({ decoy: "files2", stage: "bait_credential" })).data[0] ?? null);
    const [transcript] = await waitFor("its transcript", async () => {
      const { transcripts } = await site.collector.rest.readHoneypotTranscripts(session.id);
      return transcripts.length > 0 ? transcripts : null;
    });
    expect(transcript).toMatchObject({ service: "telnet", asciicast: expect.stringContaining("uid=1000(backup)") as string });
    expect((await site.collector.rest.listHoneypotFiles(session.id)).files).toEqual([]);
  });

  test("kills of either side lose nothing and double no alert; a scan of the whole network by the probe raises none", async () => {
    const before = hits().length;
    await site.probe().kill();
    await decoys?.kill();
    await startDecoys();
    expect(await guess("joe", "3")).toBe(3);
    await site.startProbe();
    await waitFor("what happened while the probe was away", () => hits().slice(before).find(({ usernames }) => usernames?.includes("joe")) ?? null);
    expect((await alerts()).length).toBe(1);
    const { id } = await site.collector.rest.startScan({ site_id: site.siteId, target: LAN.subnet, profile: "quick" });
    await waitFor("the end of the scan", async () => ((await site.collector.rest.readScan(id)).status === "completed") || null);
    expect((await alerts()).length).toBe(1);
  });

  test("scans that open no connection are touches of their kind, each source's; what connects is never taken for one", async () => {
    const { path, env } = (await unpackDebianPackages(["nmap"])).command("nmap");
    const { stdout } = await site.lab.exec("printer", "ip", ["-o", "route", "get", PROBE_BOX.lanAddress]);
    const link = / dev (\S+)/.exec(stdout)?.[1] ?? "";
    const nmap = (...args: readonly string[]) => site.lab.exec("printer", path, ["-n", "--max-retries", "1", "-e", link, ...args, PROBE_BOX.lanAddress], { env });
    const scans = [
      ["syn-scan", "-sS", "-p", "2121,7001-7020"], ["null-scan", "-sN", "-p", "7001,7002"], ["fin-scan", "-sF", "-p", "7001,7002"], ["xmas-scan", "-sX", "-p", "7001,7002"],
      ["ack-scan", "-sA", "-p", "7001-7010"], ["udp-scan", "-sU", "-p", "7001"], ["odd-flags-scan", "-sS", "--scanflags", "SYNFIN", "-p", "7001"], ["fragment-scan", "-sS", "-f", "-p", "7001,7002"],
    ] as const;
    const addressOf = (index: number) => `10.77.0.${201 + index}`;
    for (const [index, [, ...args]] of scans.entries()) {
      await site.lab.exec("printer", "ip", ["address", "add", `${addressOf(index)}/24`, "dev", link]);
      await nmap("-Pn", "-S", addressOf(index), ...args);
    }
    for (const [index, [kind]] of scans.entries()) {
      const hit = await waitFor(`the ${kind}`, () => hits().find(({ source_ip: ip }) => ip === addressOf(index)) ?? null);
      expect(hit).toMatchObject({ stage: "touch", severity: "low", service: kind, decoy: "files2", destination_ip: PROBE_BOX.lanAddress, report: "first", mitre_techniques: ["T1046"] });
    }
    await site.lab.exec("printer", "ip", ["address", "add", `${addressOf(scans.length)}/24`, "dev", link]);
    await nmap("-sn", "-PE", "--disable-arp-ping", "-S", addressOf(scans.length));
    // It asks a raw print port for no version, for that would be printed: all that comes there is a connection half open.
    await site.lab.exec("printer", "ip", ["address", "add", `${addressOf(scans.length + 1)}/24`, "dev", link]);
    await nmap("-Pn", "-sV", "-S", addressOf(scans.length + 1), "-p", "9100");
    const print = await waitFor("the look at the print port", () => hits().find(({ source_ip: ip }) => ip === addressOf(scans.length + 1)) ?? null);
    expect([print.decoy, print.destination_port]).toEqual(["files2", 9100]);
    const ping = await waitFor("the ping", () => hits().find(({ source_ip: ip }) => ip === addressOf(scans.length)) ?? null);
    expect([ping.service, ping.destination_port]).toEqual(["ping", 0]);
    // A thousand connections that were broken off, of a laptop that knows nothing of scans and was in the shell of telnet.
    const kinds = new Set(hits().filter(({ services, usernames }) => services?.includes("ftp") && usernames?.includes("root")).flatMap(({ services }) => services ?? []));
    expect(kinds).toEqual(new Set(["ftp", "telnet"]));
  });

  test("a password that was tried comes to the collector, sealed on its way, and is in no file of the daemon", async () => {
    const { rest } = site.collector;
    await site.lab.exec("printer", process.execPath, ["-e", GUESS, "ann", "1", "Grey-Plover-77"]);
    const credential = await waitFor("the credential", async () => (await rest.listHoneypotCredentials({ username: "ann" })).data[0] ?? null);
    expect((await rest.revealHoneypotCredential(credential.id)).password).toBe("Grey-Plover-77");
    const files = readdirSync(site.box.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((path) => readFileSync(path).includes("Grey-Plover-77"))).toEqual([]);
  });

  const startPoisoner = (own: string) => {
    const { path, args } = site.lab.inside("laptop", process.execPath, ["-e", POISON, own]);
    return spawn(path, [...args], { stdio: ["pipe", "pipe", "inherit"] });
  };

  test("decoys ask for names that no host has: a quiet network stays silent, a responder of real names too, and who answers is an alert", async () => {
    const address = /inet ([\d.]+)/.exec((await site.lab.exec("laptop", "ip", ["-4", "-o", "address", "show", "scope", "global"])).stdout)?.[1] ?? "";
    const poisoner = startPoisoner(address);
    try {
      let asked = "";
      poisoner.stdout.setEncoding("utf8").on("data", (text: string) => (asked += text));
      const baits = () => new Map([...asked.matchAll(/^(\d+) ([a-z]{3,13}\d\d)$/gm)].map(([, port = "", name = ""]) => [port, name]));
      await decoys?.kill();
      await startDecoys();
      await waitFor("all three questions", () => baits().size === 3 || null);
      expect(new Set(baits().values()).size).toBe(3);
      poisoner.stdin.write("answer\n");
      // What was asked was answered by nobody, the printer's avahi among them: what came later was reported, and no answer before it.
      expect(await guess("later", "1")).toBe(1);
      await waitFor("what came later", () => hits().find(({ usernames }) => usernames?.includes("later")) ?? null);
      expect(hits().filter(({ stage }) => stage === "name_poisoning")).toEqual([]);
      await decoys?.kill();
      await startDecoys();
      const hit = await waitFor("the poisoner", () => hits().find(({ stage }) => stage === "name_poisoning") ?? null);
      expect(hit).toMatchObject({ source_ip: address, severity: "high", decoy: "files2", destination_ip: PROBE_BOX.lanAddress, mitre_techniques: ["T1557.001"], detail: expect.stringContaining("gave 10.77.0.66 for ") as string });
      expect(hit.source_mac).toMatch(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/);
      const alert = await waitFor("its alert", async () => (await alerts()).find(({ id }) => id === alertIdOf(site.probeId, hit.incident_id ?? "")) ?? null);
      expect(alert).toMatchObject({ type: "honeypot_hit", severity: "high", status: "open", device_ip: address });
      expect(hits().filter(({ stage }) => stage === "name_poisoning").map(({ source_ip: ip }) => ip)).toEqual([address]);
    } finally {
      poisoner.kill();
    }
  });

  test("who answers over IPv6 alone is found, too, and with the MAC address that the site knows", async () => {
    const address = /inet6 ([\da-f:]+)/.exec((await site.lab.exec("laptop", "ip", ["-6", "-o", "address", "show", "dev", "eth0", "scope", "link"])).stdout)?.[1] ?? "";
    expect(address).toMatch(/^fe80:/);
    const poisoner = startPoisoner(address);
    try {
      let asked = "";
      poisoner.stdout.setEncoding("utf8").on("data", (text: string) => (asked += text));
      poisoner.stdin.write("answer\n");
      await decoys?.kill();
      await startDecoys();
      const ports = () => new Set([...asked.matchAll(/^(\d+) [a-z]{3,13}\d\d$/gm)].map(([, port]) => port));
      await waitFor("both questions", () => ports().size === 2 || null);
      const hit = await waitFor("the poisoner", () => hits().find(({ stage, source_ip: ip }) => stage === "name_poisoning" && ip === address) ?? null);
      expect(hit).toMatchObject({ severity: "high", decoy: "files2", mitre_techniques: ["T1557.001"], detail: expect.stringContaining("gave 10.77.0.66 for ") as string, source_mac: laptop?.mac });
      expect(hit.destination_ip).toMatch(/^fe80:/);
    } finally {
      poisoner.kill();
    }
  });
});
