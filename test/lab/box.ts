import { spawn } from "node:child_process";
import { cp, mkdir, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  daemonStart, type DaemonStart, dhcpClientStart, lateArpStart, shellEnv, shellQuote, switchLldpdStart, tarpitStart,
} from "./daemons.ts";
import type { DebianRoot } from "./debian-packages.ts";
import { LabError } from "./errors.ts";
import { type HostPlan, isServiceDaemon, LAN, plannedServices, SWITCH_BOX } from "./host-plan.ts";
import { REPOSITORY } from "./lab-state.ts";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";

/** What of the machine's `/etc` a daemon still needs when it gets one of its own. */
const SHARED_ETC = ["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "nsswitch.conf", "services", "protocols", "ssl/openssl.cnf", "localtime"];

/** The users that Debian's packages would have made; the machine does not have them. */
const PASSWD = `root:x:0:0:root:/root:/bin/sh
sshd:x:901:65534::/run/sshd:/usr/sbin/nologin
_lldpd:x:902:902::/run/lldpd:/usr/sbin/nologin
avahi:x:903:903::/run/avahi-daemon:/usr/sbin/nologin
Debian-exim:x:905:905::/var/spool/exim4:/usr/sbin/nologin
dovecot:x:906:906::/usr/lib/dovecot:/usr/sbin/nologin
dovenull:x:907:907::/nonexistent:/usr/sbin/nologin
ntpsec:x:908:908::/nonexistent:/usr/sbin/nologin
_rpc:x:909:65534::/run/rpcbind:/usr/sbin/nologin
ftp:x:910:65534::/run:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;
const GROUP = "root:x:0:\n_lldpd:x:902:\navahi:x:903:\nnetdev:x:904:\nDebian-exim:x:905:\n"
  + "dovecot:x:906:\ndovenull:x:907:\nntpsec:x:908:\nnogroup:x:65534:\n";

interface BoxOptions {
  readonly packages: DebianRoot;
  readonly namespace: string;
  /** Where the box's own files and its log go. */
  readonly folder: string;
}

/**
 * Starts a host: brings its interface up and starts what its plan names.
 * The host is one process tree in namespaces of its own; ending its first process ends all of it.
 */
export function startHost(plan: HostPlan, hosts: readonly HostPlan[], options: BoxOptions): Promise<ProcessIdentity> {
  const files = { plan, hosts, packages: options.packages, folder: options.folder };
  const starts = plan.daemons.map((daemon) => daemonStart(daemon, files));
  if (plan.leasesAs !== undefined) starts.push(dhcpClientStart(files, plan.leasesAs));
  if (plan.lateArpMs !== undefined) starts.push(lateArpStart(files, plan.lateArpMs));
  if (plan.isTarpit === true) starts.push(tarpitStart(files));
  const before = [
    ...(plan.daemons.some(isServiceDaemon) ? installedPackages(options.packages) : []), ...hostNetwork(plan, options.packages),
    ...packetFilter(plan, options.packages),
  ];
  return startBox({ name: plan.name, before, starts }, options);
}

/** As if the packages were installed: over the machine's own `/usr`, with state in memory that goes with the box. */
function installedPackages(packages: DebianRoot): readonly string[] {
  return [
    `mount -t overlay lab -o lowerdir=${shellQuote(join(packages.root, "usr"))}:/usr /usr`,
    "mount -t tmpfs -o mode=755,size=192m lab /var",
    "mkdir -p /var/lib /var/log /var/cache /var/spool /var/tmp /var/mail && chmod 1777 /var/tmp && ln -s /run /var/run",
  ];
}

function packetFilter(plan: HostPlan, packages: DebianRoot): readonly string[] {
  const { path, env } = plan.filter === undefined && plan.isTarpit !== true ? { path: "", env: {} } : packages.command("nft");
  // Its kernel would refuse what the tarpit takes.
  if (plan.isTarpit === true) {
    return [
      `${shellEnv(env)}${path} ${shellQuote("table inet lab { chain in { type filter hook input priority 0; meta l4proto tcp drop; }; }")}`,
    ];
  }
  if (plan.filter === undefined) return [];
  const ports = plannedServices(plan).filter((service) => service.protocol === "tcp").map((service) => service.port).join(", ");
  const first = plannedServices(plan).find((service) => service.protocol === "tcp")?.port;
  const verdict = {
    drop: "drop", reject: "reject with tcp reset", limit: "limit rate over 10/second drop", answer: `redirect to :${first}`,
  }[plan.filter];
  const hook = plan.filter === "answer" ? "type nat hook prerouting priority -100" : "type filter hook input priority 0";
  const rules = `table inet lab { chain in { ${hook}; tcp dport != { ${ports} } ${verdict}; }; }`;
  return [`${shellEnv(env)}${path} ${shellQuote(rules)}`];
}

/** Starts what a managed switch says by itself: LLDP and CDP on each port. */
export function startSwitch(options: BoxOptions): Promise<ProcessIdentity> {
  return startBox({ name: SWITCH_BOX.name, before: [], starts: [switchLldpdStart(options)] }, options);
}

function hostNetwork(plan: HostPlan, packages: DebianRoot): readonly string[] {
  const tool = (name: string) => {
    const { path, env } = packages.command(name);
    return `${shellEnv(env)}${path}`;
  };
  const routes = plan.addresses.some((address) => !address.includes(":"))
    && !plan.addresses.some((address) => address.startsWith(`${LAN.gateway}/`));
  return [
    "net=/proc/sys/net",
    /** A late host is found by its ARP answer only: the kernel must neither answer nor say anything by itself. */
    ...(plan.lateArpMs === undefined ? [] : ["echo 8 > $net/ipv4/conf/all/arp_ignore", "echo 1 > $net/ipv6/conf/eth0/disable_ipv6"]),
    "echo 0 > $net/ipv4/ip_forward",
    /** Without this, checksums are left to a network card that is not there, and every capture shows them wrong. */
    `${tool("ethtool")} -K eth0 tx off > /dev/null`,
    ...plan.addresses.map((address) => `${tool("ip")} addr add ${address} ${address.includes(":") ? "nodad " : "broadcast + "}dev eth0`),
    `${tool("ip")} link set lo up`,
    `${tool("ip")} link set eth0 up`,
    ...(routes ? [`${tool("ip")} route add default via ${LAN.gateway}`] : []),
    ...(plan.network ? [`ip() { ${tool("ip")} "$@"; }`, ...plan.network] : []),
  ];
}

/**
 * The box's first process: mounts that nobody else sees, the network, then the daemons, each with its output in the box's log.
 * It stays as long as the box, and as the first of its process namespace takes all others with it.
 */
async function startBox(
  box: { readonly name: string; readonly before: readonly string[]; readonly starts: readonly DaemonStart[] },
  options: BoxOptions,
): Promise<ProcessIdentity> {
  const { folder } = options;
  await makeEtc(join(folder, "etc"), box.name);
  for (const [name, text] of box.starts.flatMap((start) => Object.entries(start.files))) await writeUnder(folder, name, text);
  const script = [
    "set -e",
    `echo ${box.name} > /proc/sys/kernel/hostname`,
    "mount -t tmpfs -o mode=755,size=16m lab /run",
    `mount --bind ${shellQuote(join(folder, "etc"))} /etc`,
    "mount -t sysfs lab /sys",
    ...box.before,
    ...box.starts.flatMap((start) => [...start.before, startLine(start)]),
    "sleep infinity &",
    "wait",
  ];
  await writeUnder(folder, "box.sh", `${script.join("\n")}\n`);
  return spawnBox(join(folder, "box.sh"), options);
}

function startLine(start: DaemonStart): string {
  return `${shellEnv(start.env)}${[start.path, ...start.args].map(shellQuote).join(" ")} &`;
}

async function makeEtc(etc: string, name: string): Promise<void> {
  await Promise.all(
    SHARED_ETC.map((entry) => cp(join("/etc", entry), join(etc, entry), { recursive: true, dereference: true }).catch(() => undefined)),
  );
  await writeUnder(etc, "passwd", PASSWD);
  await writeUnder(etc, "group", GROUP);
  await writeUnder(etc, "hostname", `${name}\n`);
  await writeUnder(etc, "hosts", `127.0.0.1 localhost\n127.0.1.1 ${name}.${LAN.domain} ${name}\n`);
  await writeUnder(etc, "resolv.conf", `nameserver ${LAN.dnsServer}\nsearch ${LAN.domain}\n`);
}

async function writeUnder(folder: string, name: string, text: string): Promise<void> {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function spawnBox(script: string, options: BoxOptions): Promise<ProcessIdentity> {
  const log = await open(join(options.folder, "log"), "w");
  try {
    const isolate = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", script];
    const child = spawn("/usr/bin/nsenter", [`--net=/run/netns/${options.namespace}`, ...isolate], {
      /** Not in our process group: Ctrl-C at the terminal is for the command, which then takes the lab down in order. */
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      cwd: REPOSITORY,
      /** A host is no part of whoever starts it: it gets nothing of his environment. */
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LC_ALL: "C" },
    });
    const started = new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => reject(new LabError("command-failed", "cannot run nsenter, of the package util-linux", { cause })));
    });
    await started;
    child.unref();
    const identity = identifyProcess(child.pid ?? 0);
    if (!identity) throw new LabError("not-ready", `a box ended at once; its log is ${join(options.folder, "log")}`);
    return identity;
  } finally {
    await log.close();
  }
}
