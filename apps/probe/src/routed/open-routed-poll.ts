import type { Clock } from "@lanthorn/runtime";
import { bytesOf } from "../probing/routed-addresses.ts";
import { pollBehindRouter, type RoutedPoll } from "./routed-poll.ts";
import { findWay, type WayDeps } from "./find-way.ts";
import type { Link } from "../capture/link.ts";
import type { OpenScanLink } from "../probing/scan-link.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { RoutedRequest } from "./routed-poller.ts";

/** @returns What polls addresses behind routers, on the link as it then is; it throws while there is none. */
export function createRoutedPoll(deps: WayDeps & {
  readonly link: () => Link | null;
  /** Null where no frames of one's own can be sent. */
  readonly openScanLink: OpenScanLink | null;
  readonly random: () => number;
  readonly policy: Pick<EgressPolicy, "exclusions">;
  readonly clock: Clock;
}): (request: RoutedRequest) => Promise<RoutedPoll> {
  return async ({ addresses, framesPerSecond, signal }) => {
    const { openScanLink, policy } = deps;
    const link = deps.link();
    if (!openScanLink || !link) throw new Error("frames cannot be sent");
    return pollBehindRouter({
      ...deps, addresses, framesPerSecond, signal, mac: link.mac, own: link.own.map(({ bytes }) => bytes),
      openLink: () => openScanLink(() => policy.exclusions), findWay: () => findWay(bytesOf(addresses.at(0)), deps),
    });
  };
}
