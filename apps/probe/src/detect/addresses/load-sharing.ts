import { createBoundedMap } from "../../bounded-map.ts";
import type { Binding } from "./binding.ts";
import type { Claim } from "./claim.ts";

/**
 * Gateways that share an address by GLBP: one of them answers every request for it, with the virtual MAC of another one in turn. Such a MAC is
 * believed when it alone answered two requests that were heard. The prefix is no proof: anybody can wear it.
 */
export interface LoadSharing {
  /** Whether the address is shared so: its owner's MAC is a GLBP forwarder's. */
  isShared(binding: Binding): boolean;
  /** Whether the MAC was found to share the address with the owner. */
  isMember(binding: Binding, mac: number): boolean;
  /** Somebody asks everybody for a shared address. */
  onRequest(binding: Binding, requester: number, now: number): void;
  /**
   * A forwarder of the group that is no member answers.
   * @returns Whether it may be one: it is of the group, and answers who was heard asking.
   */
  onReply(binding: Binding, claim: Claim, now: number): boolean;
  /** Judges the requests that have been answered. */
  tick(now: number): void;
}

interface Asked {
  readonly binding: Binding;
  readonly requester: number;
  readonly at: number;
  /** Replies by the MAC that is said to have the address, copied. */
  readonly replies: Map<number, Claim>;
}

/** `00:07:b4`, six zero bits, ten bits of the group and the forwarder's number, 1 to 4. */
const GLBP = 0x0007b4 * 2 ** 24;
const GROUPS = 2 ** 10;
const FORWARDERS = 256;
const MAX_FORWARDER = 4;
/** Our own questions wait for their turn before they leave. */
const ANSWERED_MS = 2000;
const MAX_ASKED = 64;
const MAX_REPLIES = 8;
const ALONE = 2;
const MAX_CANDIDATES = 64;

/**
 * @param deps.onMember A MAC shares the address.
 * @param deps.onContested A MAC and another one have answered one request.
 */
export function createLoadSharing(deps: {
  readonly onMember: (binding: Binding, mac: number, now: number) => void;
  readonly onContested: (binding: Binding, claim: Claim, now: number) => void;
}): LoadSharing {
  /** By address and requester. */
  const asked = createBoundedMap<string, Asked>(MAX_ASKED);
  /** How many requests a MAC alone has answered, by it and the address. */
  const alone = createBoundedMap<string, number>(MAX_CANDIDATES);
  const idOf = ({ vlanId, key }: Binding, mac: number) => `${vlanId} ${mac} ${key}`;
  const isMember = (binding: Binding, mac: number) => binding.members.includes(mac) && groupOf(mac) !== null && groupOf(mac) === groupOf(binding.mac);

  function judge({ binding, replies }: Asked, now: number): void {
    for (const claim of replies.values()) {
      const { mac } = claim;
      if (mac === binding.mac || isMember(binding, mac)) continue;
      if (replies.size > 1) deps.onContested(binding, claim, now);
      else if ((alone.get(idOf(binding, mac)) ?? 0) + 1 >= ALONE) deps.onMember(binding, mac, now);
      else alone.put(idOf(binding, mac), (alone.get(idOf(binding, mac)) ?? 0) + 1);
    }
  }
  return {
    isShared: ({ mac }) => groupOf(mac) !== null,
    isMember,
    onRequest(binding, requester, now) {
      const id = idOf(binding, requester);
      const before = asked.get(id);
      if (before && before.replies.size > 0) judge(before, now);
      asked.put(id, { binding, requester, at: now, replies: new Map() });
    },
    onReply(binding, claim, now) {
      const request = claim.repliesTo === null ? undefined : asked.get(idOf(binding, claim.repliesTo));
      const isAsked = request !== undefined && now - request.at <= ANSWERED_MS;
      if (isAsked && (request.replies.size < MAX_REPLIES || request.replies.has(claim.mac))) {
        request.replies.set(claim.mac, { ...claim, address: claim.address.slice(), packet: claim.packet.slice() });
      }
      return isAsked && groupOf(claim.mac) === groupOf(binding.mac);
    },
    tick(now) {
      for (const [id, request] of asked) {
        if (now - request.at <= ANSWERED_MS) break;
        asked.delete(id);
        judge(request, now);
      }
    },
  };
}

/** @returns The group of a forwarder's MAC; null for another one. */
function groupOf(mac: number): number | null {
  const offset = mac - GLBP;
  if (offset < 0 || offset >= GROUPS * FORWARDERS) return null;
  const forwarder = offset % FORWARDERS;
  return forwarder >= 1 && forwarder <= MAX_FORWARDER ? Math.floor(offset / FORWARDERS) : null;
}
