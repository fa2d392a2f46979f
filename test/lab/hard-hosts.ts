import type { HostPlan } from "./host-plan.ts";

/**
 * A network behind the host `branch`, which is also its router for a part of the LAN's own addresses; the probe's box has a route
 * there.
 */
export const BRANCH = {
  router: "10.77.0.87",
  /** Reached through the router. */
  subnet: "10.78.0.0/24",
  hosts: ["10.78.0.10", "10.78.0.20", "10.78.0.30"],
  /** As the gateway's DNS calls them. */
  names: ["till-1", "till-2", "scale"],
  /** Of the LAN's addresses, these are behind the router too: it answers ARP for all of them. */
  proxied: "10.77.0.208/28",
  proxiedHosts: ["10.77.0.210", "10.77.0.211"],
} as const;

/** A network of which one host has every address; whoever is to sweep it takes an address of `scanners` in it. */
export const MULTITUDE = { subnet: "10.66.0.0/16", scanners: "10.66.255.0/24" } as const;

const host = (last: number, name: string, rest: Partial<HostPlan>): HostPlan => ({
  name, mac: `00:25:90:79:00:${last.toString(16).padStart(2, "0")}`, addresses: [`10.77.0.${last}/24`], daemons: [], ...rest,
});

/** Hosts of the larger lab that make it hard to say who is there and what is open. */
export const HARD_HOSTS: readonly HostPlan[] = [
  host(87, "branch", {
    daemons: ["dropbear"],
    network: [
      "echo 1 > $net/ipv4/ip_forward", "echo 1 > $net/ipv4/conf/eth0/proxy_arp", "echo 0 > $net/ipv4/neigh/eth0/proxy_delay",
      "ip link add behind type bridge", "ip link set behind up", "ip addr add 10.78.0.1/24 dev behind",
      `ip route add ${BRANCH.proxied} dev behind`,
      ...[...BRANCH.hosts, ...BRANCH.proxiedHosts].flatMap((address, index) => behind(`b${index}`, address)),
    ],
  }),
  host(88, "tarpit", { isTarpit: true }),
  host(89, "multitude", {
    network: [`ip route add local ${MULTITUDE.subnet} dev lo`, `ip route add ${MULTITUDE.scanners} dev eth0 table local`],
  }),
  { ...host(90, "ipv6-only", { daemons: ["dropbear"] }), addresses: ["fd4c:616e:7468:77::90/64"] },
  {
    ...host(91, "ipv6-services", {
      daemons: ["unbound", "ntpsec", "snmpd"],
      // It says of each closed port that it is, and drops what comes to TFTP's.
      network: [
        "echo 0 > $net/ipv6/icmp/ratelimit", "nft 'table ip6 lab { chain in { type filter hook input priority 0; udp dport 69 drop; }; }'",
      ],
    }),
    addresses: ["fd4c:616e:7468:77::91/64"],
  },
];

/** Shell lines for a host behind the branch's router: a namespace of its own, with an SSH server. */
function behind(name: string, address: string): readonly string[] {
  return [
    `ip netns add ${name}`, `ip link add ${name} type veth peer name eth0 netns ${name}`, `ip link set ${name} master behind up`,
    `ip -n ${name} addr add ${address}/32 dev eth0`, `ip -n ${name} link set lo up`, `ip -n ${name} link set eth0 up`,
    `ip -n ${name} route add 10.78.0.1 dev eth0`, `ip -n ${name} route add default via 10.78.0.1`,
    `dropbearkey -t ed25519 -f /run/${name}_key > /dev/null 2>&1`,
    `ip netns exec ${name} dropbear -F -E -r /run/${name}_key -P /run/${name}.pid &`,
  ];
}
