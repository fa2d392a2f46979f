import type { Binding, Conflict, Contender } from "../binding.ts";
import { isVirtualRouterMac } from "@lanthorn/packets";
import type { BindingTable } from "../binding-table.ts";
import { macBytes } from "../mac-number.ts";
import { judge, type Verdict } from "./verdict.ts";

/** What is known beside the claims and answers of a conflict. */
export interface Knowledge {
  readonly table: BindingTable;
  /** Whether the interface has the address itself: then the owner is there, and is not asked. */
  readonly isOwn: (binding: Binding) => boolean;
  /** Whether a MAC makes false claims of other addresses. */
  readonly isLiar: (source: number, length: number) => boolean;
  /** Whether a MAC lately answered for an address that nobody has. */
  readonly answersAll: (source: number) => boolean;
  /** How important an address is: 0 for a host's, 1 for a gateway's or server's, 2 for that of a gateway which nobody has made up. */
  readonly rankOf: (binding: Binding) => 0 | 1 | 2;
  /** Whether a rival's claim was found to be wrong lately. */
  readonly wasRejected: (binding: Binding, mac: number, now: number) => boolean;
  /** Whether who was asked for the address of another has answered: see `expectationOf`. */
  readonly expected: ReadonlyMap<string, boolean>;
}

/** Who has so many addresses that are trusted answers for others, as a router does (proxy ARP). */
const PROXY_ADDRESSES = 8;
/** Who answers for an address that nobody has does it at once. */
const DECOY_ANSWER_MS = 400;
/** Who could not be asked for one within this is judged without. */
const UNTESTED_MS = 4000;

/** Under which is kept whether a MAC was asked for another's address. */
export function expectationOf(mac: number, { key, vlanId }: Pick<Binding, "key" | "vlanId">): string {
  return `${mac} ${vlanId} ${key}`;
}

/** Judges one rival by what was gathered. */
export function judgeRival(knowledge: Knowledge, conflict: Conflict, rival: Contender, now: number): Verdict {
  const { binding, owner, rivals } = conflict;
  const ownerAnswers = owner.answers > 0 || knowledge.isOwn(binding);
  const rivalAnswers = rival.answers > 0;
  const answering = knowledge.isOwn(binding) ? [rival] : [owner, rival];
  if (ownerAnswers && rivalAnswers) conflict.bothAt = Math.min(conflict.bothAt, Math.max(...answering.map(firstAnswerOf)));
  return judge({
    ownerAnswers, rivalAnswers, isOwnerTrusted: binding.isTrusted, ownerUnsolicited: owner.unsolicited, rivalUnsolicited: rival.unsolicited,
    ownerRepeats: owner.claimsAfterAnswer, rivalRepeats: rival.claimsAfterAnswer, changes: conflict.changes,
    silentRivals: rivals.filter(({ mac, answers }) => answers === 0 && !binding.members.includes(mac)).length,
    isMember: binding.members.includes(rival.mac), isOneDevice: isOneDevice(knowledge, conflict, rival),
    isOwnerProxy: isProxy(knowledge, owner.mac), isRivalProxy: isProxy(knowledge, rival.mac),
    isOfRole: knowledge.rankOf(binding) > 0, wasRejected: knowledge.wasRejected(binding, rival.mac, now),
    takesFromVirtual: isVirtualRouterMac(macBytes(owner.mac)) && !isVirtualRouterMac(macBytes(rival.mac)),
    isLiar: knowledge.isLiar(rival.source, binding.key.length), bothForMs: Math.min(...answering.map(({ lastAnswerAt }) => lastAnswerAt)) - conflict.bothAt,
    ownerAnswersAll: knowledge.answersAll(owner.source), rivalAnswersAll: knowledge.answersAll(rival.source),
    isRivalTested: now - rival.decoyAt >= DECOY_ANSWER_MS || now - conflict.openedAt >= UNTESTED_MS,
  });
}

/**
 * Who contends with several others, both of which answer, is no duplicate but the liar among them.
 * @param conflicts All that are open.
 */
export function blameDuplicate(conflicts: Iterable<Conflict>, { binding, owner }: Conflict, rival: Contender): "duplicate" | "spoofed" | "owner-spoofs" {
  const [ofOwner, ofRival] = [new Set<number>(), new Set<number>()];
  for (const other of conflicts) {
    if (other.binding.key.length !== binding.key.length || other.owner.answers === 0) continue;
    for (const contender of other.rivals) {
      if (contender.answers === 0) continue;
      for (const [mac, rivals] of [[owner.mac, ofOwner], [rival.mac, ofRival]] as const) {
        if (other.owner.mac === mac) rivals.add(contender.mac);
        else if (contender.mac === mac) rivals.add(other.owner.mac);
      }
    }
  }
  if (ofRival.size > 1 && ofRival.size > ofOwner.size) return "spoofed";
  return !binding.isTrusted && ofOwner.size > 1 && ofOwner.size > ofRival.size ? "owner-spoofs" : "duplicate";
}

/** In this round, or the one before where it went on answering. */
function firstAnswerOf({ answeredAt, askedAt }: Contender): number {
  return Math.max(answeredAt, askedAt);
}

function isProxy({ table }: Knowledge, mac: number): boolean {
  return (table.ownedBy(mac)?.count ?? 0) >= PROXY_ADDRESSES;
}

/** One answered for the other's MAC, or the owner answers for the rival's own address as well (ARP flux). */
function isOneDevice({ table, expected }: Knowledge, { owner, answeredForOther }: Conflict, rival: Contender): boolean {
  const own = table.ownedBy(rival.mac)?.sample;
  return answeredForOther || (own !== undefined && rival.answers > 0 && expected.get(expectationOf(owner.mac, own)) === true);
}
