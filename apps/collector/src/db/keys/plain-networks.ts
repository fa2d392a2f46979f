import ipaddr from "ipaddr.js";

/**
 * Each network once, in the one spelling that probes and scans compare: IPv6 as RFC 5952 has it, an IPv4-mapped address as
 * the IPv4 address, no bits behind the prefix, and a network of one address as the address.
 * @param texts As the contract's IpNetwork lets them through.
 */
export function plainNetworks(texts: readonly string[]): string[] {
  return [...new Set(texts.map(plain))];
}

function plain(text: string): string {
  const [address = "", bits] = text.trim().split("/");
  const parsed = ipaddr.parse(address);
  const all = parsed.kind() === "ipv4" ? 32 : 128;
  const length = bits === undefined ? all : Number(bits);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && length >= 96) return network(parsed.toIPv4Address(), length - 96);
  return network(parsed, length);
}

function network(address: ipaddr.IPv4 | ipaddr.IPv6, length: number): string {
  const all = address instanceof ipaddr.IPv4 ? 32 : 128;
  if (length === all) return address.toString();
  const bytes = address.toByteArray().map((byte, index) => byte & (0xff00 >> Math.min(Math.max(length - index * 8, 0), 8)) & 0xff);
  return `${ipaddr.fromByteArray(bytes).toString()}/${length}`;
}
