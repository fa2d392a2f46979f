/** A network as the numbers of its first and last address. IPv4 addresses lie at ::ffff:0:0/96. @see RFC 4291 section 2.5.5.2 */
export interface Network {
  readonly first: bigint;
  readonly last: bigint;
}

const MAPPED = 0xffff_0000_0000n;
const BITS = 128;
const IPV4_BITS = 32;

/** @returns The address as a number of 128 bits, null for what is none. */
export function parseAddress(text: string): bigint | null {
  if (text.length > 64) return null;
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** @param text An address, or a network as `10.0.0.0/8`. @returns Null for what is none. */
export function parseNetwork(text: string): Network | null {
  const [host = "", prefix, ...more] = text.split("/");
  const address = parseAddress(host);
  const size = host.includes(":") ? BITS : IPV4_BITS;
  if (address === null || more.length > 0 || (prefix !== undefined && (!/^\d{1,3}$/.test(prefix) || Number(prefix) > size))) return null;
  const free = BigInt(prefix === undefined ? 0 : size - Number(prefix));
  const first = (address >> free) << free;
  return { first, last: first + (1n << free) - 1n };
}

/** Whether an address of `parseAddress` is in it. */
export function isInNetwork(address: bigint, { first, last }: Network): boolean {
  return address >= first && address <= last;
}

function parseIpv4(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return null;
  return MAPPED + BigInt(parts.reduce((sum, part) => sum * 256 + Number(part), 0));
}

function parseIpv6(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const groups = halves.map(groupsOf);
  const [front, back] = groups;
  if (!front || back === null) return null;
  const known = front.length + (back?.length ?? 0);
  if (back ? known > 7 : known !== 8) return null;
  const all = [...front, ...Array.from({ length: 8 - known }, () => 0), ...(back ?? [])];
  return all.reduce((sum, group) => (sum << 16n) + BigInt(group), 0n);
}

/** @returns Groups of 16 bits; an IPv4 address at the end is two of them. Null for what are none. */
function groupsOf(text: string): readonly number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  for (const part of text.split(":")) {
    const ipv4 = part.includes(".") ? parseIpv4(part) : null;
    if (ipv4 !== null) groups.push(Number((ipv4 >> 16n) & 0xffffn), Number(ipv4 & 0xffffn));
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return null;
  }
  return groups;
}
