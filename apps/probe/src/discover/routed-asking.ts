import { formatIp, parseIp, parseMac } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { Way } from "../scan/find-gateway.ts";
import { bytesOf } from "../scan/routed-addresses.ts";
import { lookBehindRouter, type RoutedLook } from "../scan/routed-look.ts";
import type { Policy } from "./policy.ts";
import type { RoutedRequest } from "./routed-watch.ts";
import type { ScanWorkDeps } from "./scan-work.ts";

/** The kernel's way to an address behind a router. @throws Where it knows none, or the address is on the link. */
export async function findWay(first: Uint8Array, deps: Pick<ScanWorkDeps, "routeTo" | "macAt">): Promise<Way> {
  const address = formatIp(first);
  const route = await deps.routeTo(address);
  const [gateway, source] = [parseIp(route?.gateway ?? ""), parseIp(route?.source ?? "")];
  if (!gateway || source?.length !== first.length) throw new Error(`there is no way to ${address} through this interface`);
  return { gateway, source, gatewayMac: parseMac(deps.macAt(formatIp(gateway))) };
}

/** @returns What looks behind routers on the link of the moment; it throws while there is none. */
export function createRoutedLook(deps: Pick<ScanWorkDeps, "link" | "openScanLink" | "routeTo" | "macAt" | "random"> & {
  readonly policy: Pick<Policy, "exclusions">;
  readonly clock: Clock;
}): (request: RoutedRequest) => Promise<RoutedLook> {
  return async ({ addresses, framesPerSecond, signal }) => {
    const { openScanLink, policy } = deps;
    const link = deps.link();
    if (!openScanLink || !link) throw new Error("no frames can be sent");
    return lookBehindRouter({
      ...deps, addresses, framesPerSecond, signal, mac: link.mac, own: link.own.map(({ bytes }) => bytes),
      openLink: () => openScanLink(() => policy.exclusions), findWay: () => findWay(bytesOf(addresses.at(0)), deps),
    });
  };
}
