import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { addressKey } from "./address-key.ts";

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
  // ipaddr.js would take short and octal forms too, which people read in two ways.
  if (isIP(address) === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return null;
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

/**
 * Every network that holds a network, itself first, as `parseNetwork` spells them: there are at most 129, so who looks for
 * the smallest that is known asks for these and walks over nothing.
 */
export function enclosing({ network }: Pick<AddressRange, "network">): readonly string[] {
  const [address = "", length = "0"] = network.split("/");
  return Array.from({ length: Number(length) + 1 }, (_, shorter) => parseNetwork(`${address}/${Number(length) - shorter}`)?.network ?? "");
}

/** The number of an address, of its own family. @param key As `addressKey` spells it. */
export function numberOf(key: string): bigint {
  return BigInt(`0x${key.slice(1)}`);
}

/** The other way round. @param like A key of the same family. */
export function keyOf(number: bigint, like: string): string {
  return `${like.slice(0, 1)}${number.toString(16).padStart(like.length - 1, "0")}`;
}

/** The address that a key stands for, IPv6 as RFC 5952 has it. */
export function addressOf(key: string): string {
  return format([...Buffer.from(key.slice(1), "hex")]);
}

/** The bits of byte `index` that belong to a prefix of `length` bits. */
function maskOf(length: number, index: number): number {
  return (0xff00 >> Math.min(Math.max(length - index * 8, 0), 8)) & 0xff;
}

function format(bytes: number[]): string {
  return ipaddr.fromByteArray(bytes).toString();
}
