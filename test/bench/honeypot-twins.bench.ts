import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { XMLParser } from "fast-xml-parser";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { HOSTS, PROBE_BOX } from "../lab/host-plan.ts";
import { createLab, type Lab } from "../lab/lab.ts";
import { SERVICE_HOSTS } from "../lab/service-hosts.ts";
import { startDaemon } from "../system/daemon.ts";
import { PROBE } from "../system/deployment.ts";

/** A decoy's service, and the host of the larger lab whose Debian daemon it plays. */
interface Twin {
  readonly service: string;
  readonly port: number;
  readonly isDatagram?: true;
  readonly host: string;
  /** Of nmap: those that ask and change nothing. */
  readonly scripts: string;
}

const TWINS: readonly Twin[] = [
  { service: "ssh", port: 22, host: "build", scripts: "ssh2-enum-algos,ssh-auth-methods,ssh-hostkey" },
  { service: "ftp", port: 21, host: "ftp", scripts: "banner,ftp-anon,ftp-syst" },
  { service: "http", port: 80, host: "apache", scripts: "http-server-header,http-methods" },
  { service: "pop3", port: 110, host: "mail", scripts: "banner,pop3-capabilities" },
  { service: "imap", port: 143, host: "mail", scripts: "banner,imap-capabilities" },
  { service: "mysql", port: 3306, host: "mariadb", scripts: "mysql-info" },
  { service: "postgres", port: 5432, host: "postgres", scripts: "banner" },
  { service: "redis", port: 6379, host: "cache", scripts: "redis-info" },
  { service: "memcached", port: 11_211, host: "cache", scripts: "memcached-info" },
  { service: "mqtt", port: 1883, host: "broker", scripts: "mqtt-subscribe" },
  { service: "ldap", port: 389, host: "directory", scripts: "ldap-rootdse" },
  { service: "ipp", port: 631, host: "spooler", scripts: "http-server-header,http-title,http-methods" },
  { service: "proxy", port: 3128, host: "proxy", scripts: "http-server-header,http-title" },
  { service: "vnc", port: 5900, host: "desktop", scripts: "vnc-info" },
  { service: "smb2", port: 445, host: "files", scripts: "smb-protocols,smb2-security-mode,smb2-capabilities" },
  { service: "snmp", port: 161, isDatagram: true, host: "build", scripts: "snmp-sysdescr,snmp-info" },
  { service: "ntp", port: 123, isDatagram: true, host: "clock", scripts: "ntp-info,ntp-monlist" },
  { service: "tftp", port: 69, isDatagram: true, host: "boot", scripts: "banner" },
];

const LOOKS = 2;
/** An idle machine needs a tenth of it. */
const LOOK_TIMEOUT_MS = 600_000;

