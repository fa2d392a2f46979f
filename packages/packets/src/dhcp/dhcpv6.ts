import { IPV6_LENGTH } from "../addresses.ts";
import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { requireLength, requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 8415: Dynamic Host Configuration Protocol for IPv6. */

/** UDP ports: servers and relays listen on 547. @see RFC 8415 section 7.2 */
export const DHCPV6_PORT = { client: 546, server: 547 } as const;

/** @see RFC 8415 section 7.3 */
export const DHCPV6_TYPE = {
  solicit: 1, advertise: 2, request: 3, confirm: 4, renew: 5, rebind: 6, reply: 7, release: 8, decline: 9, reconfigure: 10,
  informationRequest: 11, relayForward: 12, relayReply: 13,
} as const;

/** @see https://www.iana.org/assignments/dhcpv6-parameters */
export const DHCPV6_OPTION = {
  clientId: 1, serverId: 2, iaNa: 3, iaTa: 4, iaAddress: 5, optionRequest: 6, preference: 7, elapsedTime: 8, relayMessage: 9,
  statusCode: 13, rapidCommit: 14, interfaceId: 18, dnsServers: 23, domainList: 24, iaPd: 25, iaPrefix: 26, bootfileUrl: 59,
} as const;

/** All servers and relays of the link, ff02::1:2. @see RFC 8415 section 7.1 */
export const DHCPV6_SERVERS_GROUP: Readonly<Uint8Array> = Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2);

/** One option. `data` is a view. */
export interface Dhcpv6Option {
  readonly code: number;
  readonly data: Uint8Array;
}

/** Between a client and a server, or around one such message between relays. Options are in wire order. */
export type Dhcpv6Message = Dhcpv6Exchange | Dhcpv6Relay;

/** @see RFC 8415 section 8 */
export interface Dhcpv6Exchange {
  readonly kind: "exchange";
  /** A number of `DHCPV6_TYPE`, or one that is not known yet. */
  readonly type: number;
  /** 24 bits. */
  readonly transactionId: number;
  readonly options: readonly Dhcpv6Option[];
}

/** @see RFC 8415 section 9 */
export interface Dhcpv6Relay {
  readonly kind: "relay";
  readonly type: typeof DHCPV6_TYPE.relayForward | typeof DHCPV6_TYPE.relayReply;
  readonly hopCount: number;
  /** Sixteen bytes: the link of the client; zero where the relay names it otherwise. */
  readonly linkAddress: Uint8Array;
  /** Sixteen bytes: the client, or the relay that the message came from. */
  readonly peerAddress: Uint8Array;
  readonly options: readonly Dhcpv6Option[];
}

/** A message is passed on by so many relays at most. @see RFC 8415 section 7.6, HOP_COUNT_LIMIT */
const MAX_RELAYS = 8;
const LAYER = "dhcpv6";

/** @param bytes The payload of a datagram from or to port 546 or 547. @returns Views of `bytes`. */
export function decodeDhcpv6(bytes: Uint8Array): Decoded<Dhcpv6Message> {
  const reader = new Reader(bytes);
  const type = reader.u8();
  if (type === DHCPV6_TYPE.relayForward || type === DHCPV6_TYPE.relayReply) {
    const hopCount = reader.u8();
    const linkAddress = reader.take(IPV6_LENGTH);
    const peerAddress = reader.take(IPV6_LENGTH);
    const options = readOptions(reader);
    return "ok" in options ? options : decoded({ kind: "relay", type, hopCount, linkAddress, peerAddress, options });
  }
  const transactionId = reader.u24();
  const options = readOptions(reader);
  if ("ok" in options) return options;
  return type === 0 ? badValue(LAYER, 0) : decoded({ kind: "exchange", type, transactionId, options });
}

function readOptions(reader: Reader): readonly Dhcpv6Option[] | Malformed {
  const options: Dhcpv6Option[] = [];
  while (!reader.failed && reader.remaining > 0) {
    const code = reader.u16();
    const data = reader.take(reader.u16());
    if (!reader.failed) options.push({ code, data });
  }
  return reader.failed ? reader.malformed(LAYER) : options;
}

/** What a client and a server say to each other, and through which relay. */
export interface Dhcpv6Inner {
  readonly message: Dhcpv6Exchange;
  /** The relay next to the client; null where none passed it on. */
  readonly relay: Dhcpv6Relay | null;
}

/**
 * Opens what relays have put around a message.
 * @returns Null for a message within more than eight relays, without a message, or with a broken one.
 * @see RFC 8415 section 19
 */
export function dhcpv6Inner(outer: Dhcpv6Message): Dhcpv6Inner | null {
  let message = outer;
  let relay: Dhcpv6Relay | null = null;
  for (let depth = 0; message.kind === "relay"; depth += 1) {
    const data = dhcpv6Option(message.options, DHCPV6_OPTION.relayMessage);
    const inner = data && depth < MAX_RELAYS ? decodeDhcpv6(data) : null;
    if (!inner?.ok) return null;
    relay = message;
    message = inner.value;
  }
  return { message, relay };
}

