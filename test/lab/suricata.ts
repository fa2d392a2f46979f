/** A real Suricata that reads capture files: what rules are held against. It never sees an interface. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unpackDebianPackages } from "./debian-packages.ts";
import { LabError } from "./errors.ts";
import { tryCommand } from "./run-command.ts";

/** The program, and what it needs in its environment. */
export interface Suricata {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
  readonly hasHyperscan: boolean;
}

/** How a capture is read. */
export interface SuricataRun {
  /** Written anew, with all that Suricata says. */
  readonly folder: string;
  readonly rules: string;
  readonly capture: string;
  /** `hs` is Hyperscan, `ac` its own matcher. */
  readonly matcher?: "hs" | "ac";
  /** classification.config; none without. */
  readonly classifications?: string;
  /** Values of its variables HOME_NET and so on. */
  readonly addresses?: Readonly<Record<string, string>>;
  readonly ports?: Readonly<Record<string, string>>;
  /** Laid over the configuration, as `--set` takes them, and other options. */
  readonly args?: readonly string[];
  readonly timeoutMs?: number;
}

/** What came of it. */
export interface SuricataResult {
  /** Events of eve.json of the kind `alert`, in order. */
  readonly alerts: readonly Readonly<Record<string, unknown>>[];
  /** Of processor time, as the next: of the thread that reads the configuration and the rules. */
  readonly loadSeconds: number;
  /** Of the thread that reads frames and inspects them. */
  readonly packetSeconds: number;
  /** The most that was resident, in bytes. */
  readonly rssBytes: number;
  readonly rules: { readonly loaded: number; readonly failed: number };
}

const MIN_MAJOR = 7;
const WATCH_MS = 5;
const DEFAULT_ADDRESSES = {
  HOME_NET: "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12]", EXTERNAL_NET: "!$HOME_NET", HTTP_SERVERS: "$HOME_NET", SMTP_SERVERS: "$HOME_NET", SQL_SERVERS: "$HOME_NET",
  DNS_SERVERS: "$HOME_NET", TELNET_SERVERS: "$HOME_NET", AIM_SERVERS: "$EXTERNAL_NET", DC_SERVERS: "$HOME_NET", DNP3_SERVER: "$HOME_NET", DNP3_CLIENT: "$HOME_NET",
  MODBUS_CLIENT: "$HOME_NET", MODBUS_SERVER: "$HOME_NET", ENIP_CLIENT: "$HOME_NET", ENIP_SERVER: "$HOME_NET",
};
const DEFAULT_PORTS = {
  HTTP_PORTS: "80", SHELLCODE_PORTS: "!80", ORACLE_PORTS: "1521", SSH_PORTS: "22", DNP3_PORTS: "20000", MODBUS_PORTS: "502", FILE_DATA_PORTS: "[$HTTP_PORTS,110,143]",
  FTP_PORTS: "21", GENEVE_PORTS: "6081", VXLAN_PORTS: "4789", TEREDO_PORTS: "3544", SIP_PORTS: "[5060,5061]",
};

/** The machine's own, else that of its Debian release or its backports. @returns Why there is none, in words, where it cannot be had. */
export async function findSuricata(): Promise<Suricata | string> {
  try {
    const own = await tryCommand("suricata", ["--build-info"]);
    if (own.code === 0) return describe("suricata", {}, own.stdout);
    const { path, env } = (await unpackDebianPackages(["suricata"])).command("suricata");
    return describe(path, env, (await tryCommand(path, ["--build-info"], { env })).stdout);
  } catch (error) {
    if (error instanceof LabError) return `Suricata cannot be had: ${error.message}`;
    throw error;
  }
}

function describe(path: string, env: Suricata["env"], info: string): Suricata | string {
  const version = /Suricata version (\S+)/.exec(info)?.[1] ?? "";
  if (!(Number.parseInt(version, 10) >= MIN_MAJOR)) return `this Suricata is of version ${version || "unknown"}; ${MIN_MAJOR} or later is needed`;
  return { path, env, version, hasHyperscan: /Hyperscan support:\s+yes/.test(info) };
}

/** @throws LabError `command-failed` when it ends badly or does not end. */
export async function runSuricata(suricata: Suricata, run: SuricataRun): Promise<SuricataResult> {
  await rm(run.folder, { recursive: true, force: true });
  await mkdir(run.folder, { recursive: true });
  const configuration = join(run.folder, "suricata.yaml");
  await writeFile(configuration, configurationOf(run));
  if (run.classifications !== undefined) await writeFile(join(run.folder, "classification.config"), run.classifications);
  const args = ["-c", configuration, "-r", run.capture, "-S", run.rules, "-l", run.folder, "--runmode", "single", "-k", "none", ...(run.args ?? [])];
  const watched = await runWatched(suricata, args, run.timeoutMs ?? 600_000);
  const log = (await readLines(join(run.folder, "suricata.log"))).map(parseEntry);
  const alerts = await readLines(join(run.folder, "eve.json"));
  if (!log.some(({ message }) => /end of file reached/.test(message))) throw new LabError("command-failed", "Suricata did not read the capture to its end");
  const count = log.map(({ message }) => /(\d+) rules? successfully loaded, (\d+) rules? failed/.exec(message)).find((match) => match !== null);
  return {
    alerts: alerts.map((line) => JSON.parse(line) as Record<string, unknown>).filter((event) => event["event_type"] === "alert"),
    ...watched, rules: { loaded: Number(count?.[1] ?? 0), failed: Number(count?.[2] ?? 0) },
  };
}

