import {
  BROADCAST_MAC, DNS_TYPE, encodeDns, encodeEthernet, encodeIpv4, encodeNetbiosQuery, encodeUdp, ETHER_TYPE, IP_PROTOCOL, ipv4Bytes, ipv4Number,
  multicastMac, NETBIOS_NAME_PORT,
} from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import { MDNS_GROUP, MDNS_PORT } from "./request-frames.ts";

/** How a name is asked for where DNS does not know it. */
export type NameProtocol = "LLMNR" | "NBT-NS" | "mDNS";
/** All of them. */
export const NAME_PROTOCOLS: readonly NameProtocol[] = ["LLMNR", "NBT-NS", "mDNS"];

/** @see RFC 4795 section 2 */
export const LLMNR_PORT = 5355;
const LLMNR_GROUP = Uint8Array.of(224, 0, 0, 252);
/** Of our end of an LLMNR question; its answer comes as a frame. */
const SOURCE_PORT = 54_795;

/** A file server: what a mistyped share is asked for. */
const FILE_SERVER = 0x20;
const UNLIKELY_NAME = /^[bcdfghjklmnpqrstvwxz]{10,14}$/i;

/**
 * Whether nobody can have this name: ten to fourteen consonants and nothing else. Only such names are asked for, so that no host of the
 * link is meant, and whoever answers for two of them answers for every name.
 */
export function isUnlikelyName(label: string): boolean {
  return UNLIKELY_NAME.test(label);
}

/** @param id Of the questions, 16 bits. @param label An unlikely name. */
export interface NameQuestion {
  readonly id: number;
  readonly label: string;
  /** In which ways; all unless given. */
  readonly protocols?: readonly NameProtocol[];
}

/**
 * Asks everyone for a name in the three ways in which Windows and macOS do where DNS does not know it: LLMNR, the NetBIOS name service, and
 * Multicast DNS.
 * @returns Whole frames, in the order of `protocols`; none without an IPv4 address of ours in a subnet that has a broadcast address.
 * @see RFC 4795 section 2.1.1, RFC 1002 section 4.2.12, RFC 6762 section 5.1
 */
export function encodeNameQuestions(link: Link, { id, label, protocols = NAME_PROTOCOLS }: NameQuestion): readonly Uint8Array[] {
  const own = link.own.find(({ bytes, subnet }) => bytes.length === 4 && subnet.length < 31);
  if (!own) return [];
  const ask = (destination: Uint8Array, ports: readonly [number, number], payload: Uint8Array) => {
    const ends = { source: own.bytes, destination };
    const datagram = encodeUdp({ sourcePort: ports[0], destinationPort: ports[1], payload }, ends);
    const isGroup = destination === LLMNR_GROUP || destination === MDNS_GROUP;
    return encodeEthernet({
      destination: isGroup ? multicastMac(destination) : BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.ipv4,
      payload: encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, timeToLive: isGroup ? 255 : 64, payload: datagram }),
    });
  };
  const broadcast = ipv4Bytes(ipv4Number(own.subnet.bytes) + 2 ** (32 - own.subnet.length) - 1);
  const questions: Readonly<Record<NameProtocol, () => Uint8Array>> = {
    "LLMNR": () => ask(LLMNR_GROUP, [SOURCE_PORT, LLMNR_PORT], encodeDns({ id, questions: [{ name: label, type: DNS_TYPE.a }] })),
    "NBT-NS": () => ask(broadcast, [NETBIOS_NAME_PORT, NETBIOS_NAME_PORT], encodeNetbiosQuery({ id, name: { name: label.toUpperCase(), suffix: FILE_SERVER } })),
    "mDNS": () => ask(MDNS_GROUP, [MDNS_PORT, MDNS_PORT], encodeDns({ id: 0, questions: [{ name: `${label}.local`, type: DNS_TYPE.a }] })),
  };
  return protocols.map((protocol) => questions[protocol]());
}
