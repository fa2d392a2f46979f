/** Abbreviations, as network engineers write them. */
const ABBREVIATIONS = /\b(?:arp|bgp|cdp|cpu|cve|dhcp|dhcpv6|dns|icmp|id|ids|ip|ipv6|lldp|mac|mtu|ndp|ospf|snmp|ssh|tcp|tls|ttl|udp|url|vlan|vrrp)\b/g;

/** @returns A name of the API in words: `arp_spoofing` is "ARP spoofing". */
export function words(name: string): string {
  return name.replaceAll("_", " ").replace(ABBREVIATIONS, (short) => short.toUpperCase().replace("V6", "v6"));
}

/** What kinds of events and alerts are called where the words of the API's name say less. */
const KINDS: ReadonlyMap<string, string> = new Map(Object.entries({
  baseline_diff_alert: "baseline difference", config_changed: "configuration changed", events_lost: "lost events", feed: "feed not usable",
  host_software: "software found", ids_alert: "intrusion detected", license: "license state", pcap_ready: "capture ready", port_found: "port found", probe_health_alert: "probe health",
  rogue_detected: "network attack", scan_complete: "scan completed", vuln_found: "vulnerability found",
}));

/** @returns The kind of an event or an alert in words: `pcap_ready` is "capture ready". Filters take the API's name. */
export function kindName(name: string): string {
  return KINDS.get(name) ?? words(name);
}
