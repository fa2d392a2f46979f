import {
  DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, DHCP_PORT, dhcpMessageType, dhcpServerIdentifier, type DhcpMessage, dhcpVendorClass, formatIpv4, formatMac, isMulticastIp, isUnspecifiedIp,
} from "@lanthorn/packets";
import type { GuardFrame } from "../guard.ts";
import { memoLast } from "../memo-last.ts";
import { type Handout, readHandout } from "./handout.ts";

/** What a DHCP server has said. */
export interface ServerMessage {
  readonly message: DhcpMessage;
  readonly type: "offer" | "ack" | "nak";
  /** Its identifier, else the address that it sends from, else its MAC address. */
  readonly server: string;
  readonly mac: string;
  readonly sourceIp: string;
  readonly vlanId: number | null;
  /** The relay that passed it on; empty without one. */
  readonly giaddr: string;
  /** It goes to a relay, and so to clients of another link. */
  readonly isToRelay: boolean;
  readonly handout: Handout | null;
  /** It says where to boot from and gives no address. @see PXE specification 2.1 section 2.4.3 */
  readonly isBootOnly: boolean;
  readonly packet: Uint8Array;
}

const TYPES: ReadonlyMap<number, ServerMessage["type"]> = new Map([
  [DHCP_MESSAGE_TYPE.offer, "offer"], [DHCP_MESSAGE_TYPE.ack, "ack"], [DHCP_MESSAGE_TYPE.nak, "nak"],
]);
const NO_ADDRESS = "0.0.0.0";

/** Who is a server is known by what it says (options 53 and 54), not by whom it speaks to. @returns Null for what no server says. */
export const readServerMessage = memoLast((message: DhcpMessage, { captured, frame }: GuardFrame): ServerMessage | null => {
  const type = message.op === DHCP_OP.bootReply ? TYPES.get(dhcpMessageType(message.options) ?? 0) : undefined;
  const { sourceMac, sourceIp } = frame;
  if (!type || !sourceMac || sourceIp?.length !== 4) return null;
  const mac = formatMac(sourceMac);
  const named = dhcpServerIdentifier(message.options);
  const server = named && isHostAddress(named) ? formatIpv4(named) : isHostAddress(sourceIp) ? formatIpv4(sourceIp) : mac;
  const giaddr = formatIpv4(message.giaddr);
  const handout = type === "nak" ? null : readHandout(message);
  return {
    message, type, server, mac, sourceIp: formatIpv4(sourceIp), vlanId: frame.vlanTags.at(-1)?.vlanId || null, giaddr: giaddr === NO_ADDRESS ? "" : giaddr,
    isToRelay: frame.destinationPort === DHCP_PORT.server, handout,
    isBootOnly: handout === null && type !== "nak" && isUnspecifiedIp(message.yiaddr)
      && (dhcpVendorClass(message.options) ?? "").startsWith("PXEClient"),
    packet: captured.bytes,
  };
});

/** The server that a client has chosen of those that have made it an offer, or null. */
export function chosenServer(message: DhcpMessage): string | null {
  const server = message.options.has(DHCP_OPTION.requestedIpAddress) ? dhcpServerIdentifier(message.options) : null;
  return server && isHostAddress(server) ? formatIpv4(server) : null;
}

/** Neither all zeros nor all ones nor a group. */
function isHostAddress(bytes: Uint8Array): boolean {
  return bytes[0] !== 0 && !bytes.every((byte) => byte === 255) && !isMulticastIp(bytes);
}
