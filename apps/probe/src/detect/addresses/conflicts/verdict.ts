/** What is known of an address that two MACs are claimed for, when it is judged. */
export interface Evidence {
  readonly ownerAnswers: boolean;
  readonly rivalAnswers: boolean;
  readonly isOwnerTrusted: boolean;
  /** Replies and advertisements that nobody asked for. */
  readonly ownerUnsolicited: number;
  readonly rivalUnsolicited: number;
  /** Claims that each repeated after the other one had answered. */
  readonly ownerRepeats: number;
  readonly rivalRepeats: number;
  /** How many others claim it, none of which answers or had it before. */
  readonly silentRivals: number;
  /** How often the claims went to and fro. */
  readonly changes: number;
  /** The rival had the address before, in turn with the owner. */
  readonly isMember: boolean;
  /** One device answered under both MACs. */
  readonly isOneDevice: boolean;
  /** Answers for many addresses that are trusted, as routers do. */
  readonly isOwnerProxy: boolean;
  readonly isRivalProxy: boolean;
  /** The address is a gateway's or a server's. */
  readonly isOfRole: boolean;
  /** The rival claimed it a while ago too, while the owner answered, and did not answer itself. */
  readonly wasRejected: boolean;
  /** The owner is a virtual router, and the rival none. */
  readonly takesFromVirtual: boolean;
  /** The rival makes false claims of other addresses too, or answers for an address that nobody has. */
  readonly isLiar: boolean;
  /** Lately they answered for an address that nobody has: their answers say nothing. */
  readonly ownerAnswersAll: boolean;
  readonly rivalAnswersAll: boolean;
  /** For how long both have been answering: from when both had answered once to when both had answered last. */
  readonly bothForMs: number;
  /** The rival was asked for an address that nobody has, and had time to answer, or could not be asked. */
  readonly isRivalTested: boolean;
}

/**
 * `spoofed`: the rival's claim is false. `owner-spoofs`: the one that was known first is the liar. `moved`: the address is the rival's now.
 * `again`: ask once more. `watch`: wait for more claims. `keep`: nothing is wrong.
 */
export type Verdict = "spoofed" | "owner-spoofs" | "duplicate" | "moved" | "virtual-taken" | "shared" | "again" | "watch" | "keep";

/** An address that moves to another member of a cluster is answered for by both meanwhile: who still do after this use it both. */
export const BOTH_MS = 1500;
/** As long as members of one cluster may both answer. */
const MEMBERS_BOTH_MS = 10_000;
const MEMBER_REPEATS = 3;
/** So many at once that take an address from one who is there are forged. */
const FORGED_RIVALS = 3;

/** Judges after both were asked. */
export function judge(evidence: Evidence): Verdict {
  const { ownerAnswers, rivalAnswers } = evidence;
  if (evidence.isOneDevice) return "shared";
  if (ownerAnswers && rivalAnswers) return judgeBoth(evidence);
  if (ownerAnswers) return judgeSilentRival(evidence);
  if (rivalAnswers) return judgeSilentOwner(evidence);
  // Nobody answered, or nobody could be asked: only claims that go to and fro show that both are there.
  if (evidence.changes < 2) return "watch";
  if (evidence.rivalUnsolicited > 0 || evidence.isLiar) return "spoofed";
  return evidence.ownerUnsolicited > 0 && !evidence.isOwnerTrusted ? "owner-spoofs" : "duplicate";
}

function judgeBoth({ isOwnerTrusted, ownerAnswersAll, isOwnerProxy, isRivalProxy, isMember, isLiar, isRivalTested, bothForMs, isOfRole, rivalUnsolicited }: Evidence): Verdict {
  if (isLiar) return "spoofed";
  // A proxy answers who asks, and nobody is proxy for a gateway: who has taken a few free addresses looks like one.
  if (!isOfRole && rivalUnsolicited === 0) {
    if (isOwnerProxy) return "moved";
    if (isRivalProxy) return "keep";
  }
  if (ownerAnswersAll && !isOwnerTrusted) return "owner-spoofs";
  return isRivalTested && bothForMs >= (isMember ? MEMBERS_BOTH_MS : BOTH_MS) ? "duplicate" : "again";
}

function judgeSilentRival({ isOwnerTrusted, ownerAnswersAll, isMember, isLiar, rivalUnsolicited, rivalRepeats, silentRivals, wasRejected }: Evidence): Verdict {
  if (isMember) return rivalRepeats >= MEMBER_REPEATS ? "spoofed" : "watch";
  if (ownerAnswersAll && !isOwnerTrusted) return "watch";
  if (isLiar || wasRejected || (isOwnerTrusted && (rivalUnsolicited > 0 || silentRivals >= FORGED_RIVALS))) return "spoofed";
  return rivalRepeats > 0 ? "spoofed" : "watch";
}

function judgeSilentOwner({ isOwnerTrusted, rivalAnswersAll, isMember, ownerUnsolicited, ownerRepeats, takesFromVirtual }: Evidence): Verdict {
  if (rivalAnswersAll) return "keep";
  if (isOwnerTrusted) {
    if (takesFromVirtual) return "virtual-taken";
    return ownerRepeats >= (isMember ? MEMBER_REPEATS : 1) ? "duplicate" : "moved";
  }
  if (ownerUnsolicited === 0) return "moved";
  return ownerRepeats > 0 ? "owner-spoofs" : "watch";
}
