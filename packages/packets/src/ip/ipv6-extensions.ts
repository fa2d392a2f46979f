import { badValue, type Malformed } from "../decoded.ts";
import { IP_PROTOCOL } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** RFC 8200 section 4, RFC 4302 and RFC 6275 section 6.1.1: the chain of headers between IPv6 and its transport layer. */

/** A real chain has one to three. More are an attempt to make a decoder walk. */
export const MAX_EXTENSION_HEADERS = 12;

/** Where one header of the chain lies. */
export interface ExtensionHeader {
  /** Its own protocol number, as the header before it announced. */
  readonly type: number;
  /** The whole header, its next-header byte first. */
  readonly bytes: Uint8Array;
}

/** True for headers that lead to another one. Encrypted payload (50) does not: nothing behind it can be read. */
export function isExtensionHeader(nextHeader: number): boolean {
  switch (nextHeader) {
    case IP_PROTOCOL.hopByHop:
    case IP_PROTOCOL.routing:
    case IP_PROTOCOL.fragment:
    case IP_PROTOCOL.authentication:
    case IP_PROTOCOL.destinationOptions:
    case IP_PROTOCOL.mobility:
    case IP_PROTOCOL.hostIdentity:
    case IP_PROTOCOL.shim6:
      return true;
    default:
      return false;
  }
}

/** How many bytes a header has by its second byte. RFC 4302 section 2.2 counts in four bytes, everyone else in eight. */
export function extensionLength(type: number, lengthByte: number): number {
  if (type === IP_PROTOCOL.fragment) return 8;
  return type === IP_PROTOCOL.authentication ? lengthByte * 4 + 8 : lengthByte * 8 + 8;
}

/** What a walk along the chain has learned. */
export interface ExtensionChain {
  ipProtocol: number;
  /** In bytes. */
  fragmentOffset: number;
  moreFragments: boolean;
}

/** Told the type, the start and the end of each header, in wire order. */
export type ExtensionVisitor = (type: number, start: number, end: number) => void;

/**
 * Walks from `chain.ipProtocol` to the first header that is no extension, and leaves `reader` behind the chain. It stops behind the
 * fragment header of a later fragment: what follows is the middle of something.
 */
export function walkExtensions(reader: Reader, chain: ExtensionChain, each?: ExtensionVisitor): Malformed | null {
  const first = reader.offset;
  let count = 0;
  while (isExtensionHeader(chain.ipProtocol)) {
    const start = reader.offset;
    const type = chain.ipProtocol;
    // A hop-by-hop header may only be the first. RFC 8200 section 4.1
    if (count === MAX_EXTENSION_HEADERS || (type === IP_PROTOCOL.hopByHop && start !== first)) return badValue("ipv6-extension", start);
    count += 1;
    const next = reader.u8();
    const length = extensionLength(type, reader.u8());
    if (type === IP_PROTOCOL.fragment) {
      const fragment = reader.u16();
      reader.skip(4);
      chain.fragmentOffset = fragment & 0xfff8;
      chain.moreFragments = (fragment & 1) !== 0;
    } else reader.skip(length - 2);
    if (reader.failed) return reader.malformed("ipv6-extension");
    each?.(type, start, reader.offset);
    chain.ipProtocol = next;
    if (chain.fragmentOffset > 0) break;
  }
  return null;
}

/**
 * Walks from an authentication header to what it protects, and leaves `reader` there: the only header of the chain that IPv4 has too.
 * @see RFC 4302 section 3.1
 */
export function walkAuthentication(reader: Reader, chain: Pick<ExtensionChain, "ipProtocol">): Malformed | null {
  for (let count = 0; chain.ipProtocol === IP_PROTOCOL.authentication; count += 1) {
    if (count === MAX_EXTENSION_HEADERS) return badValue("authentication", reader.offset);
    const next = reader.u8();
    reader.skip(extensionLength(IP_PROTOCOL.authentication, reader.u8()) - 2);
    if (reader.failed) return reader.malformed("authentication");
    chain.ipProtocol = next;
  }
  return null;
}
