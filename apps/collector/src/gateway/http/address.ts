import { BlockList, isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/** Says who a request's client is. */
export type ClientAddress = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/** @param entries Addresses and prefixes. @returns Whether an address is one of them or in one of them; what is no address is not. */
export function createAddressSet(entries: readonly string[]): (address: string) => boolean {
  if (entries.length === 0) return () => false;
  const set = new BlockList();
  const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    if (bits === undefined) set.addAddress(address, familyOf(address));
    else set.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => isIP(address) !== 0 && set.check(address, familyOf(address));
}

/**
 * The client is the nearest address that is no trusted proxy: of `X-Forwarded-For` only what trusted proxies have added
 * counts, read from the right; everything before it is the client's own word.
 * @param trustedProxies Addresses and prefixes.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = createAddressSet(trustedProxies);
  return (socketAddress, forwardedFor) => {
    let client = plainAddress(socketAddress ?? "");
    if (client === "") return "unknown";
    for (const hop of (forwardedFor ?? "").split(",").toReversed()) {
      if (!isTrusted(client)) break;
      const address = plainAddress(hop.trim());
      if (address === "") break;
      client = address;
    }
    return client;
  };
}

/** An address without its zone, and an IPv4-mapped one as the IPv4 address that it is; empty for what is no address. */
export function plainAddress(text: string): string {
  const address = text.split("%", 1)[0] ?? "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return isIP(mapped) === 0 ? "" : mapped;
}

/** Who shares a limit: an IPv4 address, or the /64 in which an IPv6 client may choose its address freely. */
export function limitGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  return ipaddr.IPv6.parse(address).toByteArray().slice(0, 8).map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
