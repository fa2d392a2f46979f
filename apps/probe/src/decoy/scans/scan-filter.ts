/** What the kernel lets through of the traffic of decoys' addresses: what scans send, and how this machine answers it. Connections and their data cost nothing. */
import { isIPv6 } from "node:net";

/** Ports that clients use of themselves begin here: answers to this machine's own questions go there. @see ip_local_port_range in ip(7) */
export const FIRST_CLIENT_PORT = 32_768;
/** UDP is looked at up to here, whatever the answer. */
export const LAST_SYSTEM_PORT = 1023;

/** Segments without ACK: SYN, NULL, FIN, Xmas, and the RST after an answer that nobody wanted. Echo requests, and questions for the time, information and the netmask. */
const IN_IPV4 = `(tcp and tcp[13] & 0x10 = 0) or (udp and udp[2:2] <= ${LAST_SYSTEM_PORT}) or (icmp and (icmp[0] = 8 or icmp[0] = 13 or icmp[0] = 15 or icmp[0] = 17))`;
const IN_IPV6 = `(ip6[6] = 6 and ip6[53] & 0x10 = 0) or (ip6[6] = 17 and ip6[42:2] <= ${LAST_SYSTEM_PORT}) or (ip6[6] = 58 and ip6[40] = 128)`;
/** RST, SYN with ACK, and "port unreachable". */
const OUT_IPV4 = "(tcp and (tcp[13] & 0x04 != 0 or tcp[13] & 0x12 = 0x12)) or (icmp and icmp[0] = 3 and icmp[1] = 3)";
const OUT_IPV6 = "(ip6[6] = 6 and (ip6[53] & 0x04 != 0 or ip6[53] & 0x12 = 0x12)) or (ip6[6] = 58 and ip6[40] = 1 and ip6[41] = 4)";

/** @param addresses Of decoys, at least one. @see pcap-filter(7) */
export function scanFilter(addresses: readonly string[]): string {
  const parts = [
    ...partOf("ip", addresses.filter((address) => !isIPv6(address)), { incoming: IN_IPV4, outgoing: OUT_IPV4 }),
    ...partOf("ip6", addresses.filter((address) => isIPv6(address)), { incoming: IN_IPV6, outgoing: OUT_IPV6 }),
  ];
  return parts.join(" or ");
}

function partOf(family: "ip" | "ip6", addresses: readonly string[], { incoming, outgoing }: { readonly incoming: string; readonly outgoing: string }): readonly string[] {
  if (addresses.length === 0) return [];
  const hosts = (side: "src" | "dst") => addresses.map((address) => `${side} host ${address}`).join(" or ");
  return [`(${family} and (((${hosts("dst")}) and (${incoming})) or ((${hosts("src")}) and (${outgoing}))))`];
}
