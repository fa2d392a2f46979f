import { DHCP_BROADCAST_FLAG, DHCP_OP, encodeDhcp } from "./dhcp.ts";
import { DHCP_OPTION } from "./dhcp-options.ts";
import { DHCP_MESSAGE_TYPE } from "./dhcp-values.ts";
import { encodeUtf8 } from "../text.ts";

/** Whom a DISCOVER introduces, and what it asks for. */
export interface DhcpDiscover {
  /** Any number of 32 bits; answers carry it. */
  readonly xid: number;
  /** Six bytes on Ethernet. */
  readonly chaddr: Uint8Array;
  /** Option codes; subnet mask, router, name server and domain name where it is left out. */
  readonly parameterList?: readonly number[];
  readonly hostName?: string;
  readonly vendorClass?: string;
  /** Type and identifier as they go on the wire. */
  readonly clientIdentifier?: Uint8Array;
  /** True where it is left out: a sender without a socket on port 68 hears broadcasts only. */
  readonly wantsBroadcast?: boolean;
}

const { subnetMask, router, domainNameServer, domainName } = DHCP_OPTION;

/**
 * The question that every DHCP server on the link answers with an offer. It binds no address.
 * @returns The payload of a datagram from 0.0.0.0 port 68 to 255.255.255.255 port 67.
 * @throws PacketsError for a field that has no encoding.
 * @see RFC 2131 sections 3.1 and 4.4.1
 */
export function encodeDhcpDiscover(discover: DhcpDiscover): Uint8Array {
  const { parameterList = [subnetMask, router, domainNameServer, domainName], wantsBroadcast = true } = discover;
  const options = new Map<number, Uint8Array>([[DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.discover)]]);
  if (discover.clientIdentifier) options.set(DHCP_OPTION.clientIdentifier, discover.clientIdentifier);
  if (discover.hostName !== undefined) options.set(DHCP_OPTION.hostName, encodeUtf8(discover.hostName));
  if (discover.vendorClass !== undefined) options.set(DHCP_OPTION.vendorClassIdentifier, encodeUtf8(discover.vendorClass));
  options.set(DHCP_OPTION.parameterRequestList, Uint8Array.from(parameterList));
  return encodeDhcp({
    op: DHCP_OP.bootRequest,
    xid: discover.xid,
    flags: wantsBroadcast ? DHCP_BROADCAST_FLAG : 0,
    chaddr: discover.chaddr,
    options,
  });
}
