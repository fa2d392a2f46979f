import {
  DHCP_MESSAGE_TYPE,
  DHCP_OP,
  decodeDhcp,
  dhcpClientFqdn,
  dhcpHostName,
  dhcpMessageType,
  type DhcpMessage,
  dhcpRequestedAddress,
} from "@lanthorn/packets";
import { macKey } from "../hosts/host.ts";
import { isForeignHost, isNeighborAddress, type Link } from "./link.ts";
import type { Observer } from "./observer.ts";

const SAID = { source: "dhcp", solicited: false } as const;

/**
 * Reads a DHCPv4 message for the client's name and address. A server's acknowledgement gives the address; where it is not seen, as a switch
 * sends it to the client alone, the request says which address to look at.
 */
export function observeDhcp(payload: Uint8Array, link: Link, observer: Observer): void {
  const decoded = decodeDhcp(payload);
  if (!decoded.ok) return;
  const message = decoded.value;
  // What a relay passes on is about a client behind a router.
  if (message.htype !== 1 || message.chaddr.length !== 6 || message.giaddr.some((byte) => byte !== 0)) return;
  if (!isForeignHost(link, message.chaddr, 0)) return;
  const client = macKey(message.chaddr);
  const type = dhcpMessageType(message.options);
  if (message.op === DHCP_OP.bootReply) {
    if (type === DHCP_MESSAGE_TYPE.ack && isNeighborAddress(link, message.yiaddr, 0, 4)) observer.sighting(client, message.yiaddr, SAID);
    return;
  }
  observer.sighting(client, null, SAID);
  const name = dhcpHostName(message.options) ?? dhcpClientFqdn(message.options)?.name ?? "";
  if (name !== "") observer.name({ mac: client }, name, "dhcp");
  const wanted = type === DHCP_MESSAGE_TYPE.request ? wantedAddress(message) : null;
  if (wanted && isNeighborAddress(link, wanted, 0, 4)) observer.expectation(client, wanted);
}

/** RFC 2131 section 4.3.2: in the option before the client has the address, in `ciaddr` when it renews. */
function wantedAddress(message: DhcpMessage): Uint8Array {
  return dhcpRequestedAddress(message.options) ?? message.ciaddr;
}
