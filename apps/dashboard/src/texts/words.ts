/** Abbreviations, as network engineers write them. */
const ABBREVIATIONS = /\b(?:arp|bgp|cdp|cpu|cve|dhcp|dns|icmp|id|ids|ip|ipv6|lldp|mac|mtu|ndp|ospf|snmp|ssh|tcp|tls|ttl|udp|url|vlan|vrrp)\b/g;

/** @returns A name of the API in words: `arp_spoofing` is "ARP spoofing". */
export function words(name: string): string {
  return name.replaceAll("_", " ").replace(ABBREVIATIONS, (short) => (short === "ipv6" ? "IPv6" : short.toUpperCase()));
}
