/** Frames that hosts send, for tests only. */
import {
  BROADCAST_MAC,
  decodeDns,
  decodeFrame,
  DHCP_MESSAGE_TYPE,
  DHCP_OP,
  DHCP_OPTION,
  DNS_TYPE,
  encodeDhcp,
  encodeDns,
  encodeEthernet,
  encodeIcmpv6,
  encodeIpv4,
  encodeIpv6,
  encodeUdp,
  encodeUtf8,
  ETHER_TYPE,
  IP_PROTOCOL,
  multicastMac,
  NDP_HOP_LIMIT,
  parseIp,
  parseMac,
  reverseName,
} from "@lanthorn/packets";

const mac = (text: string) => parseMac(text) as Uint8Array;
const ip = (text: string) => parseIp(text) as Uint8Array;

/** A DHCP client that looks for a server, or asks for an address. */
export function dhcpFrame(type: "discover" | "request", client: string, hostName: string, wanted?: string): Uint8Array {
  const options = new Map<number, Uint8Array>([
    [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE[type])],
    [DHCP_OPTION.hostName, encodeUtf8(hostName)],
  ]);
  if (wanted) options.set(DHCP_OPTION.requestedIpAddress, ip(wanted));
  return udpFrame(
    "0.0.0.0",
    "255.255.255.255",
    [68, 67],
    encodeDhcp({ op: DHCP_OP.bootRequest, xid: 1, chaddr: mac(client), options }),
    client,
  );
}

/** A server's acknowledgement, as everyone sees it. */
export function dhcpAckFrame(server: string, client: string, address: string): Uint8Array {
  const options = new Map([[DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.ack)]]);
  const message = encodeDhcp({ op: DHCP_OP.bootReply, xid: 1, chaddr: mac(client), yiaddr: ip(address), options });
  return udpFrame("192.168.1.1", "255.255.255.255", [67, 68], message, server);
}

/** A host says what its address is called. */
export function mdnsFrame(from: string, address: string, name: string): Uint8Array {
  const answers = [{ name, type: DNS_TYPE.a, ttlSeconds: 120, data: { kind: "address", address: ip(address) } as const }];
  return udpFrame(address, "224.0.0.251", [5353, 5353], encodeDns({ isResponse: true, answers }), from);
}

/** A host answers who asked for the name of its address. */
export function mdnsReverseFrame(from: string, address: string, name: string): Uint8Array {
  const answers = [{ name: reverseName(address), type: DNS_TYPE.ptr, ttlSeconds: 120, data: { kind: "name", name } as const }];
  return udpFrame(address, "224.0.0.251", [5353, 5353], encodeDns({ isResponse: true, answers }), from);
}

/** The names of which addresses a frame asks for by Multicast DNS. */
export function mdnsQuestions(frame: Uint8Array): readonly string[] {
  const decoded = decodeFrame(frame);
  const message = decoded.ok && decoded.value.destinationPort === 5353 ? decodeDns(decoded.value.payload) : null;
  return message?.ok ? message.value.questions.map(({ name }) => name) : [];
}

/** A host that has an IPv6 address looks for routers. */
export function routerSolicitationFrame(from: string, address: string): Uint8Array {
  const ends = { source: ip(address), destination: ip("ff02::2") };
  const payload = encodeIpv6({
    ...ends,
    protocol: IP_PROTOCOL.icmpv6,
    hopLimit: NDP_HOP_LIMIT,
    payload: encodeIcmpv6({ kind: "router-solicitation", options: [] }, ends),
  });
  return encodeEthernet({ destination: multicastMac(ends.destination), source: mac(from), etherType: ETHER_TYPE.ipv6, payload });
}

/** A host answers who asked for its IPv6 address. */
export function neighborAdvertisementFrame(from: string, target: Uint8Array, to: string, destination: Uint8Array): Uint8Array {
  const ends = { source: target, destination };
  const options = [{ kind: "target-link-layer-address", address: mac(from) }] as const;
  const message = { kind: "neighbor-advertisement", isRouter: false, isSolicited: true, isOverride: true, target, options } as const;
  const payload = encodeIpv6({ ...ends, protocol: IP_PROTOCOL.icmpv6, hopLimit: NDP_HOP_LIMIT, payload: encodeIcmpv6(message, ends) });
  return encodeEthernet({ destination: mac(to), source: mac(from), etherType: ETHER_TYPE.ipv6, payload });
}

function udpFrame(
  source: string,
  destination: string,
  [sourcePort, destinationPort]: readonly [number, number],
  payload: Uint8Array,
  from: string,
): Uint8Array {
  const ends = { source: ip(source), destination: ip(destination) };
  const packet = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, payload: encodeUdp({ sourcePort, destinationPort, payload }, ends) });
  const to = (ends.destination[0] as number) >>> 4 === 14 ? multicastMac(ends.destination) : BROADCAST_MAC;
  return encodeEthernet({ destination: to, source: mac(from), etherType: ETHER_TYPE.ipv4, payload: packet });
}