/** What the process took, looked at while it ran. */
type Watched = Pick<SuricataResult, "loadSeconds" | "packetSeconds" | "rssBytes">;

async function runWatched({ path, env }: Suricata, args: readonly string[], timeoutMs: number): Promise<Watched> {
  const child = spawn("/usr/bin/env", [...Object.entries({ LC_ALL: "C", ...env }).map(([name, value]) => `${name}=${value}`), path, ...args], { stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, killSignal: "SIGKILL" });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  let watched: Watched = { loadSeconds: 0, packetSeconds: 0, rssBytes: 0 };
  const watch = setInterval(() => {
    watched = look(child.pid ?? 0, watched);
  }, WATCH_MS);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 128));
    });
    if (code !== 0) throw new LabError("command-failed", `Suricata ended with ${code}: ${said.trim().split("\n").slice(-5).join("\n")}`);
    return watched;
  } finally {
    clearInterval(watch);
  }
}

/** Its worker thread is there until it ends, so that the last look misses little. @see https://docs.kernel.org/scheduler/sched-stats.html */
function look(pid: number, before: Watched): Watched {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => ({ isMain: thread === String(pid), name: readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8"), path: `/proc/${pid}/task/${thread}/schedstat` }));
    const secondsOf = (found: (typeof threads)[number] | undefined) => (found === undefined ? 0 : Number(readFileSync(found.path, "latin1").split(" ")[0]) / 1e9);
    const rss = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
    return {
      loadSeconds: Math.max(before.loadSeconds, secondsOf(threads.find(({ isMain }) => isMain))), packetSeconds: Math.max(before.packetSeconds, secondsOf(threads.find(({ name }) => name.startsWith("W#")))),
      rssBytes: Math.max(before.rssBytes, rss),
    };
  } catch {
    // It has ended since.
    return before;
  }
}

async function readLines(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

function parseEntry(line: string): { readonly message: string } {
  const { engine } = JSON.parse(line) as { readonly engine: { readonly message?: string } };
  return { message: engine.message ?? "" };
}

/** All that it would draw lots for is fixed, so that a run can be repeated. */
function configurationOf({ matcher = "hs", addresses, ports, classifications, folder }: SuricataRun): string {
  const lines = (all: Readonly<Record<string, string>>) => Object.entries(all).map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`).join("\n");
  return `%YAML 1.1
---
vars:
  address-groups:
${lines({ ...DEFAULT_ADDRESSES, ...addresses })}
  port-groups:
${lines({ ...DEFAULT_PORTS, ...ports })}
${classifications === undefined ? "" : `classification-file: ${JSON.stringify(join(folder, "classification.config"))}\n`}stats: { enabled: no }
mpm-algo: ${matcher}
spm-algo: ${matcher === "hs" ? "hs" : "bm"}
outputs:
  - eve-log: { enabled: yes, filetype: regular, filename: eve.json, types: [ { alert: { metadata: yes, tagged-packets: no } } ] }
logging:
  default-log-level: perf
  outputs:
    - console: { enabled: no }
    - file: { enabled: yes, level: perf, filename: suricata.log, type: json }
pcap-file: { checksum-checks: no }
stream:
  memcap: 256mb
  checksum-validation: no
  inline: no
  reassembly: { memcap: 512mb, depth: 1mb, toserver-chunk-size: 2560, toclient-chunk-size: 2560, randomize-chunk-size: no }
app-layer:
  protocols:
    tls: { enabled: yes, ja3-fingerprints: yes, ja4-fingerprints: yes, detection-ports: { dp: 443 } }
    http:
      enabled: yes
      libhtp: { default-config: { personality: IDS, request-body-limit: 100kb, response-body-limit: 100kb, request-body-minimal-inspect-size: 32kb, request-body-inspect-window: 4kb, response-body-minimal-inspect-size: 40kb, response-body-inspect-window: 16kb, randomize-inspection-sizes: no } }
    quic: { enabled: yes, ja3-fingerprints: yes }
    http2: { enabled: yes }
    ssh: { enabled: yes, hassh: yes }
    rdp: { enabled: yes }
    smb: { enabled: yes, detection-ports: { dp: "139, 445" } }
    dcerpc: { enabled: yes }
    ftp: { enabled: yes }
    smtp: { enabled: yes }
    imap: { enabled: detection-only }
    dns: { tcp: { enabled: yes, detection-ports: { dp: 53 } }, udp: { enabled: yes, detection-ports: { dp: 53 } } }
    tftp: { enabled: yes }
    nfs: { enabled: yes }
    krb5: { enabled: yes }
    snmp: { enabled: yes }
    ike: { enabled: yes }
    ntp: { enabled: yes }
    dhcp: { enabled: yes }
    sip: { enabled: yes }
    rfb: { enabled: yes }
    mqtt: { enabled: yes }
    telnet: { enabled: yes }
    bittorrent-dht: { enabled: yes }
    modbus: { enabled: no }
    dnp3: { enabled: no }
    enip: { enabled: no }
    pgsql: { enabled: no }
packet-alert-max: 255
detect: { profile: medium, sgh-mpm-context: auto, prefilter: { default: mpm } }
security: { landlock: { enabled: no }, limit-noproc: false }
unix-command: { enabled: no }
pcre: { match-limit: 3500, match-limit-recursion: 1500 }
flow: { memcap: 512mb, hash-size: 65536, prealloc: 10000 }
defrag: { memcap: 64mb }
host-os-policy: { windows: [ "0.0.0.0/0" ] }
`;
}
