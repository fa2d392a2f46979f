import ipaddr from "ipaddr.js";
import { badRequest } from "../../gateway/route.ts";

/** Ranges of addresses that no single device has. */
const NOBODYS = new Set(["unspecified", "broadcast", "multicast"]);

/**
 * A device's address in the one spelling that is kept, which is RFC 5952's for IPv6.
 * @throws ApiError BAD_REQUEST for an address of nobody or of many.
 */
export function deviceIp(text: string): string {
  const address = ipaddr.process(text);
  if (NOBODYS.has(address.range())) throw badRequest([{ path: ["ip"], message: "an address of a single device" }]);
  return address.toString();
}

/** @throws ApiError BAD_REQUEST for a MAC of nobody or of many. */
export function deviceMac(mac: string): string {
  const isGroup = (Number.parseInt(mac.slice(0, 2), 16) & 0x01) !== 0;
  if (isGroup || mac === "00:00:00:00:00:00") throw badRequest([{ path: ["mac"], message: "a MAC of a single interface" }]);
  return mac;
}