/**
 * nmap -sV with its info scripts, and ssh-audit, against each decoy and against the Debian daemon that it plays: what they say of the one and not of the other.
 * Numbers are not compared: a decoy claims an older Debian than the lab's daemons are of.
 */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new Error("honeypot-twins takes no arguments");
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-twins-"));
  const audit = await unpackDebianPackages(["ssh-audit"]);
  const lab = await createLab({ id: "twins", areGuarded: true, hosts: ["gateway", "laptop", ...new Set(TWINS.map(({ host }) => host))] });
  try {
    writeFileSync(join(folder, "decoy.toml"), [
      `data_dir = ${JSON.stringify(folder)}\nlink_directory = ${JSON.stringify(folder)}`,
      `[[decoys]]\nname = "twin"\naddress = "${PROBE_BOX.lanAddress}"\nservices = [${TWINS.map(({ service, port }) => `{ service = "${service}", port = ${port} }`).join(", ")}]\n`,
    ].join("\n"));
    const decoys = await startDaemon({ script: PROBE, args: ["decoy", "--config", join(folder, "decoy.toml")], env: {}, namespace: lab.probe.namespace, logFile: join(folder, "decoys.log") });
    try {
      const differences: { readonly service: string; readonly decoy: readonly string[]; readonly real: readonly string[] }[] = [];
      for (const twin of TWINS) {
        const { facts, decoy, real } = await compare(lab, twin, audit);
        console.log(`${twin.service.padEnd(10)} ${decoy.length + real.length === 0 ? `same in ${facts} facts` : ""}`);
        for (const fact of decoy) console.log(`   the decoy alone: ${fact}`);
        for (const fact of real) console.log(`   the daemon alone: ${fact}`);
        if (decoy.length + real.length > 0) differences.push({ service: twin.service, decoy, real });
      }
      console.log(JSON.stringify({ bench: "honeypot-twins", twins: TWINS.length, same: TWINS.length - differences.length, differences }));
    } finally {
      await decoys.kill();
    }
  } finally {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What one of them shows each time, and the other never: on a busy machine nmap does not wait for every answer. */
async function compare(lab: Lab, twin: Twin, audit: DebianRoot): Promise<{ readonly facts: number; readonly decoy: readonly string[]; readonly real: readonly string[] }> {
  const [ofDecoy, ofReal]: [ReadonlySet<string>[], ReadonlySet<string>[]] = [[], []];
  const only = (of: readonly ReadonlySet<string>[], others: readonly ReadonlySet<string>[]) => [...of[0] ?? []].filter((fact) => of.every((look) => look.has(fact)) && !others.some((look) => look.has(fact)));
  for (let left = LOOKS; left > 0; left -= 1) {
    ofDecoy.push(await look(lab, twin, PROBE_BOX.lanAddress, audit));
    ofReal.push(await look(lab, twin, addressOf(twin.host), audit));
    if (only(ofDecoy, ofReal).length + only(ofReal, ofDecoy).length === 0) break;
  }
  return { facts: ofReal[0]?.size ?? 0, decoy: only(ofDecoy, ofReal), real: only(ofReal, ofDecoy) };
}

function addressOf(name: string): string {
  const address = [...HOSTS, ...SERVICE_HOSTS].find((host) => host.name === name)?.addresses[0]?.split("/")[0];
  if (address === undefined) throw new Error(`the larger lab has no host ${name}`);
  return address;
}

/** What is said of it, each a line without its numbers. */
async function look(lab: Lab, { service, port, isDatagram, scripts }: Twin, address: string, audit: DebianRoot): Promise<ReadonlySet<string>> {
  const { path, env } = lab.packages.command("nmap");
  const { stdout } = await lab.exec("laptop", path, [isDatagram ? "-sU" : "-sT", "-sV", "-Pn", "-n", "--script", scripts, "--script-timeout", "60s", "-p", `${port}`, "-oX", "-", address], { env, timeoutMs: LOOK_TIMEOUT_MS });
  const facts = new Set(factsOf(stdout));
  if (facts.size === 0) throw new Error(`nmap said nothing of ${service} at ${address}`);
  if (service === "ssh") for (const fact of await auditSsh(lab, address, audit)) facts.add(fact);
  return facts;
}

function factsOf(xml: string): readonly string[] {
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "", isArray: (name) => name === "script" || name === "port" });
  const run = (parser.parse(xml) as { readonly nmaprun?: { readonly host?: { readonly ports?: { readonly port?: readonly NmapPort[] } } } }).nmaprun;
  return (run?.host?.ports?.port ?? []).flatMap(({ state, service, script }) => [
    `state ${state?.state}`, ...(["name", "product", "extrainfo", "ostype"] as const).flatMap((key) => (service?.[key] === undefined ? [] : [`${key} ${withoutNumbers(service[key])}`])),
    // Lists are in any order, and salts in none.
    ...(script ?? []).flatMap(({ id, output }) => output.split(/\n|&#xa;/).filter((line) => !/\b(?:salt|thread id|cookie|date|uptime|_time)\b/i.test(line))
      .flatMap((line) => withoutNumbers(line).split(/,\s*|\s+/)).filter((word) => word !== "").map((word) => `${id} ${word}`)),
  ]);
}

interface NmapPort {
  readonly state?: { readonly state: string };
  readonly service?: Readonly<Partial<Record<"name" | "product" | "extrainfo" | "ostype", string>>>;
  readonly script?: readonly { readonly id: string; readonly output: string }[];
}

/** Nor releases of Debian, and lines of a program's source. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/(?:[0-9a-f]{2}:){5,}[0-9a-f]{2}|\b[0-9a-f]{12,}\b/gi, "H").replaceAll(/\bdeb\d+u\d+\b/g, "debN").replaceAll(/\bL\d+\b/g, "L").replaceAll(/\b\d[\w.]*/g, "N");
}

async function auditSsh(lab: Lab, address: string, audit: DebianRoot): Promise<readonly string[]> {
  const { path, env } = audit.command("ssh-audit");
  const { stdout } = await lab.exec("laptop", "python3", [path, "-j", address], { env: { ...env, PYTHONPATH: join(audit.root, "usr/lib/python3/dist-packages"), PATH: process.env["PATH"] ?? "" }, timeoutMs: LOOK_TIMEOUT_MS });
  const report = JSON.parse(stdout) as Readonly<Record<"kex" | "key" | "enc" | "mac" | "compression", readonly (string | { readonly algorithm: string })[]>>;
  return (["kex", "key", "enc", "mac", "compression"] as const).flatMap((list) => report[list].map((one) => `ssh-audit ${list} ${typeof one === "string" ? one : one.algorithm}`));
}
