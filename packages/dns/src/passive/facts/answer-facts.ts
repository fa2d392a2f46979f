/** What answers hold. */
import { type DnsMessage, DNS_TYPE, dnsEdns, formatIp } from "@lanthorn/packets";

/** @see https://www.iana.org/assignments/dns-parameters */
const TYPE = { null: 10, key: 25, srv: 33, spf: 99 } as const;
/** For private use. RFC 6895 section 3.1. */
const PRIVATE_TYPES = { first: 65_280, last: 65_534 } as const;

/** Types whose data can be anything, or nearly so: what tunnels carry data in. */
const CARRIERS: ReadonlySet<number> = new Set([DNS_TYPE.txt, DNS_TYPE.cname, DNS_TYPE.mx, TYPE.null, TYPE.key, TYPE.srv, TYPE.spf]);

/** @returns Whether a question of this type asks for data rather than for an address. */
export function isCarrier(type: number): boolean {
  return CARRIERS.has(type) || (type >= PRIVATE_TYPES.first && type <= PRIVATE_TYPES.last);
}

/** RFC 8914 section 4.16 to 4.18: blocked, censored, filtered. */
const BLOCKED_ERRORS: ReadonlySet<number> = new Set([15, 16, 17]);
/** RFC 8914 section 2. */
const EXTENDED_ERROR = 15;

/** @returns Whether the resolver says itself that it has refused the name. */
export function isBlocked(message: DnsMessage): boolean {
  if (message.additionals.length === 0) return false;
  return dnsEdns(message)?.options.some(({ code, value }) => code === EXTENDED_ERROR && BLOCKED_ERRORS.has(((value[0] ?? 0) << 8) | (value[1] ?? 0))) ?? false;
}

/** An address of an answer. */
export interface AnsweredAddress {
  readonly bytes: Uint8Array;
  readonly ttlSeconds: number;
}

/** Of one answer; more say nothing more. */
const MAX_ADDRESSES = 32;

/** @returns The addresses of A and AAAA records among the answers, as views. */
export function addressesOf({ answers }: DnsMessage): readonly AnsweredAddress[] {
  const found: AnsweredAddress[] = [];
  for (const { data, ttlSeconds } of answers) if (data.kind === "address" && found.length < MAX_ADDRESSES) found.push({ bytes: data.address, ttlSeconds });
  return found;
}

/** The addresses as one text, in order. */
export function addressText(message: DnsMessage): string {
  return addressesOf(message).map(({ bytes }) => formatIp(bytes)).toSorted().join(" ");
}

/** Bytes of data in answers that are no addresses, as it was decoded. */
export function carriedBytes({ answers }: DnsMessage): number {
  let bytes = 0;
  for (const { data } of answers) {
    if (data.kind === "bytes") bytes += data.bytes.length;
    else if (data.kind === "txt") for (const text of data.strings) bytes += text.length;
    else if (data.kind === "name") bytes += data.name.length;
    else if (data.kind === "mx") bytes += data.exchange.length;
    else if (data.kind === "srv") bytes += data.target.length;
  }
  return bytes;
}

/** Where an address belongs. */
export type AddressScope = "loopback" | "private" | "public" | "unspecified";

/** @param bytes Four or sixteen. @see RFC 6890 */
export function scopeOf(bytes: Uint8Array): AddressScope {
  if (bytes.length !== 4) return scopeOf6(bytes);
  const [first = 0, second = 0] = bytes;
  if (first === 0) return "unspecified";
  if (first === 127) return "loopback";
  const isPrivate = first === 10 || (first === 172 && (second & 0xf0) === 16) || (first === 192 && second === 168) || (first === 169 && second === 254);
  return isPrivate ? "private" : "public";
}

function scopeOf6(bytes: Uint8Array): AddressScope {
  const [first = 0, second = 0] = bytes;
  if ((first & 0xfe) === 0xfc || (first === 0xfe && (second & 0xc0) === 0x80)) return "private";
  const isZero = bytes.subarray(0, 15).every((byte) => byte === 0);
  if (isZero) return bytes[15] === 1 ? "loopback" : "unspecified";
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? scopeOf(bytes.subarray(12)) : "public";
}
