import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { EVENTS } from "@lanthorn/contract";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { runCommand } from "../lab/run-command.ts";
import { waitFor } from "../lab/wait-for.ts";
import { startDaemon } from "../system/daemon.ts";
import { PROBE } from "../system/deployment.ts";
import { openSite, type Site } from "../system/site.ts";
import { CLIENT_PACKAGES, CLIENTS, type DecoyClient } from "./honeypot-clients.ts";
import { type Arrived, type HitReceiver, receiveHits } from "./honeypot-webhook.ts";

const GUESSES = 1000;
const FLOOD = { sources: 500, perSource: 10, perSecond: 1100 } as const;
const SESSIONS = 500;
const SESSION_SECONDS = 20;
/** A session ends after an hour. */
const MAX_SESSION_SECONDS = 3540;
const SETTLE_MS = 10_000;
/** A client that hangs is a failure of the decoy. */
const CLIENT_MS = 60_000;
/** A call that has not come by then never does. */
const CALL_MS = 20_000;
const [FLOODED_PORT, HELD_PORT] = [8080, 2323] as const;
const FLOOD_PROGRAM = fileURLToPath(new URL("honeypot-flood.ts", import.meta.url));

/**
 * Real clients of Debian against every service of a decoy's process that runs beside a probe, with a collector: whether each is seen on the collector's stream, as
 * far as it went, and how long from where it began until a subscriber was called with the hit, signed; after a thousand guesses by hydra; then a scan by nmap -sV, a flood from many sources, and many sessions at once.
 * Before the clients come, nothing may be seen for ten seconds. Memory is the resident set in MB of 10^6 bytes.
 */
