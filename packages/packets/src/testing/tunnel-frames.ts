/** A DNS query of 10.1.1.2 to 10.1.1.3 in every encapsulation that is read, and in several at once. For tests only. */
import { ETHER_TYPE, IP_PROTOCOL } from "../numbers.ts";
import { encodeIpv4 } from "../ip/ipv4.ts";
import { encodeIpv6 } from "../ip/ipv6.ts";
import { encodeEthernet } from "../link/ethernet.ts";
import { encodeUdp } from "../transport/udp.ts";
import type { EncapsulationKind } from "../tunnels/envelope.ts";
import { fromHex, joinBytes } from "./bytes.ts";

interface TunnelFrame {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly encapsulations: readonly EncapsulationKind[];
  readonly network?: number;
  readonly vlanIds?: readonly number[];
}

const [CUSTOMER, SERVER] = [fromHex("001b21000002"), fromHex("001b21000003")];
const [ROUTER, OTHER_ROUTER] = [fromHex("02000000000a"), fromHex("02000000000b")];
const [IPV4_A, IPV4_B] = [fromHex("0a010102"), fromHex("0a010103")];
const [OUTER_A, OUTER_B] = [fromHex("c0000201"), fromHex("c0000202")];
const [OUTER_IPV6_A, OUTER_IPV6_B] = [fromHex("20010db8000000000000000000000001"), fromHex("20010db8000000000000000000000002")];
const [IPV6_A, IPV6_B] = [fromHex("20010db8000100000000000000000001"), fromHex("20010db8000100000000000000000002")];
const QUERY = fromHex("1234 0100 0001 0000 0000 0000 076578616d706c6503636f6d00 0001 0001");

/** The ports of the query, by which a test finds it again. */
export const INNER_PORTS = { source: 40_001, destination: 53 } as const;

function udp(ends: { readonly source: Uint8Array; readonly destination: Uint8Array }, ports: readonly [number, number], payload: Uint8Array): Uint8Array {
  return encodeUdp({ sourcePort: ports[0], destinationPort: ports[1], payload }, ends);
}
function query(source: Uint8Array, destination: Uint8Array): Uint8Array {
  return udp({ source, destination }, [INNER_PORTS.source, INNER_PORTS.destination], QUERY);
}

/** The query as an IPv4 packet. */
export const INNER_IPV4 = encodeIpv4({ protocol: IP_PROTOCOL.udp, source: IPV4_A, destination: IPV4_B, payload: query(IPV4_A, IPV4_B) });
const INNER_IPV6 = encodeIpv6({ protocol: IP_PROTOCOL.udp, source: IPV6_A, destination: IPV6_B, payload: query(IPV6_A, IPV6_B) });
/** The query as a frame of its own. */
const INNER_FRAME = encodeEthernet({ destination: SERVER, source: CUSTOMER, etherType: ETHER_TYPE.ipv4, payload: INNER_IPV4 });
const INNER_TAGGED = encodeEthernet({
  destination: SERVER, source: CUSTOMER, etherType: ETHER_TYPE.ipv4, payload: INNER_IPV4,
  vlanTags: [{ protocol: ETHER_TYPE.vlan, priority: 0, isDropEligible: false, vlanId: 77 }],
});

/** A frame between two routers. */
export function behindEthernet(etherType: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return encodeEthernet({ destination: OTHER_ROUTER, source: ROUTER, etherType, payload: joinBytes(...parts) });
}
/** A packet between two routers. */
export function behindIpv4(protocol: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return behindEthernet(ETHER_TYPE.ipv4, encodeIpv4({ protocol, source: OUTER_A, destination: OUTER_B, payload: joinBytes(...parts) }));
}
/** A datagram between two routers. */
export function behindUdp(port: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return behindIpv4(IP_PROTOCOL.udp, udp({ source: OUTER_A, destination: OUTER_B }, [49_152, port], joinBytes(...parts)));
}
function behindIpv6(protocol: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const packet = encodeIpv6({ protocol, source: OUTER_IPV6_A, destination: OUTER_IPV6_B, payload: joinBytes(...parts) });
  return behindEthernet(ETHER_TYPE.ipv6, packet);
}
function tagged(vlanIds: readonly number[], etherType: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const vlanTags = vlanIds.map((vlanId, index) => ({
    protocol: index < vlanIds.length - 1 ? ETHER_TYPE.providerVlan : ETHER_TYPE.vlan, priority: 0, isDropEligible: false, vlanId,
  }));
  return encodeEthernet({ destination: OTHER_ROUTER, source: ROUTER, vlanTags, etherType, payload: joinBytes(...parts) });
}

