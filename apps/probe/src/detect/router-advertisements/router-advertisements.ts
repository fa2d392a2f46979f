import { formatIpv6, formatMac } from "@lanthorn/packets";
import { encodeRouterSolicitation } from "../../egress/request-frames.ts";
import type { Guard, GuardDeps } from "../guard.ts";
import { createSearch } from "../search.ts";
import { readAdvert } from "./advert.ts";
import { createRouterJudge } from "./router-judge.ts";

const NAME = "Router advertisements";

/**
 * Finds IPv6 routers that do not belong to the link, and who speaks in a router's name. It listens, and asks all routers for their
 * advertisements.
 * @see RFC 4861, RFC 6104
 */
export function createRouterAdvertisementsGuard(deps: GuardDeps): Guard {
  const search = createSearch({
    ...deps, idBits: 16, encode(link) {
      const frame = encodeRouterSolicitation(link);
      return frame ? [frame] : [];
    },
  });
  const judge = createRouterJudge({ ...deps, guard: NAME, onHint: search.hint });
  return {
    name: NAME,
    onNdp(message, at) {
      const { sourceMac, vlanTags } = at.frame;
      if (message.kind === "neighbor-advertisement" && sourceMac && judge.isChecking()) {
        return judge.lives(formatIpv6(message.target), formatMac(sourceMac), vlanTags.at(-1)?.vlanId || null);
      }
      const advert = message.kind === "router-advertisement" ? readAdvert(message, at) : null;
      if (advert) judge.hear(advert);
    },
    tick(now) {
      judge.tick(now);
      search.tick(now, judge.isSuspicious());
    },
    learned: judge.learned,
  };
}
