import type { EventData, GuardKind } from "@lanthorn/contract";

/** How an alert of one kind is called, and the section of the probe's README that explains its guard, as a link names it. */
interface Rogue {
  readonly type: string;
  readonly title: string;
  readonly techniques: readonly string[];
  readonly section: string;
}

/**
 * What alerts of a probe's guards are called, with the techniques of MITRE ATT&CK: T1557 Adversary-in-the-Middle (.001 name resolution
 * poisoning, .002 ARP cache poisoning, .003 DHCP spoofing), T1498 and T1499 Denial of Service, T1018 and T1046 discovery, T1599 Network
 * Boundary Bridging, T1572 Protocol Tunneling.
 * @see https://attack.mitre.org/techniques/T1557/
 */
export const ROGUES: Readonly<Record<GuardKind, Rogue>> = {
  dhcp_server: { type: "rogue_dhcp", title: "Unknown DHCP server", techniques: ["T1557.003"], section: "dhcp-servers" },
  dhcpv6_server: { type: "rogue_dhcpv6", title: "Unknown DHCPv6 server", techniques: ["T1557.003"], section: "dhcpv6-servers" },
  dhcp_missing: { type: "dhcp_missing", title: "The DHCP server does not answer", techniques: [], section: "dhcp-servers" },
  dhcp_exhaustion: { type: "dhcp_exhaustion", title: "Somebody uses up the DHCP server's addresses", techniques: ["T1499.001"], section: "dhcp-servers" },
  arp_spoofing: { type: "arp_spoofing", title: "ARP spoofing", techniques: ["T1557.002"], section: "arp-and-ndp" },
  ndp_spoofing: { type: "ndp_spoofing", title: "Neighbor Discovery spoofing", techniques: ["T1557"], section: "arp-and-ndp" },
  router_advertisement: { type: "rogue_router", title: "Unknown router advertisement", techniques: ["T1557"], section: "router-advertisements" },
  gateway_changed: { type: "gateway_changed", title: "The default gateway is another one", techniques: ["T1557"], section: "arp-and-ndp" },
  duplicate_ip: { type: "duplicate_ip", title: "Two devices use the address", techniques: [], section: "arp-and-ndp" },
  address_flapping: { type: "address_flapping", title: "An address moves between devices again and again", techniques: [], section: "arp-and-ndp" },
  address_scan: { type: "address_scan", title: "A device searches the network for hosts", techniques: ["T1018"], section: "arp-and-ndp" },
  arp_storm: { type: "arp_storm", title: "ARP storm", techniques: ["T1498"], section: "arp-and-ndp" },
  mac_flooding: { type: "mac_flooding", title: "Somebody floods the switch with MAC addresses", techniques: ["T1557"], section: "mac-flooding" },
  spanning_tree: { type: "spanning_tree", title: "Unexpected spanning tree message", techniques: ["T1557"], section: "spanning-tree" },
  neighbor_spoofing: { type: "neighbor_spoofing", title: "A device claims to be the uplink switch", techniques: ["T1557"], section: "link-neighbors" },
  name_poisoning: { type: "name_poisoning", title: "Somebody answers for names that nobody has", techniques: ["T1557.001"], section: "name-poisoning" },
  unexpected_ipv6: { type: "unexpected_ipv6", title: "IPv6 router or tunnel on a network without IPv6", techniques: ["T1572"], section: "ipv6-on-a-link-without-it" },
  vlan_hopping: { type: "vlan_hopping", title: "VLAN hopping", techniques: ["T1599"], section: "vlan-hopping" },
};

/** Whom an alert is about: what the probe's guard says. Older probes leave it to what is claimed, or to who claims it. */
export function rogueSubject({ kind, subject, ip, mac, vlan_id: vlanId }: EventData<"rogue_detected">): string {
  const about = subject ?? (kind === "arp_spoofing" || kind === "duplicate_ip" ? ip : mac || ip);
  return vlanId === null ? about : `${about} vlan ${vlanId}`;
}

const SECTIONS: ReadonlyMap<string, string> = new Map(Object.values(ROGUES).map(({ type, section }) => [type, section]));

/** Where the guard or the comparison that raised an alert is explained; null for other alerts. */
export function guideOf({ source, type }: { readonly source: string; readonly type: string }): string | null {
  if (source === "baseline" && type.startsWith("baseline_")) return "apps/collector/README.md#baselines";
  const section = source === "rogue" ? SECTIONS.get(type) : undefined;
  return section === undefined ? null : `apps/probe/README.md#${section}`;
}
