import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";
import { avahiConf, avahiService, dhcpScript, dnsmasqConf, nginxConf, snmpdConf } from "./daemon-files.ts";
import type { DebianRoot } from "./debian-packages.ts";
import { GUARDED_SSHD, GUARDED_STARTS } from "./guarded-starts.ts";
import { lines } from "./lines.ts";
import { type Daemon, type HostPlan, isServiceDaemon, type PlainDaemon } from "./host-plan.ts";
import { SERVICE_STARTS } from "./service-starts.ts";

/** Debian packages that hold the lab's programs, in releases 12 and 13. */
export const LAB_PACKAGES = [
  "iproute2",
  "ethtool",
  "busybox",
  "dnsmasq-base",
  "openssh-server",
  "openssh-client",
  "nginx",
  "snmpd",
  "lldpd",
  "avahi-daemon",
  "iputils-ping",
  "iputils-arping",
  "tcpdump",
] as const;

/** One program to start in a box. */
export interface DaemonStart {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files to write before, by their path inside the box's folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Shell lines to run before, inside the box; `/run` is empty and its own there. */
  readonly before: readonly string[];
}

interface BoxFiles {
  readonly plan: HostPlan;
  readonly packages: DebianRoot;
  /** The box's folder on the machine's disk. */
  readonly folder: string;
  /** All hosts, for the DNS server. */
  readonly hosts: readonly HostPlan[];
}

/** How each daemon is started in a host's box. All stay in the foreground, below the box's first process. */
const DAEMON_STARTS: Readonly<Record<PlainDaemon, (box: BoxFiles) => DaemonStart>> = {
  dnsmasq: (box) =>
    simple(box, "dnsmasq", ["--keep-in-foreground", "--conf-file=FOLDER/dnsmasq.conf"], { "dnsmasq.conf": dnsmasqConf(box.hosts) }),
  sshd,
  nginx: (box) => ({
    ...simple(box, "nginx", ["-p", "/run/nginx", "-e", "stderr", "-c", "FOLDER/nginx.conf"], { "nginx.conf": nginxConf(box.plan) }),
    before: ["mkdir -p /run/nginx"],
  }),
  snmpd(box) {
    const quiet = "-smux,mteTrigger,mteTriggerConf";
    const start = simple(box, "snmpd", ["-f", "-C", "-c", "FOLDER/snmpd.conf", "-Le", "-I", quiet], { "snmpd.conf": snmpdConf(box.plan) });
    return { ...start, env: { ...start.env, SNMP_PERSISTENT_DIR: "/run/snmp", MIBS: "" }, before: ["mkdir -p /run/snmp"] };
  },
  lldpd: lldpdStart,
  avahi: (box) => ({
    ...simple(box, "avahi-daemon", ["-f", "FOLDER/avahi.conf", "--no-drop-root", "--no-chroot", "--no-rlimits"], {
      "avahi.conf": avahiConf(box.plan),
      "etc/avahi/services/http.service": avahiService(box.plan),
    }),
    before: ["mkdir -p /run/avahi-daemon"],
  }),
};

export function daemonStart(daemon: Daemon, box: BoxFiles): DaemonStart {
  if (!isServiceDaemon(daemon)) return DAEMON_STARTS[daemon](box);
  const { command, before = [], files = {} } = (box.plan.isGuarded && GUARDED_STARTS[daemon]) ?? SERVICE_STARTS[daemon];
  const inFolder = (text: string) => text.replaceAll("FOLDER", box.folder);
  const [name = "", ...args] = command;
  const { path, env } = installedCommand(name, box.packages);
  return { name, path, args: args.map(inFolder), env, files, before: before.map(inFolder) };
}

/** In a box whose `/usr` has the packages over it, programs lie where they belong; a few packages still fill `/sbin`. */
function installedCommand(name: string, packages: DebianRoot): { readonly path: string; readonly env: Readonly<Record<string, string>> } {
  if (name.startsWith("/")) return { path: name, env: {} };
  const found = packages.command(name);
  return found.path.startsWith(`${packages.root}/usr/`) ? { path: found.path.slice(packages.root.length), env: {} } : found;
}

function simple(box: BoxFiles, name: string, args: readonly string[], files: Readonly<Record<string, string>>): DaemonStart {
  const { path, env } = box.packages.command(name);
  return { name, path, args: args.map((arg) => arg.replace("FOLDER", box.folder)), env, files, before: [] };
}

