import { ARP_OPERATION, encodeArp, encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIpv4, parseMac, type VlanTag } from "@lanthorn/packets";

/** The card of a lab's host. */
export interface ForgeLink {
  readonly interfaceName: string;
  send(frames: readonly Uint8Array[]): Promise<unknown>;
  /** Calls `send` so often, with a pause behind each. */
  repeat(pace: { readonly everyMs: number; readonly times: number }, send: (index: number) => unknown): Promise<void>;
}

export const BROADCAST = mac("ff:ff:ff:ff:ff:ff");

/** @throws Error for no MAC. */
export function mac(text: string | undefined): Uint8Array {
  const bytes = parseMac(text ?? "");
  if (bytes === null) throw new Error(`"${text}" is no MAC`);
  return bytes;
}

/** @throws Error for no IPv4 address. */
export function ipv4(text: string | undefined): Uint8Array {
  const bytes = parseIpv4(text ?? "");
  if (bytes === null) throw new Error(`"${text}" is no IPv4 address`);
  return bytes;
}

/** A MAC of no maker, drawn for this frame. */
export function randomMac(random: () => number): Uint8Array {
  return Uint8Array.of(0x02, 0x66, ...Array.from({ length: 4 }, () => Math.floor(random() * 256)));
}

/** An ARP reply that nobody has asked for. */
export function arpClaim(claim: { readonly source: Uint8Array; readonly sender: Uint8Array; readonly ip: Uint8Array }): Uint8Array {
  const payload = encodeArp({
    operation: ARP_OPERATION.reply, senderHardwareAddress: claim.sender, senderProtocolAddress: claim.ip, targetHardwareAddress: BROADCAST,
    targetProtocolAddress: claim.ip,
  });
  return encodeEthernet({ destination: BROADCAST, source: claim.source, etherType: ETHER_TYPE.arp, payload });
}

/** One side of a datagram. */
export interface ForgeEnd {
  readonly mac: Uint8Array;
  readonly ip: Uint8Array;
  readonly port: number;
}

/** A UDP datagram over IPv4. */
export function udpFrame(
  from: ForgeEnd, to: ForgeEnd, payload: Uint8Array, options: { readonly vlanTags?: readonly VlanTag[]; readonly timeToLive?: number } = {},
): Uint8Array {
  const { vlanTags = [], timeToLive = 64 } = options;
  const ends = { source: from.ip, destination: to.ip };
  const udp = encodeUdp({ sourcePort: from.port, destinationPort: to.port, payload }, ends);
  const packet = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, timeToLive, payload: udp });
  return encodeEthernet({ destination: to.mac, source: from.mac, etherType: ETHER_TYPE.ipv4, vlanTags, payload: packet });
}