/** @param length Of what follows. @see RFC 2516 */
function pppoe(protocol: string, payload: Uint8Array): Uint8Array {
  const length = (payload.length + 2).toString(16).padStart(4, "0");
  return joinBytes(fromHex(`1100 0042 ${length} ${protocol}`), payload);
}

const ERSPAN_II = fromHex("1064 0401 00000005");
const ERSPAN_III = fromHex("2064 0001 00000001 0000 0000");
const ERSPAN_III_PLATFORM = fromHex("2064 0001 00000001 0000 0001 0000000000000000");
const VXLAN = fromHex("08000000 00002a 00");

/** Each form once. */
export const TUNNEL_FRAMES: readonly TunnelFrame[] = [
  { name: "no encapsulation", bytes: behindEthernet(ETHER_TYPE.ipv4, INNER_IPV4), encapsulations: [] },
  { name: "802.1Q", bytes: tagged([10], ETHER_TYPE.ipv4, INNER_IPV4), encapsulations: [], vlanIds: [10] },
  { name: "QinQ", bytes: tagged([200, 10], ETHER_TYPE.ipv4, INNER_IPV4), encapsulations: [], vlanIds: [200, 10] },
  {
    name: "802.1ah", bytes: tagged([5], ETHER_TYPE.backboneService, fromHex("00 00abcd"), INNER_TAGGED), encapsulations: ["pbb"], network: 0xabcd,
    vlanIds: [77],
  },
  { name: "FabricPath", bytes: behindEthernet(ETHER_TYPE.fabricPath, fromHex("0460"), INNER_TAGGED), encapsulations: ["cfp"], vlanIds: [77] },
  {
    name: "VN-Tag", bytes: behindEthernet(ETHER_TYPE.vnTag, fromHex("00010002 8100 000c 0800"), INNER_IPV4), encapsulations: ["vn-tag"], vlanIds: [12],
  },
  { name: "E-Tag", bytes: behindEthernet(ETHER_TYPE.eTag, fromHex("000000010000 0800"), INNER_IPV4), encapsulations: ["e-tag"] },
  { name: "PPPoE", bytes: behindEthernet(ETHER_TYPE.pppoeSession, pppoe("0021", INNER_IPV4)), encapsulations: ["pppoe"] },
  { name: "PPPoE with IPv6", bytes: tagged([7], ETHER_TYPE.pppoeSession, pppoe("0057", INNER_IPV6)), encapsulations: ["pppoe"], vlanIds: [7] },
  { name: "MPLS with IPv4", bytes: behindEthernet(ETHER_TYPE.mpls, fromHex("000100ff 000111ff"), INNER_IPV4), encapsulations: ["mpls"] },
  { name: "MPLS with IPv6", bytes: behindEthernet(ETHER_TYPE.mpls, fromHex("000110ff 000111ff"), INNER_IPV6), encapsulations: ["mpls"] },
  {
    name: "MPLS with a control word and a frame", bytes: behindEthernet(ETHER_TYPE.mpls, fromHex("000100ff 000121ff 00000001"), INNER_FRAME),
    encapsulations: ["mpls"],
  },
  { name: "GRE", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("0000 0800"), INNER_IPV4), encapsulations: ["gre"] },
  {
    name: "GRE with checksum, key and sequence", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("b000 0800 0000 0000 0000002a 00000001"), INNER_IPV4),
    encapsulations: ["gre"],
  },
  { name: "GRE with a frame", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("2000 6558 00002a00"), INNER_TAGGED), encapsulations: ["gre"], vlanIds: [77] },
  { name: "GRE over IPv6", bytes: behindIpv6(IP_PROTOCOL.gre, fromHex("0000 86dd"), INNER_IPV6), encapsulations: ["gre"] },
  { name: "PPTP", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("3001 880b 005a 0001 00000001 ff03 0021"), INNER_IPV4), encapsulations: ["gre"] },
  { name: "ERSPAN I", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("0000 88be"), INNER_FRAME), encapsulations: ["erspan"] },
  {
    name: "ERSPAN II", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("1000 88be 00000009"), ERSPAN_II, INNER_FRAME), encapsulations: ["erspan"], vlanIds: [100],
  },
  {
    name: "ERSPAN III", bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("1000 22eb 00000009"), ERSPAN_III, INNER_TAGGED), encapsulations: ["erspan"],
    vlanIds: [77],
  },
  {
    name: "ERSPAN III with a platform's header",
    bytes: behindIpv4(IP_PROTOCOL.gre, fromHex("1000 22eb 00000009"), ERSPAN_III_PLATFORM, INNER_FRAME), encapsulations: ["erspan"], vlanIds: [100],
  },
  { name: "VXLAN", bytes: behindUdp(4789, VXLAN, INNER_FRAME), encapsulations: ["vxlan"], network: 42 },
  { name: "VXLAN with a group", bytes: behindUdp(4789, fromHex("88000007 00002b 00"), INNER_FRAME), encapsulations: ["vxlan"], network: 43 },
  { name: "VXLAN-GPE", bytes: behindUdp(4790, fromHex("0c000001 00002c 00"), INNER_IPV4), encapsulations: ["vxlan-gpe"], network: 44 },
  { name: "Geneve", bytes: behindUdp(6081, fromHex("0000 6558 00002d 00"), INNER_FRAME), encapsulations: ["geneve"], network: 45 },
  {
    name: "Geneve with options", bytes: behindUdp(6081, fromHex("0440 0800 00002e 00 0102 80 01 deadbeef 0103 01 01 00000000"), INNER_IPV4),
    encapsulations: ["geneve"], network: 46,
  },
  { name: "Teredo", bytes: behindUdp(3544, INNER_IPV6), encapsulations: ["teredo"] },
  { name: "6in4", bytes: behindIpv4(IP_PROTOCOL.ipv6, INNER_IPV6), encapsulations: ["6in4"] },
  { name: "4in6", bytes: behindIpv6(IP_PROTOCOL.ipv4, INNER_IPV4), encapsulations: ["4in6"] },
  { name: "6in6", bytes: behindIpv6(IP_PROTOCOL.ipv6, INNER_IPV6), encapsulations: ["6in6"] },
  { name: "IP in IP", bytes: behindIpv4(IP_PROTOCOL.ipv4, INNER_IPV4), encapsulations: ["ipip"] },
  {
    name: "a mirrored provider's frame with MPLS and PPPoE",
    bytes: behindIpv4(
      IP_PROTOCOL.gre, fromHex("1000 88be 0000000a"), ERSPAN_II,
      tagged([300, 20], ETHER_TYPE.mpls, fromHex("000131ff 00000000"), behindEthernet(ETHER_TYPE.pppoeSession, pppoe("0021", INNER_IPV4))),
    ),
    encapsulations: ["erspan", "mpls", "pppoe"],
  },
  {
    name: "VXLAN in GRE in IP in IP",
    bytes: behindIpv4(
      IP_PROTOCOL.ipv4,
      encodeIpv4({
        protocol: IP_PROTOCOL.gre, source: OUTER_B, destination: OUTER_A, payload: joinBytes(fromHex("0000 6558"), behindUdp(4789, VXLAN, INNER_TAGGED)),
      }),
    ),
    encapsulations: ["ipip", "gre", "vxlan"], network: 42, vlanIds: [77],
  },
];
