import { RAW_FRAME_OCTETS } from "@lanthorn/packet-io";
import { DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, DHCP_PORT, encodeDhcp, ipv4Bytes } from "@lanthorn/packets";
import { UDP_PROTOCOLS } from "../../identify/protocols.ts";
import type { PacketSource } from "./packet.ts";

/** What fits into one frame of the sender, behind the headers of Ethernet, IPv6 and UDP. */
const MAX_PAYLOAD = RAW_FRAME_OCTETS - 62;
const MAX_PAYLOADS = 2;

/** A port and what its protocol is asked by. */
export interface UdpRequest {
  readonly port: number;
  /** At most 578 octets each. */
  readonly payloads: readonly Uint8Array[];
  /** Its answer comes from a port that the server draws, as TFTP's does. */
  readonly answersFromAnyPort: boolean;
}

/**
 * What ports are asked by: the questions of the protocols that are usual there.
 * @param source The address that a DHCP server answers to.
 * @param random Below 1.
 */
export function udpRequests(ports: readonly number[], source: PacketSource, random: () => number): readonly UdpRequest[] {
  return ports.flatMap((port) => {
    if (port === DHCP_PORT.server) {
      return source.address6 ? [] : [{ port, payloads: [dhcpInform(source, random)], answersFromAnyPort: false }];
    }
    const protocols = UDP_PROTOCOLS.filter((protocol) => protocol.ports.includes(port));
    const payloads = protocols.flatMap((protocol) => protocol.payloads.map((payload) => payload(random)))
      .filter(({ length }) => length <= MAX_PAYLOAD).slice(0, MAX_PAYLOADS);
    return payloads.length === 0 ? [] : [{ port, payloads, answersFromAnyPort: protocols.some((one) => one.answersFromAnyPort === true) }];
  });
}

/** Asks for settings, and for no address: it is answered to port 68 of whoever asks. @see RFC 2131 section 4.4.3 */
function dhcpInform({ mac, ip }: PacketSource, random: () => number): Uint8Array {
  const { subnetMask, router, domainNameServer, domainName } = DHCP_OPTION;
  return encodeDhcp({
    op: DHCP_OP.bootRequest, xid: Math.floor(random() * 2 ** 32), chaddr: mac, ciaddr: ipv4Bytes(ip),
    options: new Map([
      [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.inform)],
      [DHCP_OPTION.parameterRequestList, Uint8Array.of(subnetMask, router, domainNameServer, domainName)],
    ]),
  });
}
