import { type AddressPrefix, createPrefix, formatPrefix, ipv4Number, parseIp, parseMac, prefixHolds } from "@lanthorn/packets";
import type { InterfaceFacts } from "@lanthorn/packet-io";

/** What is needed of the kernel's facts about the interface that is watched. */
export type LinkFacts = Pick<InterfaceFacts, "mac" | "up"> & Partial<Pick<InterfaceFacts, "gateways">> & {
  readonly addresses: readonly Pick<InterfaceFacts["addresses"][number], "ip" | "prefixLength">[];
};

/** An own address and its subnet. */
export interface OwnAddress {
  readonly bytes: Uint8Array;
  readonly subnet: AddressPrefix;
}

/** The link as its own interface sees it: who we are, and which addresses are neighbors. */
export interface Link {
  /** Six bytes. */
  readonly mac: Uint8Array;
  readonly up: boolean;
  /** IPv4 and IPv6, in the kernel's order. */
  readonly own: readonly OwnAddress[];
  /** Changes with anything above. */
  readonly fingerprint: string;
}

/** fe80::/10 is on every link, whatever addresses the interface has. @see RFC 4291 section 2.5.6 */
export const LINK_LOCAL = createPrefix(Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 10);

/** The links that were made, by their facts: these are another object only after a change. */
const links = new WeakMap<LinkFacts, Link | null>();

/** @returns Null for an interface that is not there, or has no Ethernet address. The same link for the same object. */
export function createLink(facts: LinkFacts | null): Link | null {
  if (!facts) return null;
  let link = links.get(facts);
  if (link === undefined) {
    link = readLink(facts);
    links.set(facts, link);
  }
  return link;
}

function readLink(facts: LinkFacts): Link | null {
  const mac = parseMac(facts.mac);
  if (!mac) return null;
  const own = facts.addresses.flatMap(({ ip, prefixLength }) => {
    const bytes = parseIp(ip);
    return bytes && prefixLength <= bytes.length * 8 ? [{ bytes, subnet: createPrefix(bytes, prefixLength) }] : [];
  });
  const fingerprint = `${facts.mac} ${facts.up} ${facts.addresses.map(({ ip, prefixLength }) => `${ip}/${prefixLength}`).join(" ")}`;
  return { mac, up: facts.up, own, fingerprint };
}

/** The subnets of an interface in CIDR notation, each once. */
export function subnetsOf(facts: LinkFacts | null): readonly string[] {
  return [...new Set((createLink(facts)?.own ?? []).map(({ subnet }) => formatPrefix(subnet)))];
}

/**
 * Whether a neighbor could have this address: inside an own subnet or link-local, and neither ours nor the subnet's own or
 * broadcast address, which some devices answer for (royhills/arp-scan#197).
 * @param length 4 or 16.
 */
export function isNeighborAddress(link: Link, bytes: Uint8Array, offset: number, length: number): boolean {
  let inside = length === 16 && prefixHolds(LINK_LOCAL, bytes, offset, length);
  for (const { bytes: own, subnet } of link.own) {
    if (own.length !== length) continue;
    if (sameAddress(own, bytes, offset)) return false;
    if (!prefixHolds(subnet, bytes, offset, length)) continue;
    if (length === 4 && isReserved(subnet, ipv4Number(bytes, offset))) return false;
    inside = true;
  }
  return inside;
}

/** The own address in the subnet that holds `target`, or null. */
export function ownAddressFor(link: Link, target: Uint8Array): Uint8Array | null {
  const inSubnet = link.own.find(({ subnet }) => prefixHolds(subnet, target, 0, target.length));
  return inSubnet?.bytes ?? null;
}

/** A link-local IPv6 address of ours, or null. */
export function ownLinkLocal(link: Link): Uint8Array | null {
  return link.own.find(({ bytes }) => prefixHolds(LINK_LOCAL, bytes, 0, bytes.length))?.bytes ?? null;
}

/** The first of our IPv6 addresses in each of our subnets. */
export function ownIpv6Sources(link: Link): readonly Uint8Array[] {
  const own = link.own.filter(({ bytes }) => bytes.length === 16);
  return own.filter(({ bytes }, index) => !own.slice(0, index).some(({ subnet }) => prefixHolds(subnet, bytes, 0, 16)))
    .map(({ bytes }) => bytes);
}

/** The first and last address of a subnet; RFC 3021 gives both to hosts in a /31. */
function isReserved(subnet: AddressPrefix, address: number): boolean {
  if (subnet.length >= 31) return false;
  const first = ipv4Number(subnet.bytes);
  return address === first || address === first + 2 ** (32 - subnet.length) - 1;
}

function sameAddress(own: Uint8Array, bytes: Uint8Array, offset: number): boolean {
  for (let at = 0; at < own.length; at += 1) if (own[at] !== bytes[offset + at]) return false;
  return true;
}

/** A MAC that one host can have, and that is not ours. */
export function isForeignHost(link: Link, bytes: Uint8Array, offset: number): boolean {
  if (((bytes[offset] as number) & 1) !== 0 || sameMac(link.mac, bytes, offset)) return false;
  for (let at = offset; at < offset + 6; at += 1) if (bytes[at] !== 0) return true;
  return false;
}

/** Whether the six bytes at `offset` are this MAC. */
export function sameMac(mac: Uint8Array, bytes: Uint8Array, offset: number): boolean {
  for (let at = 5; at >= 0; at -= 1) if (mac[at] !== bytes[offset + at]) return false;
  return true;
}
