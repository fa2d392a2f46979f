/** Addresses in rules: IPv4 and IPv6, networks, ranges. */

import type { AddressSet } from "../address-set.ts";
import { createGroupReader } from "./groups.ts";
import type { Ranges } from "./ranges.ts";

/** IPv4 lies behind all of IPv6, so that one set holds both. */
const IPV4_BASE = 1n << 128n;
const IPV4_LAST = IPV4_BASE + 0xffff_ffffn;
const ALL: Ranges = [[0n, IPV4_LAST]];

/** A set, or the reason why there is none. */
export type AddressResult = { readonly ok: true; readonly set: AddressSet } | { readonly ok: false; readonly reason: string };

/** @returns A function that resolves addresses of headers; equal sets are one object. */
export function createAddressReader(variables: Readonly<Record<string, string>>): (text: string) => AddressResult {
  const read = createGroupReader({ all: ALL, readLeaf: readAddress, variables });
  const sets = new Map<string, AddressSet>();
  const known = new Map<string, AddressResult>();
  const resolve = (text: string): AddressResult => {
    const result = read(text);
    if (!result.ok) return result;
    const key = result.ranges.join(" ");
    const set = sets.get(key) ?? toSet(result.ranges);
    sets.set(key, set);
    return { ok: true, set };
  };
  return (text) => {
    const result = known.get(text) ?? resolve(text);
    known.set(text, result);
    return result;
  };
}

function toSet(ranges: Ranges): AddressSet {
  const ipv4: number[] = [];
  const ipv6: bigint[] = [];
  for (const [first, last] of ranges) {
    if (first < IPV4_BASE) ipv6.push(first, last < IPV4_BASE ? last : IPV4_BASE - 1n);
    if (last >= IPV4_BASE) ipv4.push(Number((first < IPV4_BASE ? IPV4_BASE : first) - IPV4_BASE), Number(last - IPV4_BASE));
  }
  const [only] = ranges;
  return { isAny: ranges.length === 1 && only?.[0] === 0n && only[1] === IPV4_LAST, ipv4, ipv6 };
}

function readAddress(text: string): Ranges | null {
  const dash = text.indexOf("-");
  if (dash > 0) {
    const first = readSingle(text.slice(0, dash).trim());
    const last = readSingle(text.slice(dash + 1).trim());
    return first === null || last === null || first > last || (first < IPV4_BASE) !== (last < IPV4_BASE) ? null : [[first, last]];
  }
  const slash = text.indexOf("/");
  const address = readSingle(slash < 0 ? text : text.slice(0, slash));
  if (address === null) return null;
  if (slash < 0) return [[address, address]];
  const bits = address >= IPV4_BASE ? 32 : 128;
  const prefix = readPrefix(text.slice(slash + 1), bits);
  if (prefix === null) return null;
  const size = 1n << BigInt(bits - prefix);
  const first = address - (address % size);
  return [[first, first + size - 1n]];
}

/** @returns Length of the prefix, also of a mask such as 255.255.0.0. */
function readPrefix(text: string, bits: number): number | null {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= bits ? Number(text) : null;
  const mask = bits === 32 ? readIpv4(text) : null;
  if (mask === null) return null;
  const inverse = 0xffff_ffffn - mask;
  return (inverse & (inverse + 1n)) === 0n ? 32 - inverse.toString(2).replace("0", "").length : null;
}

function readSingle(text: string): bigint | null {
  if (text.includes(":")) return readIpv6(text);
  const ipv4 = readIpv4(text);
  return ipv4 === null ? null : IPV4_BASE + ipv4;
}

function readIpv4(text: string): bigint | null {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return null;
  const parts = text.split(".").map(Number);
  return parts.some((part) => part > 255) ? null : parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function readIpv6(text: string): bigint | null {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const embedded = tail ? readIpv4(tail[2] ?? "") : null;
  if (tail && embedded === null) return null;
  const whole = embedded === null ? text : `${tail?.[1] ?? ""}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`;
  const halves = whole.split("::");
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - groups.reduce((sum, half) => sum + half.length, 0);
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return null;
  const words = [...(groups[0] ?? []), ...Array.from({ length: missing }, () => "0"), ...(groups[1] ?? [])];
  return words.every((word) => /^[0-9a-f]{1,4}$/i.test(word)) ? BigInt(`0x${words.map((word) => word.padStart(4, "0")).join("")}`) : null;
}
