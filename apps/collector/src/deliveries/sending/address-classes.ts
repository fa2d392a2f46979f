import { BlockList, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Who may be reached at an address: anyone (`public`), a host of somebody's own network (`private`), or this machine, its
 * link, a cloud's metadata service or no single host at all (`guarded`).
 */
export type AddressClass = "public" | "private" | "guarded";

/** @see IANA IPv4 and IPv6 special-purpose address registries (RFC 6890) */
const GUARDED = prefixes([
  "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32",
  "::/127", "fe80::/10", "ff00::/8",
  // Metadata services that are at no link-local address: AWS and GCP over IPv6, Alibaba, Oracle, Azure.
  "fd00:ec2::/32", "fd20:ce::254/128", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
]);
const PRIVATE = prefixes([
  "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24", "240.0.0.0/4",
  // Inside 2000::/3, of which the rest is public: special assignments with Teredo and ORCHID, and documentation.
  "2001::/23", "2001:db8::/32", "3fff::/20",
]);
const GLOBAL_UNICAST = prefixes(["2000::/3"]);

/** Prefix → where in it the IPv4 address lies that packets end at. @see RFC 4291 2.5.5, RFC 6052 2.1, RFC 3056 section 2 */
const EMBEDDING: readonly { readonly prefix: BlockList; readonly at: number }[] = [
  { prefix: prefixes(["::ffff:0:0/96"]), at: 12 },
  { prefix: prefixes(["64:ff9b::/96"]), at: 12 },
  { prefix: prefixes(["2002::/16"]), at: 2 },
];

/** @param address As `plainAddress` writes it. */
export function classOf(address: string): AddressClass {
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  if (family === "ipv6") {
    for (const { prefix, at } of EMBEDDING) {
      if (prefix.check(address, "ipv6")) return classOf(ipaddr.IPv6.parse(address).toByteArray().slice(at, at + 4).join("."));
    }
  }
  if (GUARDED.check(address, family)) return "guarded";
  if (PRIVATE.check(address, family)) return "private";
  return family === "ipv4" || GLOBAL_UNICAST.check(address, "ipv6") ? "public" : "private";
}

/** An address in its one spelling: without a zone, an IPv4-mapped one as the IPv4 address that it is. Null for what is no address. */
export function plainAddress(text: string): string | null {
  const address = text.split("%", 1)[0] ?? "";
  if (isIPv4(address)) return address;
  if (!ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toRFC5952String();
}

/** A list that says whether an address lies in one of some prefixes. An address without a length is itself alone. */
export function prefixes(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits] = text.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    list.addSubnet(address, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family);
  }
  return list;
}
