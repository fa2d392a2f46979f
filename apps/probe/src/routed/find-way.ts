import { formatIp, parseIp, parseMac } from "@lanthorn/packets";
import type { Way } from "./find-gateway.ts";

/** How the way to an address behind a router is learned. Addresses are texts. */
export interface WayDeps {
  /** The kernel's way to an address beyond the link; null where it knows none. @throws What reading it does. */
  readonly routeTo: (address: string) => Promise<{ readonly gateway: string | null; readonly source: string } | null>;
  /** Empty where none was seen. */
  readonly macAt: (address: string) => string;
}

/** The kernel's way to an address behind a router. @throws Where it knows none, or the address is on the link. */
export async function findWay(first: Uint8Array, deps: WayDeps): Promise<Way> {
  const address = formatIp(first);
  const route = await deps.routeTo(address);
  const [gateway, source] = [parseIp(route?.gateway ?? ""), parseIp(route?.source ?? "")];
  if (!gateway || source?.length !== first.length) throw new Error(`there is no route to ${address} through this interface`);
  return { gateway, source, gatewayMac: parseMac(deps.macAt(formatIp(gateway))) };
}
