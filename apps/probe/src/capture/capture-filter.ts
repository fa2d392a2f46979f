/**
 * Everything that shows hosts and neighbors: what is said to all or many, VLAN tags or not, and the answers to what we ask. Other
 * traffic would only cost time. Answers of DHCPv6 servers, of name poisoners, and IPv6 in IPv4 (Teredo's port too) go to one host alone.
 * EDP goes to an address that is no multicast address.
 */
const HEARD = "ether multicast or ether dst 00:e0:2b:00:00:00 or arp or icmp6 or udp port 67 or udp port 68 or udp port 5353"
  + " or udp port 546 or udp port 547 or udp port 5355 or udp port 137 or ip proto 41 or udp port 3544";
/**
 * How handshakes with this machine begin, whose options show a system's hand. With no option but the segment size, as answers to
 * a port scan have, they show none, and are many: the kernel leaves them out.
 */
const HANDSHAKES = "tcp[tcpflags] & tcp-syn != 0 and tcp[12] & 0xf0 > 0x60";

/**
 * What claims an address or a server's place: ARP replies, what DHCP and DHCPv6 servers say, advertisements of routers and neighbors. This
 * machine sends few of them, and an attacker who wears its MAC would not be heard otherwise.
 */
const CLAIMS = "arp[6:2] = 2 or udp src port 67 or udp src port 547 or (icmp6 and (ip6[40] = 134 or ip6[40] = 136))";

/**
 * What the kernel lets through to the probe.
 * What we send is left out by its MAC, but for claims: libpcap's `inbound` loses frames until its ring has gone round once.
 * @param mac The interface's own address.
 * @see pcap-filter(7)
 */
export function captureFilter(mac: string): string {
  return `(not ether src ${mac} and (${HEARD} or (ether dst ${mac} and ${HANDSHAKES}))) or (ether src ${mac} and (${CLAIMS}))`;
}
