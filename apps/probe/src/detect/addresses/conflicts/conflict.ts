import type { Binding, Conflict, Contender, Phase } from "../binding.ts";
import type { Claim } from "../claim.ts";

const MAX_RIVALS = 3;
/** A claim that was on its way when the other answered says nothing. */
const AFTER_ANSWER_MS = 300;
/** Whoever is asked by ARP answers within this; the answer has no sender's address in it, as nothing else has. */
const ANSWER_MS = 1500;
/** Advertisements that answer look like others: only one that comes at once counts. */
const NDP_ANSWER_MS = 500;
/** Changes of the claimer that are closer to each other are one. */
const CHANGE_MS = 500;
const MAX_CHANGES = 4;

function createContender(mac: number, source: number): Contender {
  return {
    mac, source, unsolicited: 0, answers: 0, askedAt: Number.POSITIVE_INFINITY, answeredAt: Number.POSITIVE_INFINITY,
    lastAnswerAt: Number.NEGATIVE_INFINITY, decoyAt: Number.POSITIVE_INFINITY, claimsAfterAnswer: 0, packet: null,
  };
}

/** @param now Monotonic milliseconds. */
export function createConflict(binding: Binding, now: number): Conflict {
  return {
    binding, owner: createContender(binding.mac, binding.mac), rivals: [], openedAt: now, phase: "waiting", phaseAt: now, claimedAt: now,
    lastClaimer: binding.mac, changes: -1, answeredForOther: false, bothAt: Number.POSITIVE_INFINITY, quietRounds: 0,
  };
}

/** Adds a claim to what is known. More rivals than fit are left out. */
export function noteClaim(conflict: Conflict, claim: Pick<Claim, "address" | "mac" | "source" | "isAnswer" | "isUnsolicited" | "packet">, now: number): void {
  const { owner, rivals } = conflict;
  let contender = owner.mac === claim.mac ? owner : rivals.find(({ mac }) => mac === claim.mac);
  if (!contender) {
    if (rivals.length >= MAX_RIVALS) return;
    contender = createContender(claim.mac, claim.source);
    rivals.push(contender);
    // Enough of them, and an owner that was there a moment ago: what was asked suffices.
    if (conflict.phase === "watched" && (rivals.length < MAX_RIVALS || owner.answers === 0)) startRound(conflict, "waiting", now);
  }
  conflict.claimedAt = Math.min(conflict.claimedAt, now);
  if (claim.source !== owner.mac || contender === owner) contender.source = claim.source;
  if (isAnswerForOther(conflict, contender, claim, now)) conflict.answeredForOther = true;
  const sinceAsked = now - contender.askedAt;
  if (claim.isAnswer && sinceAsked >= 0 && sinceAsked <= (claim.address.length === 4 ? ANSWER_MS : NDP_ANSWER_MS)) {
    contender.answers += 1;
    contender.answeredAt = Math.min(contender.answeredAt, now);
    contender.lastAnswerAt = now;
  } else {
    if (claim.isUnsolicited) contender.unsolicited += 1;
    const wasContradicted = [owner, ...rivals].some((other) => other !== contender && now - other.answeredAt >= AFTER_ANSWER_MS);
    if (wasContradicted) contender.claimsAfterAnswer += 1;
  }
  if (contender !== owner) contender.packet = claim.packet.slice();
  else if (contender.packet === null || claim.isUnsolicited) contender.packet = claim.packet.slice();
  if (conflict.lastClaimer !== claim.mac) {
    conflict.lastClaimer = claim.mac;
    conflict.changes += 1;
    noteChange(conflict.binding, now);
  }
}

/**
 * Each is asked alone. So the owner that answers while only rivals were asked, and the rival that answers once more when the owner is
 * asked, hear what goes to the other's MAC. After a question to all this says nothing.
 */
function isAnswerForOther({ phase, phaseAt, owner, binding }: Conflict, contender: Contender, claim: Pick<Claim, "isAnswer" | "address" | "mac" | "source">, now: number): boolean {
  if (!claim.isAnswer || claim.source !== claim.mac || claim.address.length !== 4 || now - Math.max(binding.askedAt, binding.othersAskedAt) < ANSWER_MS) return false;
  if (phase === "rivals-asked") return contender === owner;
  return phase === "owner-asked" && contender !== owner && owner.answers === 0 && now - phaseAt < AFTER_ANSWER_MS && contender.answers > 0;
}

function noteChange({ changes }: Binding, now: number): void {
  if (now - (changes.at(-1) ?? Number.NEGATIVE_INFINITY) < CHANGE_MS) return;
  changes.push(now);
  if (changes.length > MAX_CHANGES) changes.shift();
}

/** Goes on to a phase. One in which somebody is asked anew begins without answers. */
export function startRound(conflict: Conflict, phase: Phase, now: number): void {
  conflict.phase = phase;
  conflict.phaseAt = now;
  if (phase !== "waiting" && phase !== "asked-again" && phase !== "reported-asked") return;
  for (const contender of [conflict.owner, ...conflict.rivals]) {
    contender.answers = 0;
    contender.askedAt = Number.POSITIVE_INFINITY;
  }
}
