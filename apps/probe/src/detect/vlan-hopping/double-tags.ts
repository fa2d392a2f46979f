import { ETHER_TYPE, formatMac, type Frame } from "@lanthorn/packets";
import { createBoundedMap } from "../bounded-map.ts";

/** Follows frames with two VLAN tags of customers: those of a provider's network, and those that a host has made. */
export interface DoubleTags {
  /** @returns Whether the frame is one that a host has made, as far as is known. */
  isForged(frame: Frame, now: number): boolean;
}

/** Outer VLANs that carry others, as somebody has found out before. */
export interface KnownTunnels {
  has(vlanId: number): boolean;
  learn(vlanId: number): void;
}

const MAX_SENDERS = 1024;
/** Two hosts that talk through a provider's VLAN answer each other within this. */
const ANSWER_MS = 60_000;

/**
 * Frames of a tunnel of VLANs (802.1ad's way with 802.1Q's type) go both ways, while what a host forges is never answered with two tags:
 * the first switch takes the outer one off. Keeps 1024 senders.
 * @see IEEE 802.1Q-2018 clause 9.5
 */
export function createDoubleTags(tunnels: KnownTunnels): DoubleTags {
  const senders = createBoundedMap<string, number>(MAX_SENDERS);
  return {
    isForged(frame, now) {
      // A tag of VLAN 0 is for its priority alone.
      const tags = frame.vlanTags.filter(({ vlanId }) => vlanId !== 0);
      const [outer, inner] = tags;
      if (!outer || !inner || outer.protocol !== ETHER_TYPE.vlan || tunnels.has(outer.vlanId)) return false;
      const { sourceMac, destinationMac } = frame;
      if (!sourceMac || !destinationMac) return false;
      const [from, to] = [`${outer.vlanId} ${formatMac(sourceMac)}`, `${outer.vlanId} ${formatMac(destinationMac)}`];
      const heardAt = senders.get(to);
      if (from !== to && heardAt !== undefined && now - heardAt < ANSWER_MS) {
        tunnels.learn(outer.vlanId);
        return false;
      }
      senders.put(from, now);
      return true;
    },
  };
}
