import type { Scenario } from "./scenario.ts";

const GATEWAY = "10.77.0.1";
const GATEWAY_MAC = "18:fd:74:77:00:01";
const WEB = "10.77.0.20";
const PRINTER = "10.77.0.30";

/** Attacks by ARP and DHCP. Attackers have an address of their own, which they do not hide. */
export const ATTACKS_ON_IPV4: readonly Scenario[] = [
  {
    name: "arpspoof", kind: "attack", what: "says to all that the gateway's address is its own", guards: ["arp_spoofing"],
    packages: ["dsniff"], seconds: 8, checked: [GATEWAY],
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `arpspoof -i eth0 ${GATEWAY}` }],
  },
  {
    name: "arpspoof-both-ways", kind: "attack", what: "stands between a server and the gateway, which it deceives both", guards: ["arp_spoofing"],
    packages: ["dsniff"], seconds: 8, checked: [GATEWAY, WEB],
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `arpspoof -i eth0 -r -t ${WEB} ${GATEWAY}` }],
  },
  {
    name: "arpspoof-host", kind: "attack", what: "says to all that a printer's address is its own", guards: ["arp_spoofing"],
    packages: ["dsniff"], seconds: 8, checked: [PRINTER],
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `arpspoof -i eth0 ${PRINTER}` }],
  },
  {
    name: "ettercap", kind: "attack", what: "poisons a server and the gateway with ettercap", guards: ["arp_spoofing"],
    packages: ["ettercap-text-only"], seconds: 12, checked: [GATEWAY, WEB],
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: `ettercap -T -q -i eth0 -M arp:remote /${GATEWAY}// /${WEB}// < /dev/zero > /dev/null`,
    }],
  },
  {
    name: "bettercap", kind: "attack", what: "poisons a server and the gateway with bettercap", guards: ["arp_spoofing", "arp_storm"],
    packages: ["bettercap"], seconds: 12, checked: [GATEWAY, WEB],
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: `ping -c 1 ${GATEWAY}; ping -c 1 ${WEB}; begin; bettercap -iface eth0 -gateway-override ${GATEWAY} -no-history -no-colors -eval `
        + `"set arp.spoof.targets ${WEB}; set arp.spoof.fullduplex true; set arp.spoof.internal true; arp.spoof on; sleep 60"`,
    }],
  },
  {
    name: "arp-wrong-source", kind: "attack", what: "claims a server's address in frames whose Ethernet source is not the claimed MAC",
    guards: ["arp_spoofing"], packages: [], seconds: 8, checked: [WEB],
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge arp-claims eth0 ${mac(0)} ${WEB} ${mac(1)} 500 16`,
    }],
  },
  {
    name: "arp-storm", kind: "attack", what: "sends hundreds of unasked ARP replies a second, of addresses that nobody has", guards: ["arp_storm", "arp_spoofing"],
    packages: [], seconds: 6,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge arp-storm eth0 ${mac(0)} 10.77.0 400 5` }],
  },
  {
    name: "duplicate-address", kind: "attack", what: "takes the printer's address, as a wrongly configured host does", guards: ["duplicate_ip", "arp_spoofing"],
    packages: [], seconds: 8, checked: [PRINTER],
    hosts: ({ mac }) => [{ mac: mac(0), addresses: [`${PRINTER}/24`], run: `arping -c 2 -A -I eth0 ${PRINTER}; ping -i 0.5 -w 6 ${GATEWAY}` }],
  },
  {
    name: "flapping", kind: "attack", what: "two hosts that both live take an address from each other every second",
    guards: ["address_flapping", "duplicate_ip", "arp_spoofing"], packages: [], seconds: 10,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: `for i in 1 2 3 4 5 6 7 8; do arping -c 1 -A -I eth0 ${ip(0)}; sleep 1; done` },
      { mac: mac(1), addresses: [`${ip(0)}/24`], run: `sleep 0.5; begin; for i in 1 2 3 4 5 6 7 8; do arping -c 1 -A -I eth0 ${ip(0)}; sleep 1; done` },
    ],
  },
  {
    name: "arp-scan", kind: "attack", what: "another host looks for all hosts with arp-scan", guards: ["address_scan"], packages: ["arp-scan"], seconds: 5,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: "arp-scan --interface eth0 --quiet 10.77.0.0/24" }],
  },
  {
    name: "nmap-sweep", kind: "attack", what: "another host looks for all hosts with nmap", guards: ["address_scan"], packages: ["nmap"], seconds: 6,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: "nmap -n -sn 10.77.0.0/24" }],
  },
  {
    name: "macof", kind: "attack", what: "fills the switch's table with frames of random MACs", guards: ["mac_flooding"], packages: ["dsniff"], seconds: 5, captureBytes: 160 * 1024,
    // Only frames to groups pass the probe's filter: half of these.
    hosts: ({ ip, mac, isRecorded }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: isRecorded ? flood(160, 0.2) : flood(400, 0.1),
    }],
  },
  {
    name: "rogue-dhcp", kind: "attack", what: "a second dnsmasq gives addresses, and itself as the gateway", guards: ["dhcp_server"],
    packages: ["dnsmasq-base"], seconds: 8,
    hosts: ({ ip, mac }) => [
      {
        mac: mac(0), addresses: [`${ip(0)}/24`],
        run: `dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --port=0 --leasefile-ro --no-ping --dhcp-authoritative `
          + `--dhcp-range=10.77.0.240,10.77.0.241,600 --dhcp-option=3,${ip(0)} --dhcp-option=6,${ip(0)} --dhcp-option=252,http://${ip(0)}/wpad.dat`,
      },
      // A client that only asks, so that it takes no address from anybody.
      { mac: mac(1), run: `sleep 0.5; forge dhcp-discover eth0 ${mac(1)} 3` },
    ],
  },
  {
    name: "dhcp-gateway", kind: "attack", what: "offers clients another gateway in the DHCP server's name", guards: ["gateway_changed", "dhcp_server"],
    packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: `sleep 0.5; forge dhcp-offers eth0 ${GATEWAY_MAC} ${GATEWAY} ${ip(0)} ${mac(1)} 6` },
      { mac: mac(1), run: `forge dhcp-discover eth0 ${mac(1)} 6` },
    ],
  },
  {
    name: "dhcp-silent", kind: "attack", what: "the DHCP server stops, and clients ask in vain", guards: ["dhcp_missing"], packages: [], seconds: 14,
    stops: { host: "gateway", daemon: "dnsmasq" },
    hosts: ({ mac }) => [0, 1, 2].map((number) => ({ mac: mac(number), run: `forge dhcp-discover eth0 ${mac(number)} 12` })),
  },
  {
    name: "dhcp-starvation", kind: "attack", what: "takes every address of the pool under forged MACs", guards: ["dhcp_exhaustion"], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: "forge dhcp-starvation eth0 100 6" }],
  },
];

function flood(frames: number, pauseSeconds: number): string {
  return `for i in $(seq 60); do macof -i eth0 -n ${frames} > /dev/null 2>&1; sleep ${pauseSeconds}; done`;
}
