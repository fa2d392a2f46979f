import {
  DHCPV6_OPTION, DHCPV6_PORT, DHCPV6_SERVERS_GROUP, DHCPV6_TYPE, encodeDhcpv6, encodeEthernet, encodeIpv6, encodeUdp, encodeUtf8, ETHER_TYPE, IP_PROTOCOL, multicastMac,
} from "@lanthorn/packets";
import { type Link, ownLinkLocal } from "../../capture/link.ts";
import { PROBE_HOST_NAME } from "../dhcp-servers/server-search.ts";

/** A DUID of an enterprise (type 2) with the number for documentation: by it servers log our questions. @see RFC 8415 section 11.3, RFC 5612 */
const DUID = Uint8Array.of(0, 2, 0, 0, 0x7e, 0xd9, ...encodeUtf8(PROBE_HOST_NAME));
/** Name servers, search domains, where to boot from. */
const REQUESTED = Uint8Array.of(0, DHCPV6_OPTION.dnsServers, 0, DHCPV6_OPTION.domainList, 0, DHCPV6_OPTION.bootfileUrl);
const NOW = Uint8Array.of(0, 0);
/** An association of one address: its identifier, and both times left to the server. @see RFC 8415 section 21.4 */
const ASSOCIATION = Uint8Array.of(...encodeUtf8("lant"), 0, 0, 0, 0, 0, 0, 0, 0);

/**
 * The questions of one round: for an address, without Rapid Commit, and for settings alone. Neither binds an address.
 * @param transactionId 24 bits.
 * @returns Nothing without a link-local address.
 * @see RFC 8415 sections 18.2.1 and 18.2.6
 */
export function encodeServerSearch6(link: Link, transactionId: number): readonly Uint8Array[] {
  const source = ownLinkLocal(link);
  if (!source) return [];
  const common = [
    { code: DHCPV6_OPTION.clientId, data: DUID }, { code: DHCPV6_OPTION.optionRequest, data: REQUESTED }, { code: DHCPV6_OPTION.elapsedTime, data: NOW },
  ];
  const solicit = { kind: "exchange", type: DHCPV6_TYPE.solicit, transactionId, options: [...common, { code: DHCPV6_OPTION.iaNa, data: ASSOCIATION }] } as const;
  const request = { kind: "exchange", type: DHCPV6_TYPE.informationRequest, transactionId, options: common } as const;
  const ends = { source, destination: DHCPV6_SERVERS_GROUP };
  return [solicit, request].map((message) => {
    const datagram = encodeUdp({ sourcePort: DHCPV6_PORT.client, destinationPort: DHCPV6_PORT.server, payload: encodeDhcpv6(message) }, ends);
    const payload = encodeIpv6({ ...ends, protocol: IP_PROTOCOL.udp, hopLimit: 1, payload: datagram });
    return encodeEthernet({ destination: multicastMac(DHCPV6_SERVERS_GROUP), source: link.mac, etherType: ETHER_TYPE.ipv6, payload });
  });
}