/** Where the switch's lldpd looks for an SNMP agent. @see RFC 2741 */
export const SWITCH_AGENTX = "tcp:127.0.0.1:705";

/**
 * As on a managed switch that speaks CDP too, and more often than by default, so that nobody waits: every 5 s, good for 20.
 * LLDP has to be forced: lldpd leaves it to others where one of them is. Its neighbors are for the switch's SNMP agent too, when there is
 * one.
 */
export function switchLldpdStart(box: Pick<BoxFiles, "packages" | "folder">): DaemonStart {
  const start = lldpdStart(box);
  return {
    ...start,
    args: [...start.args, "-l", "-c", "-c", "-c", "-c", "-c", "-x", "-X", SWITCH_AGENTX, "-O", join(box.folder, "lldpd.conf")],
    files: { "lldpd.conf": lines("configure lldp tx-interval 5", "configure lldp tx-hold 4") },
  };
}

function lldpdStart(box: Pick<BoxFiles, "packages" | "folder">): DaemonStart {
  const { path, env } = box.packages.command("lldpd");
  const client = box.packages.command("lldpcli").path;
  return {
    name: "lldpd",
    path,
    // Its own description would name the kernel of the machine.
    args: ["-d", "-u", "/run/lldpd.socket", "-L", client, "-S", "lldpd of the lab"],
    env,
    files: {},
    before: ["mkdir -p /run/lldpd"],
  };
}

/** A client that leases an address, puts it on the interface, and announces it as RFC 5227 section 2.3 asks. */
export function dhcpClientStart(box: BoxFiles, leasesAs: string | null): DaemonStart {
  const { path, env } = box.packages.command("busybox");
  const ip = box.packages.command("ip");
  const script = join(box.folder, "udhcpc.sh");
  const name = leasesAs === null ? [] : ["-x", `hostname:${leasesAs}`];
  return {
    name: "udhcpc",
    path,
    args: ["udhcpc", "-f", "-i", "eth0", "-s", script, "-t", "10", "-T", "1", "-A", "1", ...name],
    env,
    files: { "udhcpc.sh": dhcpScript(path, ip.path) },
    before: [`chmod +x ${script}`],
  };
}

/** What answers ARP in the kernel's place, later than kernels do. */
export function lateArpStart(box: BoxFiles, delayMs: number): DaemonStart {
  const addresses = box.plan.addresses.map((address) => address.split("/")[0] ?? "");
  return ownProgram("late-arp", ["eth0", String(delayMs), ...addresses]);
}

/** What takes every connection in the kernel's place. */
export function tarpitStart(box: BoxFiles): DaemonStart {
  const [address = ""] = box.plan.addresses;
  return ownProgram("tarpit", ["eth0", address.split("/")[0] ?? ""]);
}

function ownProgram(name: string, args: readonly string[]): DaemonStart {
  const program = bundleProgram(fileURLToPath(new URL(`${name}.ts`, import.meta.url)));
  return { name, path: process.execPath, args: [program, ...args], env: {}, files: {}, before: [] };
}

function sshd(box: BoxFiles): DaemonStart {
  const start = simple(box, "sshd", ["-D", "-e", "-f", "FOLDER/sshd_config"], {});
  const keygen = box.packages.command("ssh-keygen").path;
  /** From version 9.8 on sshd is several programs, whose places are built in. */
  const helpers = Object.entries({ SshdSessionPath: "sshd-session", SshdAuthPath: "sshd-auth" })
    .map(([option, program]) => [option, join(box.packages.root, "usr/lib/openssh", program)] as const)
    .filter(([, path]) => existsSync(path))
    .map(([option, path]) => `${option} ${path}`);
  const keys = box.plan.isGuarded ? ["rsa", "ecdsa", "ed25519"] : ["ed25519"];
  return {
    ...start,
    files: { sshd_config: lines(
      "Port 22", ...keys.map((type) => `HostKey /run/sshd/${type}_key`), "PidFile none", "UsePAM no", ...(box.plan.isGuarded ? GUARDED_SSHD : []), ...helpers,
    ) },
    before: ["mkdir -p /run/sshd", ...keys.map((type) => `${shellEnv(start.env)}${keygen} -q -t ${type} -N '' -C '' -f /run/sshd/${type}_key`)],
  };
}

/** Assignments before a shell command. */
export function shellEnv(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${shellQuote(value)} `)
    .join("");
}

export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
