import {
  encodeArp,
  encodeEthernet,
  encodeIcmpv4,
  encodeIcmpv6,
  encodeIpv4,
  encodeIpv6,
  encodeTcp,
  encodeUdp,
  ETHER_TYPE,
  IP_PROTOCOL,
  isMulticastIp,
  multicastMac,
  parseIp,
  parseMac,
  solicitedNodeAddress,
  TCP_FLAG,
  type VlanTag,
} from "@lanthorn/packets";

/** What the link of a small office carries, by how many of 100 frames. */
const MIX: readonly (readonly [share: number, make: (context: Context) => Uint8Array])[] = [
  [40, (context) => tcp(context, 4)],
  [18, (context) => tcp(context, 6)],
  [12, (context) => udp(context, { family: 4, length: context.random(1400), ports: [443, 50_000] })],
  [8, arp],
  [5, (context) => tcp(context, 4, [{ protocol: ETHER_TYPE.vlan, priority: 0, isDropEligible: false, vlanId: 20 }])],
  [5, neighborSolicitation],
  [4, (context) => multicastDns(context, 4)],
  [3, (context) => multicastDns(context, 6)],
  [3, dhcp],
  [2, ping],
];

interface Context {
  /** An integer in [0, limit). */
  readonly random: (limit: number) => number;
}

/** Encodes `count` frames of 60 to 1514 bytes, laid one behind another in one buffer as a capture's ring holds them. */
export function makeMixedFrames(count: number, random: (limit: number) => number): readonly Uint8Array[] {
  const made: Uint8Array[] = [];
  while (made.length < count) {
    let lot = random(100);
    const entry = MIX.find(([share]) => (lot -= share) < 0);
    if (entry) made.push(entry[1]({ random }));
  }
  const ring = new Uint8Array(made.reduce((sum, frame) => sum + frame.length, 0));
  let offset = 0;
  return made.map((frame) => {
    ring.set(frame, offset);
    offset += frame.length;
    return ring.subarray(offset - frame.length, offset);
  });
}

function mac(context: Context): Uint8Array {
  return Uint8Array.of(0x3c, 0x2a, 0xf4, 0, 0, context.random(250));
}

function destinationMac(context: Context, destination: Uint8Array): Uint8Array {
  if (isMulticastIp(destination)) return multicastMac(destination);
  return destination.every((byte) => byte === 255) ? bytesOf(parseMac("ff:ff:ff:ff:ff:ff")) : mac(context);
}

function address(context: Context, family: 4 | 6): Uint8Array {
  const host = 1 + context.random(250);
  return bytesOf(parseIp(family === 4 ? `192.168.20.${host}` : `2001:db8:20::${host.toString(16)}`));
}

interface PacketOptions {
  readonly family: 4 | 6;
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly protocol: number;
  readonly payload: Uint8Array;
  readonly tags?: readonly VlanTag[];
}

function packet(context: Context, options: PacketOptions): Uint8Array {
  const { family, source, destination, protocol, payload, tags = [] } = options;
  return encodeEthernet({
    destination: destinationMac(context, destination),
    source: mac(context),
    vlanTags: tags,
    etherType: family === 4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6,
    payload: family === 4 ? encodeIpv4({ source, destination, protocol, payload }) : encodeIpv6({ source, destination, protocol, payload }),
  });
}

/** Bare acknowledgements and full segments about equally often, as a transfer has them. */
function tcp(context: Context, family: 4 | 6, tags?: readonly VlanTag[]): Uint8Array {
  const [source, destination] = [address(context, family), address(context, family)];
  const length = context.random(2) === 0 ? 0 : context.random(family === 4 ? 1440 : 1420);
  const options = [{ kind: "no-operation" }, { kind: "no-operation" }, { kind: "timestamps", value: 7, echoReply: 9 }] as const;
  const destinationPort = 49_152 + context.random(999);
  const segment = { sourcePort: 443, destinationPort, flags: TCP_FLAG.ack, options, payload: new Uint8Array(length) };
  const payload = encodeTcp(segment, { source, destination });
  return packet(context, { family, source, destination, protocol: IP_PROTOCOL.tcp, payload, ...(tags ? { tags } : {}) });
}

interface UdpOptions {
  readonly family: 4 | 6;
  readonly length: number;
  readonly ports: readonly [source: number, destination: number];
  readonly to?: Uint8Array;
}

function udp(context: Context, options: UdpOptions): Uint8Array {
  const { family, ports } = options;
  const source = address(context, family);
  const destination = options.to ?? address(context, family);
  const datagram = { sourcePort: ports[0], destinationPort: ports[1], payload: new Uint8Array(options.length) };
  return packet(context, { family, source, destination, protocol: IP_PROTOCOL.udp, payload: encodeUdp(datagram, { source, destination }) });
}

function multicastDns(context: Context, family: 4 | 6): Uint8Array {
  const to = bytesOf(parseIp(family === 4 ? "224.0.0.251" : "ff02::fb"));
  return udp(context, { family, length: 40 + context.random(300), ports: [5353, 5353], to });
}

function dhcp(context: Context): Uint8Array {
  return udp(context, { family: 4, length: 300, ports: [68, 67], to: Uint8Array.of(255, 255, 255, 255) });
}

function ping(context: Context): Uint8Array {
  const payload = encodeIcmpv4({ kind: "echo-request", identifier: 1, sequenceNumber: context.random(1000), data: new Uint8Array(56) });
  const [source, destination] = [address(context, 4), address(context, 4)];
  return packet(context, { family: 4, source, destination, protocol: IP_PROTOCOL.icmpv4, payload });
}

function neighborSolicitation(context: Context): Uint8Array {
  const source = address(context, 6);
  const target = address(context, 6);
  const destination = solicitedNodeAddress(target);
  const options = [{ kind: "source-link-layer-address", address: mac(context) }] as const;
  const payload = encodeIcmpv6({ kind: "neighbor-solicitation", target, options }, { source, destination });
  return packet(context, { family: 6, source, destination, protocol: IP_PROTOCOL.icmpv6, payload });
}

function arp(context: Context): Uint8Array {
  const source = mac(context);
  return encodeEthernet({
    destination: bytesOf(parseMac("ff:ff:ff:ff:ff:ff")),
    source,
    etherType: ETHER_TYPE.arp,
    payload: encodeArp({
      operation: 1,
      senderHardwareAddress: source,
      senderProtocolAddress: address(context, 4),
      targetHardwareAddress: new Uint8Array(6),
      targetProtocolAddress: address(context, 4),
    }),
  });
}

function bytesOf(bytes: Uint8Array | null): Uint8Array {
  if (!bytes) throw new Error("an address literal of this file is not an address");
  return bytes;
}
