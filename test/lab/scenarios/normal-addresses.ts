import type { Scenario } from "./scenario.ts";

const GATEWAY = "10.77.0.1";
/** Boxes start with a MAC of their own; a device that comes back at another port takes its old one before it speaks. */
const wear = (mac: string) => `ip link set eth0 down; ip link set eth0 address ${mac}; ip link set eth0 up`;
const QUIET = ["echo 1 > $net/ipv6/conf/eth0/disable_ipv6"];

/** Addresses that move, are shared, or have more than one MAC, as they do on healthy networks. */
export const NORMAL_ADDRESSES: readonly Scenario[] = [
  {
    name: "keepalived", kind: "normal", what: "a virtual address moves from one router to the other, between their own MACs", guards: [],
    packages: ["keepalived"], seconds: 14,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: `${keepalived(ip(2), 120, "")} & sleep 7; kill %1; sleep 1; ip link set eth0 down` },
      { mac: mac(1), addresses: [`${ip(1)}/24`], run: keepalived(ip(2), 100, "") },
    ],
  },
  {
    name: "keepalived-vmac", kind: "normal", what: "a virtual address with VRRP's MAC moves from one router to the other", guards: [],
    packages: ["keepalived"], seconds: 14,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: `${keepalived(ip(2), 120, "use_vmac")} & sleep 7; kill %1; sleep 1; ip link set eth0 down` },
      { mac: mac(1), addresses: [`${ip(1)}/24`], run: keepalived(ip(2), 100, "use_vmac") },
    ],
  },
  {
    name: "proxy-arp", kind: "normal", what: "a router answers ARP for hosts behind it", guards: [], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [
      {
        mac: mac(0), addresses: [`${ip(0)}/24`],
        network: [
          "echo 1 > $net/ipv4/ip_forward", "echo 1 > $net/ipv4/conf/eth0/proxy_arp", "echo 0 > $net/ipv4/neigh/eth0/proxy_delay",
          "ip link add behind type bridge", "ip link set behind up", "ip route add 10.77.0.212/30 dev behind",
        ],
        run: ":",
      },
      { mac: mac(1), addresses: [`${ip(1)}/24`], run: "for last in 212 213 214 215 212 213 214 215; do arping -c 1 -w 1 -I eth0 10.77.0.$last; done" },
    ],
  },
  {
    name: "sleep-proxy", kind: "normal", what: "a Bonjour sleep proxy answers for a host that went to sleep", guards: [], packages: [], seconds: 12,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], network: QUIET, run: `ping -c 3 ${GATEWAY}; ip link set eth0 down` },
      {
        mac: mac(1), addresses: [`${ip(1)}/24`], network: QUIET,
        run: `forge sleep-proxy eth0 ${mac(1)} ${ip(1)}; sleep 3; ip addr add ${ip(0)}/24 dev eth0; arping -c 2 -A -I eth0 ${ip(0)}; arping -c 2 -U -I eth0 ${ip(0)}`,
      },
    ],
  },
  {
    name: "moved-address", kind: "normal", what: "a service address moves between nodes, which both answer for a moment", guards: [], packages: [], seconds: 12,
    hosts: ({ ip, mac }) => [
      {
        mac: mac(0), addresses: [`${ip(0)}/24`],
        // The nodes talk to each other: this one lets the address go a moment after the other one takes it, however busy the machine is.
        run: `ip addr add ${ip(2)}/32 dev eth0; arping -c 2 -A -I eth0 ${ip(2)}; ping -c 3 ${GATEWAY}; busybox nc -l -p 7946 < /dev/null > /dev/null; sleep 0.7; `
          + `ip addr del ${ip(2)}/32 dev eth0`,
      },
      {
        mac: mac(1), addresses: [`${ip(1)}/24`],
        run: `sleep 5; until busybox nc -w 2 ${ip(0)} 7946 < /dev/null; do sleep 0.2; done; ip addr add ${ip(2)}/32 dev eth0; arping -c 3 -A -I eth0 ${ip(2)}`,
      },
    ],
  },
  {
    name: "carp-egress", kind: "normal", what: "a CARP master sends the virtual address's traffic from its own MAC", guards: [], packages: [], seconds: 8,
    hosts: ({ ip, mac, index }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: `forge arp-announce eth0 ${ip(2)} 00:00:5e:00:01:${(0x61 + index).toString(16)} 1000 6 & forge traffic eth0 ${ip(2)} ${mac(0)} 300 18`,
    }],
  },
  {
    name: "vm-moves", kind: "normal", what: "a virtual machine moves to another port with its MAC", guards: [], packages: [], seconds: 10,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], network: QUIET, run: `arping -c 1 -A -I eth0 ${ip(0)}; ping -c 3 ${GATEWAY}; ip link set eth0 down` },
      {
        mac: mac(1), network: QUIET,
        run: `ip link set eth0 down; sleep 5; ${wear(mac(0))}; ip addr add ${ip(0)}/24 dev eth0; arping -c 2 -A -I eth0 ${ip(0)}; ping -c 2 ${GATEWAY}`,
      },
    ],
  },
  {
    name: "replaced-card", kind: "normal", what: "a server comes back with another network card and its old address", guards: [], packages: [], seconds: 12,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], network: QUIET, run: `arping -c 1 -A -I eth0 ${ip(0)}; ping -c 3 ${GATEWAY}; ip link set eth0 down` },
      {
        mac: mac(1), network: QUIET,
        run: `sleep 7; arping -D -c 2 -I eth0 ${ip(0)}; ip addr add ${ip(0)}/24 dev eth0; arping -c 2 -A -I eth0 ${ip(0)}; ping -c 2 ${GATEWAY}`,
      },
    ],
  },
  {
    name: "dock", kind: "normal", what: "a laptop goes from Wi-Fi to its dock and keeps its address", guards: [], packages: [], seconds: 10,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], network: QUIET,
      run: `arping -c 1 -A -I eth0 ${ip(0)}; ping -c 3 ${GATEWAY}; ${wear(mac(1))}; arping -c 2 -A -I eth0 ${ip(0)}; ping -c 4 ${GATEWAY}`,
    }],
  },
  {
    name: "address-check", kind: "normal", what: "hosts probe and announce their addresses as RFC 5227 asks, and one finds its wish taken", guards: [],
    packages: [], seconds: 10,
    hosts: ({ ip, mac }) => [{
      mac: mac(0),
      run: `arping -D -c 2 -I eth0 10.77.0.30; arping -D -c 3 -w 3 -I eth0 ${ip(0)}; ip addr add ${ip(0)}/24 dev eth0; arping -c 2 -A -I eth0 ${ip(0)}; ping -c 2 ${GATEWAY}`,
    }],
  },
  {
    name: "monitoring", kind: "normal", what: "a monitoring server pings a few hosts again and again", guards: [], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: `for i in 1 2 3; do for last in 1 3 5 20 30 31; do ping -c 1 -w 1 10.77.0.$last; done; sleep 1; done`,
    }],
  },
];

function keepalived(address: string, priority: number, more: string): string {
  const conf = `vrrp_instance lab { state BACKUP\\ninterface eth0\\nvirtual_router_id 77\\npriority ${priority}\\nadvert_int 1\\n${more}\\n`
    + `virtual_ipaddress {\\n${address}/24\\n}\\n}\\n`;
  return `{ printf '${conf}' > /run/keepalived.conf; keepalived --dont-fork --log-console --vrrp --use-file /run/keepalived.conf `
    + "--pid /run/keepalived.pid --vrrp_pid /run/vrrp.pid; }";
}
