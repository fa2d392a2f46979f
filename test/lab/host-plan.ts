import { SERVICE_DAEMONS, type ServiceDaemonName } from "./service-hosts.ts";

/** What a host of the smaller lab runs besides its kernel. */
export type PlainDaemon = "dnsmasq" | "sshd" | "nginx" | "snmpd" | "lldpd" | "avahi";
export type Daemon = PlainDaemon | ServiceDaemonName;

/** One host of the LAN as it is meant to be; `status` tells what it came to. */
export interface HostPlan {
  /** A label of a host name, at most 32 characters; unique in the lab. */
  readonly name: string;
  readonly mac: string;
  /** Static addresses with their prefix length, IPv4 and IPv6; none for a host that leases one. */
  readonly addresses: readonly string[];
  /** What it tells the DHCP server as option 12; null for one that leases without a name, undefined for one that does not lease. */
  readonly leasesAs?: string | null;
  /** The DNS server knows it, forwards and backwards. Names of leases are known anyway. */
  readonly inDns?: boolean;
  readonly daemons: readonly Daemon[];
  /** TCP ports of nginx; 80 unless given. */
  readonly webPorts?: readonly number[];
  /**
   * What its packet filter does with all but its own services' TCP ports: drops or resets, lets ten packets a second by, or has
   * its first service answer.
   */
  readonly filter?: "drop" | "reject" | "limit" | "answer";
  /** The kernel keeps silent about its addresses, and an answer to an ARP request comes this much later. */
  readonly lateArpMs?: number;
  /** Its daemons want a password, and are set up as their Debian packages do it: what decoys claim to be. */
  readonly isGuarded?: true;
  /** Every TCP port takes connections and no data. */
  readonly isTarpit?: boolean;
  /** Shell lines for its network, behind addresses and routes; `$net` is `/proc/sys/net`. */
  readonly network?: readonly string[];
}

export interface Service {
  readonly port: number;
  readonly protocol: "tcp" | "udp";
  readonly name: string;
}

/**
 * The LAN. Every lab has the same: it lives in namespaces of its own and touches nothing outside. Its domain lies below `test`, which
 * RFC 6761 section 6.2 keeps for this.
 */
export const LAN = {
  subnet: "10.77.0.0/24",
  gateway: "10.77.0.1",
  dnsServer: "10.77.0.1",
  domain: "lab.test",
  leases: { first: "10.77.0.100", last: "10.77.0.199", seconds: 3600 },
} as const;

/** The box that the probe runs in; a PC Engines board, as such boxes often are. */
export const PROBE_BOX = {
  name: "probe",
  lanInterface: "lan0",
  wanInterface: "wan0",
  lanAddress: "10.77.0.5",
  lanAddress6: "fd4c:616e:7468:77::5/64",
  mac: "00:0d:b9:77:00:05",
} as const;

/** The bridge's box; it speaks LLDP on each port, as a managed switch does. Netgear. */
export const SWITCH_BOX = { name: "switch", bridge: "br0", mac: "28:80:88:77:00:00" } as const;

/**
 * The hosts. Their MACs lie in blocks that the IEEE has given to these makers: most of 24 bits, `sensor` and `hvac` of 28, `meter` of 36.
 * Addresses of `nas` are out of order on purpose: the lowest is the last by text.
 */
export const HOSTS: readonly HostPlan[] = [
  { name: "gateway", mac: "18:fd:74:77:00:01", addresses: ["10.77.0.1/24"], inDns: true, daemons: ["dnsmasq", "sshd"] },
  { name: "core-switch", mac: "10:57:25:77:00:03", addresses: ["10.77.0.3/24"], inDns: true, daemons: ["snmpd", "lldpd", "sshd"] },
  { name: "firewall", mac: "00:00:5e:00:01:0a", addresses: ["10.77.0.254/24"], inDns: true, daemons: [] },
  {
    name: "nas",
    mac: "00:11:32:77:00:09",
    addresses: ["10.77.0.10/24", "10.77.0.9/24", "10.77.0.11/24"],
    inDns: true,
    daemons: ["nginx", "sshd", "avahi"],
    webPorts: [80, 5000],
  },
  {
    name: "web",
    mac: "10:65:30:77:00:20",
    addresses: ["10.77.0.20/24", "fd4c:616e:7468:77::20/64"],
    inDns: true,
    daemons: ["nginx", "sshd"],
  },
  { name: "build", mac: "14:76:49:77:00:21", addresses: ["10.77.0.21/24"], inDns: true, daemons: ["sshd", "lldpd", "snmpd"] },
  { name: "printer", mac: "00:1b:a9:77:00:30", addresses: ["10.77.0.30/24"], daemons: ["nginx", "snmpd", "avahi"] },
  { name: "sensor", mac: "10:63:a3:d7:00:31", addresses: ["10.77.0.31/24"], daemons: [] },
  { name: "hvac", mac: "20:ce:2a:c7:00:32", addresses: ["10.77.0.32/24"], daemons: ["nginx"] },
  { name: "late", mac: "14:08:08:77:00:40", addresses: ["10.77.0.40/24"], daemons: [], lateArpMs: 2000 },
  { name: "camera", mac: "b8:a4:4f:77:00:50", addresses: [], leasesAs: "camera", daemons: ["nginx"] },
  { name: "meter", mac: "70:b3:d5:36:57:51", addresses: [], leasesAs: null, daemons: [] },
  { name: "phone", mac: "24:9a:d8:77:00:52", addresses: [], leasesAs: "phone", daemons: ["nginx"] },
  { name: "laptop", mac: "10:51:07:77:00:53", addresses: [], leasesAs: "laptop", daemons: [] },
  { name: "tv", mac: "10:30:47:77:00:54", addresses: [], leasesAs: null, daemons: ["avahi"] },
  { name: "speaker", mac: "34:7e:5c:77:00:55", addresses: [], leasesAs: "speaker", daemons: ["avahi"] },
  { name: "pi", mac: "2c:cf:67:77:00:56", addresses: [], leasesAs: "pi", daemons: ["sshd"] },
];

/** Where each daemon listens; nginx has its ports from the plan. */
const DAEMON_SERVICES: Readonly<Record<PlainDaemon, readonly Service[]>> = {
  dnsmasq: [
    { port: 53, protocol: "tcp", name: "domain" },
    { port: 53, protocol: "udp", name: "domain" },
    { port: 67, protocol: "udp", name: "dhcps" },
  ],
  sshd: [{ port: 22, protocol: "tcp", name: "ssh" }],
  nginx: [],
  snmpd: [{ port: 161, protocol: "udp", name: "snmp" }],
  avahi: [{ port: 5353, protocol: "udp", name: "mdns" }],
  lldpd: [],
};

/** What must be found listening on a host before it counts as up. */
export function plannedServices(plan: HostPlan): readonly Service[] {
  const web = plan.daemons.includes("nginx") ? (plan.webPorts ?? [80]) : [];
  const others = plan.daemons.flatMap(
    (daemon): readonly Service[] => (isServiceDaemon(daemon) ? SERVICE_DAEMONS[daemon].services : DAEMON_SERVICES[daemon]),
  );
  return [
    ...others.map(({ port, protocol, name }) => ({ port, protocol, name })),
    ...web.map((port) => ({ port, protocol: "tcp" as const, name: "http" })),
  ];
}

/** Whether its package must lie over the box's `/usr`: it looks for its parts at fixed places. */
export function isServiceDaemon(daemon: Daemon): daemon is ServiceDaemonName {
  return Object.hasOwn(SERVICE_DAEMONS, daemon);
}
