import { ETHER_TYPE, formatMac, type Frame } from "@lanthorn/packets";
import { createBoundedMap } from "../../bounded-map.ts";
import { createTunnelEvidence } from "./tunnel-evidence.ts";

/** Follows frames with two VLAN tags of customers: those of a provider's network, and those that a host has made. */
export interface DoubleTags {
  /** @returns Whether the frame is one that a host has made, as far as is known. */
  isForged(frame: Frame, now: number): boolean;
  /** Whether somebody has answered a sender with two tags of late. */
  isAnswered(mac: string, outer: number, now: number): boolean;
}

/** Outer VLANs that carry others, as somebody has found out before. */
export interface KnownTunnels {
  has(vlanId: number): boolean;
  learn(vlanId: number): void;
}

const MAX_SENDERS = 1024;
/** Two hosts that talk through a provider's VLAN answer each other within this. Whoever forges an answer is excused for no longer. */
const ANSWER_MS = 3000;
/** The same in a VLAN in which hosts have answered each other for a while. */
const LASTING_ANSWER_MS = 60_000;

/**
 * Frames of a tunnel of VLANs (802.1ad's way with 802.1Q's type) go both ways, while what a host forges is never answered with two tags:
 * the first switch takes the outer one off. A host can forge the answers too, so a few of them excuse for a moment alone; what lasts is
 * learned. Keeps 1024 senders.
 * @param onNew An outer VLAN is learned after the learning period.
 * @see IEEE 802.1Q-2018 clause 9.5
 */
export function createDoubleTags(deps: {
  readonly tunnels: KnownTunnels; readonly isLearning: () => boolean; readonly onNew: (outer: number, frame: Frame) => void;
}): DoubleTags {
  const { tunnels } = deps;
  const heard = createBoundedMap<string, number>(MAX_SENDERS);
  const answered = createBoundedMap<string, number>(MAX_SENDERS);
  const evidence = createTunnelEvidence();
  const isFresh = (at: number | undefined, outer: number, now: number) =>
    at !== undefined && now - at < (evidence.isLasting(outer, now) ? LASTING_ANSWER_MS : ANSWER_MS);
  const isAnswered = (mac: string, outer: number, now: number) => isFresh(answered.get(`${outer} ${mac}`), outer, now);

  return {
    isForged(frame, now) {
      // A tag of VLAN 0 is for its priority alone.
      const [outer, inner] = frame.vlanTags.filter(({ vlanId }) => vlanId !== 0);
      if (!outer || !inner || outer.protocol !== ETHER_TYPE.vlan || tunnels.has(outer.vlanId)) return false;
      const { sourceMac, destinationMac } = frame;
      if (!sourceMac || !destinationMac) return false;
      const { vlanId } = outer;
      const [from, to] = [formatMac(sourceMac), formatMac(destinationMac)];
      const isAnswer = from !== to && isFresh(heard.get(`${vlanId} ${to}`), vlanId, now);
      heard.put(`${vlanId} ${from}`, now);
      if (!isAnswer) return !isAnswered(from, vlanId, now);
      answered.put(`${vlanId} ${to}`, now);
      const isLearning = deps.isLearning();
      if (!evidence.note(vlanId, to, now, isLearning)) return false;
      tunnels.learn(vlanId);
      if (!isLearning) deps.onNew(vlanId, frame);
      return false;
    },
    isAnswered,
  };
}
