import {
  BROADCAST_MAC, DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, DHCP_PORT, encodeDhcp, encodeDhcpDiscover, encodeEthernet, encodeIpv4, encodeUdp, encodeUtf8,
  ETHER_TYPE, IP_PROTOCOL,
} from "@lanthorn/packets";
import type { Link } from "../../capture/link.ts";

/** By this name DHCP servers log our questions. It is the client identifier (of type 0) as well. */
export const PROBE_HOST_NAME = "lanthorn-probe";
/** What decides where clients' traffic goes. @see RFC 2132, RFC 3442 */
const PARAMETERS = [1, 3, 6, 15, 42, 66, 67, 121, 249, 252];
const ANYWHERE = Uint8Array.of(0, 0, 0, 0);
const EVERYONE = Uint8Array.of(255, 255, 255, 255);
const CLIENT_IDENTIFIER = Uint8Array.of(0, ...encodeUtf8(PROBE_HOST_NAME));

/**
 * The questions of one round. Servers answer only some kinds: one that asks for an address, one of a machine that boots from the network,
 * one that asks for settings alone where we have an address. None binds an address.
 * @param xid 32 bits; all questions of a round have it.
 * @see RFC 2131 sections 4.4.1 and 4.4.3
 */
export function encodeServerSearch(link: Link, xid: number): readonly Uint8Array[] {
  const discover = { xid, chaddr: link.mac, hostName: PROBE_HOST_NAME, parameterList: PARAMETERS };
  const frames = [
    inFrame(link, ANYWHERE, encodeDhcpDiscover({ ...discover, clientIdentifier: CLIENT_IDENTIFIER })),
    inFrame(link, ANYWHERE, encodeDhcpDiscover({ ...discover, clientIdentifier: CLIENT_IDENTIFIER, vendorClass: "PXEClient:Arch:00000:UNDI:002001" })),
  ];
  const own = link.own.find(({ bytes }) => bytes.length === 4)?.bytes;
  if (!own) return frames;
  const inform = encodeDhcp({
    op: DHCP_OP.bootRequest, xid, chaddr: link.mac, ciaddr: own,
    options: new Map([
      [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.inform)], [DHCP_OPTION.clientIdentifier, CLIENT_IDENTIFIER],
      [DHCP_OPTION.hostName, encodeUtf8(PROBE_HOST_NAME)], [DHCP_OPTION.parameterRequestList, Uint8Array.from(PARAMETERS)],
    ]),
  });
  return [...frames, inFrame(link, own, inform)];
}

function inFrame(link: Link, source: Uint8Array, message: Uint8Array): Uint8Array {
  const ends = { source, destination: EVERYONE };
  const datagram = encodeUdp({ sourcePort: DHCP_PORT.client, destinationPort: DHCP_PORT.server, payload: message }, ends);
  const payload = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, payload: datagram });
  return encodeEthernet({ destination: BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.ipv4, payload });
}
