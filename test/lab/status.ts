import type { DebianRoot } from "./debian-packages.ts";
import { LAN, PROBE_BOX, type Service } from "./host-plan.ts";
import type { HostState, LabState } from "./lab-state.ts";
import { namesOf } from "./names.ts";
import { parseIpv4 } from "./network.ts";
import { isRunning } from "./process-identity.ts";
import { tryCommand } from "./run-command.ts";

/** One host as it really is now. */
export interface LabHost {
  readonly name: string;
  /** The numerically lowest IPv4 address on its interface; an IPv6 address where it has no other. */
  readonly ip: string;
  readonly mac: string;
  /** The name of `ip` in DNS, for a lease the name that the client gave the DHCP server; else its own mDNS name. Without domain; "" for none. */
  readonly hostname: string;
  /** Everything that listens beyond its own loopback, by port. */
  readonly services: readonly Service[];
}

export interface LabStatus {
  readonly id: string;
  readonly lan: { readonly subnet: string; readonly gateway: string; readonly dns_server: string; readonly domain: string };
  readonly probe: {
    readonly namespace: string;
    readonly lan_address: string;
    readonly wan_address: string;
    readonly collector_address: string;
  };
  /** What a probe on the LAN has to find: every host that has an address now. The probe's own box and the switch are none. */
  readonly hosts: readonly LabHost[];
  /** All addresses of each host, IPv4 first and by number, link-local ones last. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
}

/** What one look into a host's box shows. */
export interface HostFacts {
  readonly mac: string;
  readonly up: boolean;
  readonly addresses: readonly string[];
  readonly services: readonly Service[];
}

/** Names as `/etc/services` has them. */
const SERVICE_NAMES: Readonly<Record<string, string>> = {
  "22/tcp": "ssh",
  "53/tcp": "domain",
  "53/udp": "domain",
  "67/udp": "dhcps",
  "80/tcp": "http",
  "161/udp": "snmp",
  "5000/tcp": "http",
  "5353/udp": "mdns",
};

export async function readStatus(state: LabState, packages: DebianRoot): Promise<LabStatus> {
  const looked = await Promise.all(state.hosts.map(async (host) => [host, await lookAt(host, packages)] as const));
  const present = looked.filter(([host, facts]) => {
    return host.process !== null && isRunning(host.process) && facts.up && primary(facts) !== undefined;
  });
  const hosts = present.map(async ([host, facts]): Promise<LabHost> => {
    const ip = primary(facts) ?? "";
    return { name: host.plan.name, ip, mac: facts.mac, hostname: await hostnameOf(ip, facts, state, packages), services: facts.services };
  });
  return {
    id: state.id,
    lan: { subnet: LAN.subnet, gateway: LAN.gateway, dns_server: LAN.dnsServer, domain: LAN.domain },
    probe: {
      namespace: namesOf(state.id).namespace(PROBE_BOX.name),
      lan_address: PROBE_BOX.lanAddress,
      wan_address: state.wan.probeAddress,
      collector_address: state.wan.collectorAddress,
    },
    hosts: await Promise.all(hosts),
    addresses: Object.fromEntries(present.map(([host, facts]) => [host.plan.name, facts.addresses])),
  };
}

/** Reads a host's interface and sockets from inside its namespace. A host that is gone has none. */
export async function lookAt(host: Pick<HostState, "namespace">, packages: DebianRoot): Promise<HostFacts> {
  const ip = packages.command("ip");
  const script = `${ip.path} -j addr show dev eth0; echo; ${packages.command("ss").path} -H -l -n -t -u`;
  const { stdout } = await tryCommand("nsenter", [`--net=/run/netns/${host.namespace}`, "sh", "-c", script], { env: ip.env });
  const [interfaces = "", ...sockets] = stdout.split("\n");
  const parsed = JSON.parse(interfaces === "" ? "[]" : interfaces) as readonly {
    readonly address: string;
    readonly flags: readonly string[];
    readonly addr_info: readonly { readonly local: string; readonly scope: string; readonly family: string }[];
  }[];
  const [found] = parsed;
  const v4 = (found?.addr_info ?? []).filter((one) => one.family === "inet").map((one) => one.local);
  const v6 = (found?.addr_info ?? []).filter((one) => one.family === "inet6");
  const byNumber = v4.toSorted((a, b) => parseIpv4(a) - parseIpv4(b));
  const addresses = [...byNumber, ...v6.toSorted((a, b) => rank(a) - rank(b)).map((one) => one.local)];
  return { mac: found?.address ?? "", up: found?.flags.includes("LOWER_UP") ?? false, addresses, services: parseSockets(sockets) };
}

function rank(address: { readonly scope: string }): number {
  return address.scope === "link" ? 1 : 0;
}

function primary(facts: HostFacts): string | undefined {
  return facts.addresses.find((address) => !address.includes(":")) ?? facts.addresses.find((address) => !address.startsWith("fe80:"));
}

/** Lines of `ss -Hlntu`: protocol, state, two queues, local address with port. The same port in two families is one service. */
function parseSockets(lines: readonly string[]): readonly Service[] {
  const services = new Map<string, Service>();
  for (const line of lines) {
    const [, protocol, address = "", port] = /^(tcp|udp)\s+\S+\s+\d+\s+\d+\s+(\S+):(\d+)\s/.exec(line) ?? [];
    if ((protocol !== "tcp" && protocol !== "udp") || /^(127\.|\[::1\])/.test(address)) continue;
    const key = `${port}/${protocol}`;
    services.set(key, { port: Number(port), protocol, name: SERVICE_NAMES[key] ?? "" });
  }
  return [...services.values()].toSorted((a, b) => a.port - b.port || a.protocol.localeCompare(b.protocol));
}

/**
 * Asks the LAN's DNS server by reverse lookup, then the host itself by mDNS. It asks from the gateway: what the probe's own box sends and
 * gets would be evidence to the probe, which must not depend on who looks at the lab.
 */
async function hostnameOf(ip: string, facts: HostFacts, state: LabState, packages: DebianRoot): Promise<string> {
  if (ip.includes(":")) return "";
  const byDns = await reverseLookup(ip, LAN.dnsServer, state, packages);
  if (byDns !== "" || !facts.services.some((service) => service.port === 5353)) return byDns;
  return reverseLookup(ip, `${ip}:5353`, state, packages);
}

async function reverseLookup(ip: string, server: string, state: LabState, packages: DebianRoot): Promise<string> {
  const { path, env } = packages.command("busybox");
  const question = `${ip.split(".").toReversed().join(".")}.in-addr.arpa`;
  const args = [`--net=/run/netns/${namesOf(state.id).namespace("gateway")}`, path, "nslookup", "-type=ptr", question, server];
  const { stdout } = await tryCommand("nsenter", args, { env, timeoutMs: 60_000 });
  return /\sname = ([^.\s]+)/.exec(stdout)?.[1] ?? "";
}

/** What a lab looks like to a person: one line per host. */
export function formatStatus(status: LabStatus): string {
  const rows = status.hosts.map((host) => [
    host.name,
    host.ip,
    host.mac,
    host.hostname || "-",
    host.services.map((service) => `${service.name || "?"}/${service.port}`).join(" ") || "-",
  ]);
  const table = [["NAME", "IP", "MAC", "HOSTNAME", "SERVICES"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()).join("\n");
}
