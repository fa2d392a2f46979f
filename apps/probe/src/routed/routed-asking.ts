import type { Clock } from "@lanthorn/runtime";
import { bytesOf } from "../probing/routed-addresses.ts";
import { lookBehindRouter, type RoutedLook } from "./routed-look.ts";
import { findWay, type WayDeps } from "./find-way.ts";
import type { Link } from "../capture/link.ts";
import type { OpenScanLink } from "../probing/scan-link.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { RoutedRequest } from "./routed-watch.ts";

/** @returns What looks behind routers on the link of the moment; it throws while there is none. */
export function createRoutedLook(deps: WayDeps & {
  readonly link: () => Link | null;
  /** Null where no frames of one's own can be sent. */
  readonly openScanLink: OpenScanLink | null;
  readonly random: () => number;
  readonly policy: Pick<EgressPolicy, "exclusions">;
  readonly clock: Clock;
}): (request: RoutedRequest) => Promise<RoutedLook> {
  return async ({ addresses, framesPerSecond, signal }) => {
    const { openScanLink, policy } = deps;
    const link = deps.link();
    if (!openScanLink || !link) throw new Error("frames cannot be sent");
    return lookBehindRouter({
      ...deps, addresses, framesPerSecond, signal, mac: link.mac, own: link.own.map(({ bytes }) => bytes),
      openLink: () => openScanLink(() => policy.exclusions), findWay: () => findWay(bytesOf(addresses.at(0)), deps),
    });
  };
}
