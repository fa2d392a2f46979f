/** DHCP for IPv4 and IPv6. @see RFC 2131, RFC 8415 */
import { decodeDhcp, decodeDhcpv6, type DhcpMessage, type Dhcpv6Message } from "@lanthorn/packets";
import type { DatagramParser, MessageOrigin } from "./stream-parser.ts";

interface DhcpOrigin extends MessageOrigin {
  readonly protocol: "dhcp";
  /** The whole message as it was sent. */
  readonly bytes: Uint8Array;
}

/** A message of a client, a server or a relay; read its options with `dhcpMessageType`, `dhcpv6Leases` and the like. */
export type DhcpTrafficMessage =
  | (DhcpOrigin & { readonly family: 4; readonly message: DhcpMessage })
  | (DhcpOrigin & { readonly family: 6; readonly message: Dhcpv6Message });

type Emit = (message: DhcpTrafficMessage) => void;

const MAX_MALFORMED = 4;

/** @returns The parser of one flow of datagrams, for IPv4. */
export function createDhcpParser(emit: Emit): DatagramParser {
  return createParser((side, bytes, at) => {
    const result = decodeDhcp(bytes);
    if (result.ok) emit({ protocol: "dhcp", family: 4, side, at, message: result.value, bytes });
    return result.ok;
  });
}

/** @returns The parser of one flow of datagrams, for IPv6. */
export function createDhcpv6Parser(emit: Emit): DatagramParser {
  return createParser((side, bytes, at) => {
    const result = decodeDhcpv6(bytes);
    if (result.ok) emit({ protocol: "dhcp", family: 6, side, at, message: result.value, bytes });
    return result.ok;
  });
}

function createParser(read: (side: 0 | 1, bytes: Uint8Array, at: number) => boolean): DatagramParser {
  let malformed = 0;
  return {
    get isOver() {
      return malformed >= MAX_MALFORMED;
    },
    read(side, bytes, at) {
      malformed = read(side, bytes, at) ? 0 : malformed + 1;
    },
  };
}