export async function run(args: readonly string[]): Promise<void> {
  const [heldFor = String(SESSION_SECONDS), ...more] = args;
  const seconds = Number(heldFor);
  if (more.length > 0 || !Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_SESSION_SECONDS) throw new Error(`honeypot takes one argument at most: for how many seconds the sessions are held, 1 to ${MAX_SESSION_SECONDS}`);
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-honeypot-"));
  const shared = join(folder, "shared");
  mkdirSync(shared);
  const clients = await unpackDebianPackages(CLIENT_PACKAGES);
  const site = await openSite({ hosts: ["gateway", "laptop", "printer"], events: ["honeypot_hit"], probeEnv: { LANTHORN_DECOY_DIRECTORY: shared }, collectorEnv: { LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" } });
  const { arrived, end } = watchHits(site);
  const receiver = await receiveHits(site.collector.rest);
  try {
    writeFileSync(join(folder, "decoy.toml"), decoyToml(folder, shared));
    const start = () => startDaemon({
      script: PROBE, args: ["decoy", "--config", join(folder, "decoy.toml")], nodeFlags: ["--v8-pool-size=1"], env: { MALLOC_ARENA_MAX: "1", NODE_ENV: "production" }, namespace: site.lab.probe.namespace,
      logFile: join(folder, "decoys.log"),
    });
    // What the first start makes, keys and a certificate, is there for the second, as on all days but one.
    await (await start()).stop();
    const decoys = await start();
    try {
      await pause(SETTLE_MS);
      const idleMb = residentMegabytes(decoys.pid);
      const falseHits = arrived.length;
      // First: where very many decoys are touched within minutes, the alerts of all become one summary.
      const guessing = await guessPasswords(site, clients.command("hydra"), folder, arrived);
      const seen = await useClients(site, clients, arrived, receiver);
      const scan = await scanServices(site, clients.command("nmap"), arrived);
      const flood = await floodDecoy(site, arrived);
      const held = await holdSessions(site, decoys.pid, seconds);
      console.log(JSON.stringify({
        bench: "honeypot", services: CLIENTS.length, ...seen, false_hits: falseHits, scanned_seen: scan, guesses_alerts: guessing, ...flood, idle_rss_mb: idleMb, ...held,
      }));
    } finally {
      await decoys.kill();
    }
  } finally {
    end();
    await site.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function decoyToml(folder: string, shared: string): string {
  const decoy = (name: string, address: string, service: string, port: number) => `[[decoys]]\nname = "${name}"\naddress = "${address}"\nservices = [{ service = "${service}", port = ${port} }]\n`;
  return [
    `data_dir = ${JSON.stringify(folder)}\nlink_directory = ${JSON.stringify(shared)}\n`, ...CLIENTS.map(({ service, port }) => decoy(service, PROBE_BOX.lanAddress, service, port)),
    decoy("flooded", "127.0.0.1", "http", FLOODED_PORT), decoy("held", "127.0.0.1", "telnet", HELD_PORT),
  ].join("\n");
}

function watchHits(site: Site) {
  const arrived: Arrived[] = [];
  let read = 0;
  const timer = setInterval(() => {
    for (; read < site.frames.length; read += 1) {
      const frame = site.frames[read];
      if (frame?.event === "honeypot_hit") arrived.push({ hit: EVENTS.honeypot_hit.data.parse(frame.data), atMs: Date.now() });
    }
  }, 5);
  return { arrived: arrived as readonly Arrived[], end: () => clearInterval(timer) };
}

type Command = ReturnType<DebianRoot["command"]>;

async function useClients(site: Site, { command, root }: DebianRoot, arrived: readonly Arrived[], { calls }: HitReceiver) {
  const use = async (client: DecoyClient) => {
    const { path, env } = command(client.program);
    const { args, service, port, stage, input } = client;
    const [before, callsBefore] = [arrived.length, calls.length];
    const called = () => calls.slice(callsBefore).find(({ hit }) => hit.decoy === service);
    await site.lab.exec("laptop", path, args(PROBE_BOX.lanAddress, port), { env: { ...env, PATH: process.env["PATH"] ?? "", PYTHONPATH: join(root, "usr/lib/python3/dist-packages") }, timeoutMs: CLIENT_MS, ...(input !== undefined && { input }) });
    // What is still on its way when the client has ended.
    await pause(1500);
    const own = arrived.slice(before).filter(({ hit }) => hit.decoy === service);
    const reached = own.at(-1)?.hit.stage ?? null;
    for (const end = Date.now() + CALL_MS; !called() && Date.now() < end;) await pause(10);
    const call = called();
    const seconds = call ? (call.atMs - Date.parse(call.hit.since ?? "")) / 1000 : Number.POSITIVE_INFINITY;
    console.log(`${service.padEnd(10)} ${client.program.padEnd(10)} ${reached ?? "not seen"}${reached === stage ? "" : `, not ${stage}`} ${seconds} s`);
    return { isSeen: reached !== null, isRight: reached === stage, seconds };
  };
  const results = [];
  for (const client of CLIENTS) results.push(await use(client));
  // In JSON null, where that one never came.
  const delays = results.map(({ seconds }) => seconds).toSorted((a, b) => a - b);
  return {
    hits_seen: results.filter(({ isSeen }) => isSeen).length, stages_right: results.filter(({ isRight }) => isRight).length,
    seconds_to_event_p95: delays[Math.min(delays.length - 1, Math.floor(delays.length * 0.95))] ?? null,
  };
}

/** @returns How many services of the decoys nmap's look was seen at. */
async function scanServices(site: Site, nmap: Command, arrived: readonly Arrived[]): Promise<number> {
  const of = (isDatagram: boolean) => CLIENTS.filter((client) => (client.isDatagram === true) === isDatagram).map(({ port }) => port).join(",");
  const { stdout } = await site.lab.exec("printer", nmap.path, ["-sT", "-sU", "-sV", "--version-light", "-Pn", "-n", "-p", `T:${of(false)},U:${of(true)}`, PROBE_BOX.lanAddress], { env: nmap.env, timeoutMs: 300_000 });
  console.log(stdout.split("\n").filter((line) => /^\d+\/(?:tcp|udp)/.test(line)).join("\n"));
  await pause(3000);
  const source = sourceOf(arrived, "banner");
  const seen = new Set(arrived.filter(({ hit }) => hit.source_ip !== source).map(({ hit }) => hit.decoy));
  const missed = CLIENTS.filter(({ service }) => !seen.has(service)).map(({ service }) => service);
  if (missed.length > 0) console.log(`nmap was not seen at ${missed.join(", ")}`);
  return seen.size;
}

/** The first source: that of the clients. */
function sourceOf(arrived: readonly Arrived[], decoy: string): string {
  return arrived.find(({ hit }) => hit.decoy === decoy)?.hit.source_ip ?? "";
}

/** @returns How many alerts there are of the printer, which guesses passwords of one decoy. */
async function guessPasswords(site: Site, hydra: Command, folder: string, arrived: readonly Arrived[]): Promise<number> {
  const list = join(folder, "passwords");
  writeFileSync(list, Array.from({ length: GUESSES }, (_, number) => `guess${number}`).join("\n"));
  const before = arrived.length;
  const { stdout, code } = await site.lab.exec("printer", hydra.path, ["-I", "-q", "-t", "64", "-l", "admin", "-P", list, PROBE_BOX.lanAddress, "ftp"], { env: hydra.env, timeoutMs: 120_000 });
  console.log(`hydra ended with ${code}: ${stdout.trim().split("\n").at(-1) ?? ""}`);
  const { hit } = await waitFor("the guesses", () => arrived.slice(before).find(({ hit: { decoy, stage } }) => decoy === "ftp" && stage === "credential") ?? null);
  const { data } = await site.collector.rest.listAlerts({ source: "honeypot", per_page: 1000 });
  return data.filter(({ device_ip: ip, title }) => ip === hit.source_ip && title.includes("the decoy ftp ")).length;
}

async function floodDecoy(site: Site, arrived: readonly Arrived[]) {
  const stdout = await inProbe(site, [FLOODED_PORT, FLOOD.sources, FLOOD.perSource, FLOOD.perSecond, 0]);
  const { per_second: perSecond, failed } = JSON.parse(stdout) as { readonly per_second: number; readonly failed: number };
  const seen = () => new Set(arrived.filter(({ hit }) => hit.decoy === "flooded").map(({ hit }) => hit.source_ip)).size;
  const end = Date.now() + 60_000;
  while (seen() < FLOOD.sources && Date.now() < end) await pause(100);
  return { connections_per_second: perSecond, connections_failed: failed, first_hits_lost: FLOOD.sources - seen() };
}

async function holdSessions(site: Site, pid: number, seconds: number) {
  let highest = 0;
  const timer = setInterval(() => (highest = Math.max(highest, residentMegabytes(pid))), 500);
  const { held } = JSON.parse(await inProbe(site, [HELD_PORT, 1, SESSIONS, 200, seconds])) as { readonly held: number };
  clearInterval(timer);
  return { rss_mb_500_sessions: highest, sessions_held: held, seconds_held: seconds };
}

function inProbe(site: Site, numbers: readonly number[]) {
  return runCommand("ip", ["netns", "exec", site.lab.probe.namespace, process.execPath, ...process.execArgv, FLOOD_PROGRAM, ...numbers.map(String)], { timeoutMs: 3_900_000 });
}

function residentMegabytes(pid: number): number {
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  return Math.round(kilobytes * 1024 / 1e5) / 10;
}
