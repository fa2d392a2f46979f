import { FAMILY_IPV4, FAMILY_IPV6, FAMILY_MAC, type FlowKey, PROTOCOL_ARP } from "./flow-keys.ts";

const TCP = 6;
const UDP = 17;
/** Above word 9 of a key, which has 20 bits. */
const PORT = 0x10_0000;

const ETHER_TYPES: Readonly<Record<number, string>> = {
  0: "llc", 0x0806: "arp", 0x0842: "wol", 0x8100: "vlan", 0x8137: "ipx", 0x8847: "mpls", 0x8848: "mpls", 0x8863: "pppoe", 0x8864: "pppoe", 0x888e: "eapol",
  0x8892: "profinet", 0x88a4: "ethercat", 0x88a8: "vlan", 0x88cc: "lldp", 0x88e5: "macsec", 0x88e7: "pbb", 0x88f7: "ptp", 0x9000: "loop",
};
const IP_PROTOCOLS: Readonly<Record<number, string>> = {
  1: "icmp", 2: "igmp", 4: "ipip", 6: "tcp", 17: "udp", 41: "6in4", 47: "gre", 50: "esp", 51: "ah", 58: "icmpv6", 89: "ospf", 103: "pim", 112: "vrrp", 132: "sctp",
  [PROTOCOL_ARP]: "arp",
};
/** Ports that nearly always carry one protocol. What really speaks there is for the inspection to say. @see IANA's service names */
const TCP_PORTS: Readonly<Record<number, string>> = {
  21: "ftp", 22: "ssh", 23: "telnet", 25: "smtp", 53: "dns", 80: "http", 88: "kerberos", 110: "pop3", 143: "imap", 389: "ldap", 443: "https", 445: "smb",
  502: "modbus", 554: "rtsp", 631: "ipp", 636: "ldaps", 853: "dns-over-tls", 993: "imaps", 1883: "mqtt", 3306: "mysql", 3389: "rdp", 5432: "postgresql",
  5900: "vnc", 8080: "http", 8443: "https", 8883: "mqtts", 9100: "jetdirect",
};
const UDP_PORTS: Readonly<Record<number, string>> = {
  53: "dns", 67: "dhcp", 68: "dhcp", 69: "tftp", 123: "ntp", 137: "netbios-ns", 138: "netbios-dgm", 161: "snmp", 162: "snmp-trap", 443: "quic", 500: "isakmp",
  514: "syslog", 546: "dhcpv6", 547: "dhcpv6", 1900: "ssdp", 4500: "ipsec-nat", 4789: "vxlan", 5060: "sip", 5353: "mdns", 5355: "llmnr", 51820: "wireguard",
};

/** A number for each protocol that has a name here: of the flow's transport, and of its application where a port is known for one. */
export function protocolCode(key: FlowKey): number {
  const kind = key[9] as number;
  const family = kind & 0xf_0000;
  const ports = family !== FAMILY_IPV4 && family !== FAMILY_IPV6 ? null : (kind & 0xffff) === TCP ? TCP_PORTS : (kind & 0xffff) === UDP ? UDP_PORTS : null;
  if (ports === null) return kind;
  const one = (key[8] as number) >>> 16;
  const other = (key[8] as number) & 0xffff;
  const [low, high] = one < other ? [one, other] : [other, one];
  return kind + (ports[low] !== undefined ? low : ports[high] !== undefined ? high : 0) * PORT;
}

/** The name of a protocol by its code: `dns`, `tcp`, `arp`, or its number as `ip-99`, `ethertype-0x1234`. */
export function protocolName(code: number): string {
  const kind = code % PORT;
  const port = Math.floor(code / PORT);
  return (port === 0 ? undefined : ((kind & 0xffff) === TCP ? TCP_PORTS : UDP_PORTS)[port]) ?? transportName(kind);
}

/** The protocol that carries the flow's payload. @param kind Word 9 of its key. */
export function transportName(kind: number): string {
  const code = kind & 0xffff;
  switch (kind - code) {
    case FAMILY_IPV4:
    case FAMILY_IPV6:
      return IP_PROTOCOLS[code] ?? `ip-${code}`;
    case FAMILY_MAC:
      return ETHER_TYPES[code] ?? `ethertype-0x${code.toString(16).padStart(4, "0")}`;
    default:
      return "unreadable";
  }
}
