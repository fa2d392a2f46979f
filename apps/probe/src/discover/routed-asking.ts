import type { Clock } from "@lanthorn/runtime";
import { bytesOf } from "../scan/routed-addresses.ts";
import { lookBehindRouter, type RoutedLook } from "../scan/routed-look.ts";
import { findWay } from "./find-way.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { RoutedRequest } from "./routed-watch.ts";
import type { ScanWorkDeps } from "./scan-work.ts";

/** @returns What looks behind routers on the link of the moment; it throws while there is none. */
export function createRoutedLook(deps: Pick<ScanWorkDeps, "link" | "openScanLink" | "routeTo" | "macAt" | "random"> & {
  readonly policy: Pick<EgressPolicy, "exclusions">;
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
