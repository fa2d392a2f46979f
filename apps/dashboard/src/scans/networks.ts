/** An address, or a network: the number of its first address, of 32 or 128 bits. */
export interface Network {
  readonly bits: 32 | 128;
  readonly first: bigint;
  /** Length of its prefix. */
  readonly length: number;
}

/** @returns A network as `10.0.0.0/24` or `fe80::/64`, or an address as a network of one; null for another text. */
export function parseNetwork(text: string): Network | null {
  const [address = "", prefix, more] = text.trim().split("/");
  const parsed = address.includes(":") ? parseIpv6(address) : parseIpv4(address);
  if (parsed === null || more !== undefined || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return null;
  const length = prefix === undefined ? parsed.bits : Number(prefix);
  if (length > parsed.bits) return null;
  const host = BigInt(parsed.bits - length);
  return { bits: parsed.bits, first: (parsed.value >> host) << host, length };
}

/** How many addresses a network has. */
export function addressesIn({ bits, length }: Network): bigint {
  return 1n << BigInt(bits - length);
}

/** Whether the whole of a network lies in another. */
export function isWithin(inner: Network, outer: Network): boolean {
  const host = BigInt(outer.bits - outer.length);
  return inner.bits === outer.bits && inner.length >= outer.length && inner.first >> host === outer.first >> host;
}

function parseIpv4(text: string): { readonly bits: 32; readonly value: bigint } | null {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return null;
  return { bits: 32, value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n) };
}

/** @see RFC 4291 section 2.2, but for addresses of IPv4 within. */
function parseIpv6(text: string): { readonly bits: 128; readonly value: bigint } | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [before = [], after = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...before, ...Array.from({ length: missing }, () => "0"), ...after];
  if (groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return null;
  return { bits: 128, value: groups.reduce((value, group) => (value << 16n) + BigInt(`0x${group}`), 0n) };
}
