/**
 * What the options of a DHCPv4 message say. Each function gives null where the option is missing or its length cannot be:
 * one broken option is no reason to lose the rest.
 */
import { DHCP_OPTION, type DhcpOptions } from "./dhcp-options.ts";
import { decodePartialName } from "../dns/dns-name.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8 } from "../text.ts";

/** @see RFC 2132 section 9.6, RFC 4388 section 6.1 */
export const DHCP_MESSAGE_TYPE = {
  discover: 1, offer: 2, request: 3, decline: 4, ack: 5, nak: 6, release: 7, inform: 8,
  forceRenew: 9, leaseQuery: 10, leaseUnassigned: 11, leaseUnknown: 12, leaseActive: 13,
} as const;

/** A number of `DHCP_MESSAGE_TYPE`, or one that is not known yet. @see RFC 2132 section 9.6 */
export function dhcpMessageType(options: DhcpOptions): number | null {
  const value = ofLength(options.get(DHCP_OPTION.dhcpMessageType), 1);
  return value?.[0] ?? null;
}

/** The name that the client gives itself, or the server gives it; hostile text comes through. @see RFC 2132 section 3.14 */
export function dhcpHostName(options: DhcpOptions): string | null {
  return text(options.get(DHCP_OPTION.hostName));
}

/** @see RFC 2132 section 3.17 */
export function dhcpDomainName(options: DhcpOptions): string | null {
  return text(options.get(DHCP_OPTION.domainName));
}

/** What kind of client or firmware asks: `MSFT 5.0`, `android-dhcp-14`, `PXEClient:…`. @see RFC 2132 section 9.13 */
export function dhcpVendorClass(options: DhcpOptions): string | null {
  return text(options.get(DHCP_OPTION.vendorClassIdentifier));
}

/** Option codes in the client's order, which tells operating systems apart. @see RFC 2132 section 9.8 */
export function dhcpParameterList(options: DhcpOptions): readonly number[] | null {
  const value = options.get(DHCP_OPTION.parameterRequestList);
  return value ? Array.from(value) : null;
}

/** Four bytes. @see RFC 2132 section 9.1 */
export function dhcpRequestedAddress(options: DhcpOptions): Uint8Array | null {
  return ofLength(options.get(DHCP_OPTION.requestedIpAddress), 4);
}

/** Four bytes: the address of the server that answers or is meant. @see RFC 2132 section 9.7 */
export function dhcpServerIdentifier(options: DhcpOptions): Uint8Array | null {
  return ofLength(options.get(DHCP_OPTION.serverIdentifier), 4);
}

/** 4,294,967,295 means for ever. @see RFC 2132 section 9.2 */
export function dhcpLeaseSeconds(options: DhcpOptions): number | null {
  const value = ofLength(options.get(DHCP_OPTION.ipAddressLeaseTime), 4);
  return value && new Reader(value).u32();
}

/** Addresses of four bytes, the preferred first. @see RFC 2132 section 3.5 */
export function dhcpRouters(options: DhcpOptions): readonly Uint8Array[] | null {
  return addresses(options.get(DHCP_OPTION.router));
}

/** Addresses of four bytes, the preferred first. @see RFC 2132 section 3.8 */
export function dhcpNameServers(options: DhcpOptions): readonly Uint8Array[] | null {
  return addresses(options.get(DHCP_OPTION.domainNameServer));
}

/** By what a server knows a client, whatever its hardware address. */
export interface DhcpClientIdentifier {
  /** A hardware type such as 1 for Ethernet, 0 for any other text, 255 where a DUID follows. */
  readonly type: number;
  /** What follows the type. */
  readonly identifier: Uint8Array;
  /** The DUID, the same on all interfaces of a host, or null where the type is another. */
  readonly duid: Uint8Array | null;
}

/** @see RFC 2132 section 9.14, RFC 4361 section 6.1 */
export function dhcpClientIdentifier(options: DhcpOptions): DhcpClientIdentifier | null {
  const value = options.get(DHCP_OPTION.clientIdentifier);
  if (!value || value.length < 2) return null;
  const reader = new Reader(value);
  const type = reader.u8();
  // Four bytes that name the interface, then a DUID of a type and at least one byte more.
  const duid = type === 255 && value.length >= 8 ? value.subarray(5) : null;
  return { type, identifier: reader.rest(), duid };
}

/** The whole name of the client, and who is to register it. */
export interface DhcpClientFqdn {
  readonly flags: number;
  /** With dots, and without one at the end; partly or wholly qualified, or empty. */
  readonly name: string;
}

/** In the flags of option 81: the name is in DNS wire format instead of text. */
const CANONICAL_ENCODING = 0x04;

/** @see RFC 4702 section 2 */
export function dhcpClientFqdn(options: DhcpOptions): DhcpClientFqdn | null {
  const value = options.get(DHCP_OPTION.clientFqdn);
  if (!value || value.length < 3) return null;
  const reader = new Reader(value);
  const flags = reader.u8();
  reader.skip(2);
  if ((flags & CANONICAL_ENCODING) === 0) return { flags, name: (text(reader.rest()) ?? "").replace(/\.$/, "") };
  const name = decodePartialName(reader.rest());
  return name === null ? null : { flags, name };
}

/** Suboption values by code, as the relay put them: 1 is the circuit, 2 the remote host. */
export type DhcpRelayAgentInformation = ReadonlyMap<number, Uint8Array>;

/** @see RFC 3046 section 2.0 */
export function dhcpRelayAgent(options: DhcpOptions): DhcpRelayAgentInformation | null {
  const value = options.get(DHCP_OPTION.relayAgentInformation);
  if (!value) return null;
  const reader = new Reader(value);
  const suboptions = new Map<number, Uint8Array>();
  while (reader.remaining > 0) {
    const code = reader.u8();
    const content = reader.take(reader.u8());
    if (reader.failed) return null;
    suboptions.set(code, content);
  }
  return suboptions;
}

/** Some clients end their text with zeros, which receivers are to cut. RFC 2132 section 2. */
function text(value: Uint8Array | undefined): string | null {
  if (!value) return null;
  let end = value.length;
  while (end > 0 && value[end - 1] === 0) end -= 1;
  return end === 0 ? null : decodeUtf8(value.subarray(0, end));
}

function ofLength(value: Uint8Array | undefined, length: number): Uint8Array | null {
  return value?.length === length ? value : null;
}

function addresses(value: Uint8Array | undefined): readonly Uint8Array[] | null {
  if (!value || value.length === 0 || value.length % 4 !== 0) return null;
  const found: Uint8Array[] = [];
  for (let at = 0; at < value.length; at += 4) found.push(value.subarray(at, at + 4));
  return found;
}
