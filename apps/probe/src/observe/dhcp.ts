import { readDhcpClient } from "@lanthorn/fingerprints";
import {
  DHCP_MESSAGE_TYPE,
  DHCP_OPTION,
  DHCP_OP,
  dhcpClientFqdn,
  dhcpHostName,
  dhcpMessageType,
  type DhcpMessage,
  dhcpParameterList,
  dhcpRequestedAddress,
  dhcpRouters,
  dhcpVendorClass,
  isUnspecifiedIp,
} from "@lanthorn/packets";
import type { BusFrame } from "../bus/frame-bus.ts";
import { KEY_CONFIDENCE, type SaidFact } from "../hosts/facts.ts";
import { macKey } from "../hosts/host.ts";
import { isForeignHost, isNeighborAddress, type Link } from "../capture/link.ts";
import type { Observer } from "../hosts/observer.ts";

/** As the collector reads it; no client needs more. */
const MAX_ID = 255;
/** Whom a server names as the way out. */
const ROUTER = { field: "device_type", value: "router", source: "dhcp:router", confidence: 0.6 } as const;
const MAX_ROUTERS = 4;
const SAID = { source: "dhcp", solicited: false } as const;

/**
 * Reads a DHCPv4 message for the client's name, address and ways. A server's acknowledgement gives the address; where it is not
 * seen, as a switch sends it to the client alone, the request says which address to look at.
 */
export function observeDhcp(frame: Pick<BusFrame, "dhcp">, link: Link, observer: Observer): void {
  const decoded = frame.dhcp();
  if (!decoded.ok) return;
  const message = decoded.value;
  // What a relay passes on is about a client behind a router.
  if (message.htype !== 1 || message.chaddr.length !== 6 || !isUnspecifiedIp(message.giaddr)) return;
  if (!isForeignHost(link, message.chaddr, 0)) return;
  const client = macKey(message.chaddr);
  const type = dhcpMessageType(message.options);
  if (message.op === DHCP_OP.bootReply) {
    for (const router of (dhcpRouters(message.options) ?? []).slice(0, MAX_ROUTERS)) {
      if (isNeighborAddress(link, router, 0, 4)) observer.facts({ address: router }, [ROUTER]);
    }
    if (type === DHCP_MESSAGE_TYPE.ack && isNeighborAddress(link, message.yiaddr, 0, 4)) observer.seen(client, message.yiaddr, SAID);
    return;
  }
  observer.seen(client, null, SAID);
  const facts = clientFacts(message.options);
  if (facts.length > 0) observer.facts({ mac: client }, facts);
  const name = dhcpHostName(message.options) ?? dhcpClientFqdn(message.options)?.name ?? "";
  if (name !== "") observer.name({ mac: client }, name, "dhcp");
  const wanted = type === DHCP_MESSAGE_TYPE.request ? wantedAddress(message) : null;
  if (wanted && isNeighborAddress(link, wanted, 0, 4)) observer.expectation(client, wanted);
}

/** What its client's ways say of its system, and by what a server knows it. */
function clientFacts(options: DhcpMessage["options"]): readonly SaidFact[] {
  const id = options.get(DHCP_OPTION.clientIdentifier);
  const key = id && id.length >= 2 && id.length <= MAX_ID
    ? [{ field: "dhcp_client_id", value: Buffer.from(id).toString("hex"), source: "dhcp", confidence: KEY_CONFIDENCE }] : [];
  return [...key, ...readWays(options)];
}

/** What clients' options 55 and 60 say, by both: many ask in the same way. */
const ways = new Map<string, readonly SaidFact[]>();
const MAX_WAYS = 256;

function readWays(options: DhcpMessage["options"]): readonly SaidFact[] {
  const id = `${latin1(options.get(DHCP_OPTION.parameterRequestList))}/${latin1(options.get(DHCP_OPTION.vendorClassIdentifier))}`;
  let facts = ways.get(id);
  if (!facts) {
    facts = readDhcpClient({ parameters: dhcpParameterList(options), vendorClass: dhcpVendorClass(options) });
    if (ways.size >= MAX_WAYS) ways.clear();
    ways.set(id, facts);
  }
  return facts;
}

/** One character a byte, behind their number; `-` for an option that is not there. */
function latin1(bytes: Uint8Array | undefined): string {
  return bytes ? `${bytes.length} ${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")}` : "-";
}

/** RFC 2131 section 4.3.2: in the option before the client has the address, in `ciaddr` when it renews. */
function wantedAddress(message: DhcpMessage): Uint8Array {
  return dhcpRequestedAddress(message.options) ?? message.ciaddr;
}
