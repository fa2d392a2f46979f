import type { Scenario } from "./scenario.ts";

const WEB = "fd4c:616e:7468:77::20";
/** The link-local address of the router that a scenario brings, which the operator has declared. */
const ROUTER = "fe80::77:1";

/** Waits for a router's advertisement: on a busy machine radvd is late. */
const UNTIL_ROUTER = "for i in $(seq 80); do ip -6 route show default | grep -q via && break; sleep 0.1; done";

/** Another host that asks for the server again and again, as any that talks to it. */
const asks = (seconds: number) => `for i in $(seq ${seconds * 2}); do ip neigh flush dev eth0; ping -6 -c 1 -w 1 ${WEB}; sleep 0.5; done`;

/** Attacks by IPv6's neighbor discovery, router advertisements and DHCPv6. The lab has IPv6 hosts and no IPv6 router. */
export const ATTACKS_ON_IPV6: readonly Scenario[] = [
  {
    name: "fake-router", kind: "attack", what: "advertises itself as IPv6 router, with thc-ipv6",
    guards: ["router_advertisement", "unexpected_ipv6"], packages: ["thc-ipv6"], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], run: "sleep 2; begin; atk6-fake_router26 -A 2001:db8:66::/64 -D 2001:db8:66::53 eth0 < /dev/zero",
    }],
  },
  {
    name: "rogue-radvd", kind: "attack", what: "advertises a prefix, a DNS server and itself as router, with radvd",
    guards: ["router_advertisement", "unexpected_ipv6"], packages: ["radvd"], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], network: ["echo 1 > $net/ipv6/conf/all/forwarding"],
      run: radvd("AdvDefaultLifetime 1800; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; prefix 2001:db8:77::/64 { }; RDNSS 2001:db8:77::53 { };"),
    }],
  },
  {
    name: "router-flood", kind: "attack", what: "floods the LAN with advertisements of forged routers",
    guards: ["router_advertisement", "unexpected_ipv6"], packages: ["thc-ipv6"], seconds: 6, captureBytes: 128 * 1024,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: "sleep 1; begin; timeout 0.5 atk6-flood_router26 eth0 > /dev/null" }],
  },
  {
    name: "kill-router", kind: "attack", what: "says in the IPv6 router's name that it is none any more, with thc-ipv6", guards: ["router_advertisement"],
    packages: ["thc-ipv6", "radvd"], seconds: 14, routers: [ROUTER],
    hosts: ({ ip, mac }) => [
      {
        mac: mac(0), addresses: [`${ip(0)}/24`, `${ROUTER}/64`], network: ["echo 1 > $net/ipv6/conf/all/forwarding"],
        run: radvd(`AdvDefaultLifetime 1800; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; AdvRASrcAddress { ${ROUTER}; };`, ""),
      },
      { mac: mac(1), addresses: [`${ip(1)}/24`], run: `${UNTIL_ROUTER}; sleep 4; begin; atk6-kill_router6 eth0 ${ROUTER} < /dev/zero` },
    ],
  },
  {
    name: "parasite", kind: "attack", what: "answers all neighbor solicitations with its own MAC", guards: ["ndp_spoofing", "duplicate_ip"],
    packages: ["thc-ipv6"], seconds: 7, checked: [WEB],
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`, `${ula(ip(0))}/64`], run: "atk6-parasite6 -l eth0 < /dev/zero" },
      { mac: mac(1), addresses: [`${ip(1)}/24`, `${ula(ip(1))}/64`], run: `sleep 1; begin; ${asks(6)}` },
    ],
  },
  {
    name: "fake-advertise", kind: "attack", what: "advertises the web server's IPv6 address as its own", guards: ["ndp_spoofing", "duplicate_ip"],
    packages: ["thc-ipv6"], seconds: 8, checked: [WEB],
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`, `${ula(ip(0))}/64`], run: `sleep 2; begin; atk6-fake_advertise6 -w 1 -n 6 eth0 ${WEB} ff02::1 ${mac(0)} < /dev/zero`,
    }],
  },
  {
    name: "dos-new-ip6", kind: "attack", what: "keeps new hosts from their IPv6 addresses: it says of each that it is taken",
    guards: ["ndp_spoofing", "duplicate_ip"], packages: ["thc-ipv6"], seconds: 8,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: "atk6-dos-new-ip6 eth0 < /dev/zero" },
      {
        mac: mac(1), addresses: [`${ip(1)}/24`],
        run: "sleep 1; begin; for i in 1 2 3 4 5 6 7 8; do ip addr add fd4c:616e:7468:77::a:$i/64 dev eth0; sleep 0.7; done",
      },
    ],
  },
  {
    name: "fake-dhcps6", kind: "attack", what: "answers DHCPv6 clients", guards: ["dhcpv6_server", "unexpected_ipv6"],
    packages: ["thc-ipv6", "isc-dhcp-client"], seconds: 10,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: "sleep 2; atk6-fake_dhcps6 eth0 2001:db8:66::/64 2001:db8:66::53 < /dev/zero" },
      { mac: mac(1), addresses: [`${ip(1)}/24`], run: "sleep 3; begin; dhclient -6 -d -1 -sf /bin/true -lf /run/leases -pf /run/pid -cf /dev/null eth0" },
    ],
  },
  {
    name: "ipv6-tunnel", kind: "attack", what: "carries IPv6 in IPv4 past the gateway's rules", guards: ["unexpected_ipv6"], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge tunnel eth0 ${mac(0)} ${ip(0)} 10.77.0.1 500 12`,
    }],
  },
];

function radvd(options: string, mark = "begin; "): string {
  const conf = `interface eth0 { AdvSendAdvert on; ${options} };`;
  return `printf '%s\\n' '${conf}' > /run/radvd.conf; chmod 600 /run/radvd.conf; sleep 2; ${mark}radvd --nodaemon --config /run/radvd.conf --pidfile /run/radvd.pid --logmethod stderr -u root`;
}

/** The LAN's unique local address of a host with this IPv4 address. */
function ula(ip: string): string {
  return `fd4c:616e:7468:77::${ip.split(".").at(-1)}`;
}
