import ipaddr from "ipaddr.js";
import { addressKey } from "../../db/address-key.ts";

/** A network as its first and last address, in the spelling whose text order is the addresses' order. */
export interface AddressRange {
  /** In CIDR notation, no bits set behind the prefix. */
  readonly network: string;
  readonly first: string;
  readonly last: string;
  /** Bits behind the prefix. */
  readonly hostBits: number;
}

/** @returns Null for what is no address or network. An address is a network of one; an IPv4-mapped network the IPv4 one. */
export function parseNetwork(text: string): AddressRange | null {
  const [address = "", bits, ...rest] = text.trim().split("/");
  if (!ipaddr.isValid(address) || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return null;
  const parsed = ipaddr.parse(address);
  const isMapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress();
  const bytes = (isMapped ? parsed.toIPv4Address() : parsed).toByteArray();
  const all = bytes.length * 8;
  const length = bits === undefined ? all : Number(bits) - (isMapped ? 96 : 0);
  if (length < 0 || length > all) return null;
  const first = bytes.map((byte, index) => byte & maskOf(length, index));
  const last = bytes.map((byte, index) => byte | (~maskOf(length, index) & 0xff));
  return {
    network: `${format(first)}/${length}`, first: addressKey(format(first)), last: addressKey(format(last)), hostBits: all - length,
  };
}

/** Whether every address of `inner` is one of `outer`. */
export function covers(outer: AddressRange, inner: AddressRange): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}

/** The bits of byte `index` that belong to a prefix of `length` bits. */
function maskOf(length: number, index: number): number {
  return (0xff00 >> Math.min(Math.max(length - index * 8, 0), 8)) & 0xff;
}

function format(bytes: number[]): string {
  return ipaddr.fromByteArray(bytes).toString();
}
