import type { Scenario } from "./scenario.ts";

/** Attacks on switches and on names. */
export const ATTACKS_ON_LINK: readonly Scenario[] = [
  {
    name: "stp-root", kind: "attack", what: "becomes the root of the spanning tree, with yersinia", guards: ["spanning_tree"],
    packages: ["yersinia"], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`],
      run: "sleep 9 | timeout 8 yersinia stp -attack 4 -interface eth0",
    }],
  },
  {
    name: "stp-port", kind: "attack", what: "sends BPDUs with the best priority at an access port", guards: ["spanning_tree"], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge stp eth0 ${mac(0)} 1000 6` }],
  },
  {
    name: "dtp", kind: "attack", what: "asks for a trunk, with yersinia", guards: ["vlan_hopping"], packages: ["yersinia"], seconds: 8,
    hosts: ({ ip, mac }) => [{
      mac: mac(0), addresses: [`${ip(0)}/24`], run: "for i in 1 2 3 4 5 6; do timeout 1 yersinia dtp -attack 0 -interface eth0 < /dev/zero > /dev/null; sleep 0.5; done",
    }],
  },
  {
    name: "double-tags", kind: "attack", what: "sends frames with two VLAN tags", guards: ["vlan_hopping"], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge double-tags eth0 ${mac(0)} ${ip(0)} 10.77.0.20 300 20` }],
  },
  {
    name: "fake-switch-cdp", kind: "attack", what: "says by CDP that it is a core switch", guards: ["neighbor_spoofing"], packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge cdp eth0 ${mac(0)} 1000 6` }],
  },
  {
    name: "fake-uplink-lldp", kind: "attack", what: "says by LLDP that it is the switch of the LAN", guards: ["neighbor_spoofing"],
    packages: [], seconds: 8,
    hosts: ({ ip, mac }) => [{ mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge lldp eth0 ${mac(0)} 1000 6` }],
  },
  {
    name: "name-poisoner", kind: "attack", what: "answers every LLMNR, NetBIOS and Multicast DNS question with its own address",
    guards: ["name_poisoning"], packages: [], seconds: 10,
    hosts: ({ ip, mac }) => [
      { mac: mac(0), addresses: [`${ip(0)}/24`], run: `forge name-poisoner eth0 ${mac(0)} ${ip(0)}` },
      {
        mac: mac(1), addresses: [`${ip(1)}/24`],
        run: `sleep 1; forge name-questions eth0 ${mac(1)} ${ip(1)} 1500 5`,
      },
    ],
  },
];
