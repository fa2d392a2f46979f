import type { Scenario } from "./scenario.ts";

/** The pair's second member; declared to the probe, as an operator does. */
const SECOND_DHCP_SERVER = "10.77.0.2";

/** DHCP, IPv6 and clients as they are on healthy networks. */
export const NORMAL_SERVICES: readonly Scenario[] = [
  {
    name: "dhcp-client", kind: "normal", what: "a host joins and leases an address", guards: [], packages: [], seconds: 6,
    hosts: ({ mac, index }) => [{ mac: mac(0), leasesAs: `newcomer${index}`, run: "ping -c 3 10.77.0.1" }],
  },
  {
    name: "dhcp-relay", kind: "normal", what: "a relay passes a client's questions to the DHCP server", guards: [], packages: ["isc-dhcp-relay"], seconds: 8,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: "dhcrelay -4 -d --no-pid -i eth0 10.77.0.1" },
      { mac: mac(1), run: `sleep 2; forge dhcp-discover eth0 ${mac(1)} 4` },
    ],
  },
  {
    name: "dhcp-pair", kind: "normal", what: "the second server of a pair that the operator has declared answers too", guards: [], packages: ["dnsmasq-base"],
    seconds: 8, dhcpServers: [SECOND_DHCP_SERVER],
    hosts: ({ mac }) => [
      {
        mac: mac(0), addresses: [`${SECOND_DHCP_SERVER}/24`],
        run: "dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --port=0 --leasefile-ro --no-ping "
          + "--dhcp-range=10.77.0.250,10.77.0.251,600 --dhcp-option=3,10.77.0.1 --dhcp-option=6,10.77.0.1",
      },
      { mac: mac(1), run: `sleep 1; forge dhcp-discover eth0 ${mac(1)} 4` },
    ],
  },
  {
    name: "pxe-proxy", kind: "normal", what: "a PXE server tells clients where to boot from, and gives no addresses", guards: [], packages: ["dnsmasq-base"],
    seconds: 8,
    hosts: ({ ip, mac }) => [
      {
        mac: mac(0), addresses: [`${ip(0)}/24`],
        run: "dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --port=0 --leasefile-ro --dhcp-range=10.77.0.0,proxy "
          + "--pxe-service=x86PC,install,pxelinux",
      },
      { mac: mac(1), run: `sleep 1; forge pxe-discover eth0 ${mac(1)} 4` },
    ],
  },
  {
    name: "random-macs", kind: "normal", what: "a telephone joins again and again, each time under another MAC", guards: [], packages: ["busybox"], seconds: 14,
    hosts: ({ mac, index }) => [{
      mac: mac(0), network: ["echo 1 > $net/ipv6/conf/eth0/disable_ipv6"],
      run: `for i in 1 2 3 4; do ip link set eth0 down; ip link set eth0 address 02:12:34:5${index % 10}:00:0$i; ip link set eth0 up; `
        + "busybox udhcpc -f -n -q -t 4 -T 1 -i eth0 -s /bin/true; sleep 1; done",
    }],
  },
  {
    name: "thread-router", kind: "normal", what: "a Thread border router advertises a route to its mesh, and no way out", guards: [], packages: ["radvd"], seconds: 8,
    hosts: ({ ip, mac, index }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], network: ["echo 1 > $net/ipv6/conf/all/forwarding"],
      run: "printf '%s\\n' 'interface eth0 { AdvSendAdvert on; AdvDefaultLifetime 0; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; "
        + `prefix fd66:${index + 1}:1::/64 { AdvOnLink on; AdvAutonomous on; }; route fd66:${index + 1}:2::/64 { AdvRouteLifetime 1800; }; };' > /run/radvd.conf; `
        + "chmod 600 /run/radvd.conf; sleep 2; radvd --nodaemon --config /run/radvd.conf --pidfile /run/radvd.pid --logmethod stderr -u root",
    }],
  },
  {
    name: "ipv6-host", kind: "normal", what: "a host makes itself temporary IPv6 addresses and checks each", guards: [], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: "for i in 1 2 3; do ip addr add fd4c:616e:7468:77:77:1:2:$i/64 dev eth0; sleep 1.5; ping -6 -c 1 -w 1 fd4c:616e:7468:77::20; done",
    }],
  },
  {
    name: "names-nobody-has", kind: "normal", what: "a host asks for a name that nobody has", guards: [], packages: [], seconds: 6,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge name-questions eth0 ${mac(0)} ${ip(0)} 1000 4` }],
  },
];
