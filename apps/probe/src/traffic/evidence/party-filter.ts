import { parseIp, parseMac } from "@lanthorn/packets";
import type { Party } from "../messages.ts";
import type { AddressView } from "./inner-frames.ts";

/** Whether a frame, or a packet inside of one, is about somebody. What is inside of it is not looked at: see `packetsInside`. */
export type PartyFilter = (frame: AddressView) => boolean;

const DESTINATION_MAC = 0;
const SOURCE_MAC = 6;
/** Offsets in the network layer. @see RFC 791, RFC 8200, RFC 826 */
const IPV4_SOURCE = 12;
const IPV4_DESTINATION = 16;
const IPV6_SOURCE = 8;
const IPV6_DESTINATION = 24;
const ARP_SENDER_MAC = 8;
const ARP_SENDER_IP = 14;
const ARP_TARGET_IP = 24;

/** The addresses of somebody as numbers, so that comparing makes nothing. */
interface Addresses {
  readonly macs: readonly (readonly [high: number, low: number])[];
  readonly ipv4: readonly number[];
  readonly ipv6: readonly (readonly [number, number, number, number])[];
}

/**
 * Frames between two, or of one with anybody where the other is not known. Somebody is known by a MAC or by an address: either is enough. An
 * ARP packet is of whom its sender fields name, and to whom it asks for.
 * @returns A filter that lets nothing through where the device has no address that can be read.
 */
export function createPartyFilter(device: Party, peer: Party | null): PartyFilter {
  const one = readParty(device);
  const other = peer && readParty(peer);
  if (other === null || isEmpty(other)) return (frame) => isSource(frame, one) || isDestination(frame, one);
  return (frame) => (isSource(frame, one) && isDestination(frame, other)) || (isSource(frame, other) && isDestination(frame, one));
}

/** Looks at a frame's addresses in a table of bits, so that most frames are not held against any filter. */
export interface PartyTable {
  add(party: Party): void;
  /** @returns False where the frame, or the packet inside of one, is of nobody, and to nobody, who was added. */
  mayHave(frame: AddressView): boolean;
}

/** One that has nobody. */
export function createPartyTable(): PartyTable {
  const table = new Uint8Array(TABLE_BITS);
  const has = (word: number) => table[placeOf(word)] === 1;
  return {
    add(party) {
      const { macs, ipv4, ipv6 } = readParty(party);
      for (const [high, low] of macs) table[placeOf(((high & 0xffff) << 16) | low)] = 1;
      for (const word of ipv4) table[placeOf(word)] = 1;
      for (const words of ipv6) table[placeOf(words[3])] = 1;
    },
    mayHave({ bytes, offset, length, kind, networkAt }) {
      if (length >= 12 && (has(bytes.readInt32BE(offset + DESTINATION_MAC + 2)) || has(bytes.readInt32BE(offset + SOURCE_MAC + 2)))) return true;
      if (kind === "ipv4") return has(bytes.readInt32BE(networkAt + IPV4_SOURCE)) || has(bytes.readInt32BE(networkAt + IPV4_DESTINATION));
      if (kind === "ipv6") return has(bytes.readInt32BE(networkAt + IPV6_SOURCE + 12)) || has(bytes.readInt32BE(networkAt + IPV6_DESTINATION + 12));
      return kind === "arp" && (has(bytes.readInt32BE(networkAt + ARP_SENDER_IP)) || has(bytes.readInt32BE(networkAt + ARP_TARGET_IP))
        || has(bytes.readInt32BE(networkAt + ARP_SENDER_MAC + 2)));
    },
  };
}

const TABLE_BITS = 1 << 16;
const placeOf = (word: number) => Math.imul(word, 0x9e37_79b1) >>> 16;

function readParty({ macs, ips }: Party): Addresses {
  const words = (bytes: Uint8Array) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return (at: number) => view.getUint32(at);
  };
  const addresses = ips.flatMap((text) => parseIp(text) ?? []);
  return {
    macs: macs.flatMap((text) => {
      const bytes = parseMac(text);
      return bytes ? [[words(bytes)(0), ((bytes[4] as number) << 8) | (bytes[5] as number)] as const] : [];
    }),
    ipv4: addresses.filter(({ length }) => length === 4).map((bytes) => words(bytes)(0)),
    ipv6: addresses.filter(({ length }) => length === 16).map((bytes) => [words(bytes)(0), words(bytes)(4), words(bytes)(8), words(bytes)(12)] as const),
  };
}

function isEmpty({ macs, ipv4, ipv6 }: Addresses): boolean {
  return macs.length + ipv4.length + ipv6.length === 0;
}

function isSource(frame: AddressView, who: Addresses): boolean {
  if (hasMac(frame, frame.offset + SOURCE_MAC, who)) return true;
  const { kind, networkAt } = frame;
  if (kind === "ipv4") return hasIpv4(frame, networkAt + IPV4_SOURCE, who);
  if (kind === "ipv6") return hasIpv6(frame, networkAt + IPV6_SOURCE, who);
  return kind === "arp" && (hasIpv4(frame, networkAt + ARP_SENDER_IP, who) || hasMac(frame, networkAt + ARP_SENDER_MAC, who));
}

function isDestination(frame: AddressView, who: Addresses): boolean {
  if (hasMac(frame, frame.offset + DESTINATION_MAC, who)) return true;
  const { kind, networkAt } = frame;
  if (kind === "ipv4") return hasIpv4(frame, networkAt + IPV4_DESTINATION, who);
  if (kind === "ipv6") return hasIpv6(frame, networkAt + IPV6_DESTINATION, who);
  return kind === "arp" && hasIpv4(frame, networkAt + ARP_TARGET_IP, who);
}

function hasMac({ bytes, offset, length }: AddressView, at: number, { macs }: Addresses): boolean {
  if (macs.length === 0 || at + 6 > offset + length) return false;
  const high = bytes.readUInt32BE(at);
  for (const mac of macs) if (mac[0] === high && mac[1] === bytes.readUInt16BE(at + 4)) return true;
  return false;
}

function hasIpv4({ bytes }: AddressView, at: number, { ipv4 }: Addresses): boolean {
  return ipv4.length > 0 && ipv4.includes(bytes.readUInt32BE(at));
}

function hasIpv6({ bytes }: AddressView, at: number, { ipv6 }: Addresses): boolean {
  for (const address of ipv6) {
    if (address[0] === bytes.readUInt32BE(at) && address[1] === bytes.readUInt32BE(at + 4) && address[2] === bytes.readUInt32BE(at + 8)
      && address[3] === bytes.readUInt32BE(at + 12)) return true;
  }
  return false;
}