/** The first option of a code, or null. */
export function dhcpv6Option(options: readonly Dhcpv6Option[], code: number): Uint8Array | null {
  for (const option of options) if (option.code === code) return option.data;
  return null;
}

/** The DUID by which a server is known whatever its address. @see RFC 8415 sections 11 and 21.3 */
export function dhcpv6ServerId(options: readonly Dhcpv6Option[]): Uint8Array | null {
  return duid(dhcpv6Option(options, DHCPV6_OPTION.serverId));
}

/** @see RFC 8415 sections 11 and 21.2 */
export function dhcpv6ClientId(options: readonly Dhcpv6Option[]): Uint8Array | null {
  return duid(dhcpv6Option(options, DHCPV6_OPTION.clientId));
}

/** A type and up to 128 bytes. */
function duid(data: Uint8Array | null): Uint8Array | null {
  return data && data.length >= 3 && data.length <= 130 ? data : null;
}

/** Addresses of sixteen bytes, the preferred first; null where the option is missing or broken. @see RFC 3646 section 3 */
export function dhcpv6DnsServers(options: readonly Dhcpv6Option[]): readonly Uint8Array[] | null {
  const data = dhcpv6Option(options, DHCPV6_OPTION.dnsServers);
  if (!data || data.length === 0 || data.length % IPV6_LENGTH !== 0) return null;
  return Array.from({ length: data.length / IPV6_LENGTH }, (_, at) => data.subarray(at * IPV6_LENGTH, (at + 1) * IPV6_LENGTH));
}

/** What a server leases: an address (128 bits) or a prefix. */
export interface Dhcpv6Lease {
  /** Sixteen bytes. */
  readonly address: Uint8Array;
  readonly prefixLength: number;
  readonly preferredSeconds: number;
  /** 4294967295 is for ever. */
  readonly validSeconds: number;
}

/** Bytes before the options of an identity association: IAID, T1 and T2; only IAID in one of temporary addresses. */
const IA_HEADS: ReadonlyMap<number, number> = new Map([[DHCPV6_OPTION.iaNa, 12], [DHCPV6_OPTION.iaPd, 12], [DHCPV6_OPTION.iaTa, 4]]);

/** The leases of all identity associations, in their order; broken ones are left out. @see RFC 8415 sections 21.4 to 21.6, 21.21, 21.22 */
export function dhcpv6Leases(options: readonly Dhcpv6Option[]): readonly Dhcpv6Lease[] {
  return options.flatMap(({ code, data }) => {
    const head = IA_HEADS.get(code);
    const inner = head === undefined || data.length < head ? [] : readOptions(new Reader(data, head));
    return "ok" in inner ? [] : inner.flatMap(readLease);
  });
}

function readLease({ code, data }: Dhcpv6Option): readonly Dhcpv6Lease[] {
  const reader = new Reader(data);
  if (code === DHCPV6_OPTION.iaAddress) {
    const address = reader.take(IPV6_LENGTH);
    const lease = { address, prefixLength: 128, preferredSeconds: reader.u32(), validSeconds: reader.u32() };
    return reader.failed ? [] : [lease];
  }
  if (code !== DHCPV6_OPTION.iaPrefix) return [];
  const [preferredSeconds, validSeconds, prefixLength] = [reader.u32(), reader.u32(), reader.u8()];
  const address = reader.take(IPV6_LENGTH);
  return reader.failed || prefixLength > 128 ? [] : [{ address, prefixLength, preferredSeconds, validSeconds }];
}

/** @throws PacketsError for a field that has no encoding. */
export function encodeDhcpv6(message: Dhcpv6Message): Uint8Array {
  const writer = new Writer(128);
  requireRange("dhcpv6.type", message.type, 1, 0xff);
  writer.u8(message.type);
  if (message.kind === "relay") {
    requireRange("dhcpv6.hopCount", message.hopCount, 0, 0xff);
    requireLength("dhcpv6.linkAddress", message.linkAddress, IPV6_LENGTH);
    requireLength("dhcpv6.peerAddress", message.peerAddress, IPV6_LENGTH);
    writer.u8(message.hopCount).put(message.linkAddress).put(message.peerAddress);
  } else {
    requireRange("dhcpv6.transactionId", message.transactionId, 0, 0xff_ffff);
    writer.u24(message.transactionId);
  }
  for (const { code, data } of message.options) {
    requireRange("dhcpv6.options.code", code, 0, 0xffff);
    requireRange("dhcpv6.options.data.length", data.length, 0, 0xffff);
    writer.u16(code).u16(data.length).put(data);
  }
  return writer.finish();
}
