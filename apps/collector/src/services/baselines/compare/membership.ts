import { isExpected, isUnusual, type Present } from "../presence/expected.ts";
import { describeWeek } from "../presence/week.ts";
import { type Baseline, type Comparison, emptyComparison, factName, noteAppeared, noteGone, type SeenFact } from "./result.ts";

/** A device as one of its site's. */
export interface Member extends Present {
  readonly id: string;
  /** Name, address and MAC, for people. */
  readonly text: string;
  readonly presence: string;
  readonly lastSeenAt: string;
  /** Nobody has seen it yet: a person has added it. */
  readonly isUnseen: boolean;
  /** Whether an alert is open that says it is not to be trusted. */
  readonly isRogue: boolean;
  /** A device of the baseline that had its address, and is not there any more. */
  readonly before: string | null;
}

/** What says when a device is to be compared again though nothing has happened; null for no such time. */
export interface Membership extends Comparison {
  readonly again: number | null;
}

/** Compares whether a device is one of its site, and there when it should be. @param site Only with the facts of this device. */
export function compareMember(member: Member, site: Baseline, { now, missingMs }: { readonly now: number; readonly missingMs: number }): Membership {
  const to = emptyComparison();
  const seen: SeenFact = { kind: "device", key: member.id, value: member.text, lookedAt: member.lastSeenAt, scope: "probe" };
  const fact = site.facts.get(factName(seen));
  if (member.isUnseen) return { ...to, again: null };
  if (!fact) {
    if (member.before !== null && site.mode !== "learning") {
      const { kind, key, value: observed, lookedAt: observedAt } = seen;
      to.differences.push({ kind, key, outcome: "replaced", expected: member.before, observed, expectedAt: null, observedAt });
    } else if (!member.isRogue || site.mode !== "learning") noteAppeared(to, site.mode, seen);
    return { ...to, again: null };
  }
  if (member.presence === "unknown") {
    to.undecided.add(factName(seen));
    return { ...to, again: null };
  }
  if (member.presence === "online") {
    to.learned.push(seen);
    return { ...to, again: null };
  }
  const missingAt = Date.parse(member.lastSeenAt) + missingMs;
  if (site.mode === "learning" || member.expected === "never") return { ...to, again: null };
  if (!isExpected(member, now)) {
    // One that was missed stays so until it is back.
    to.undecided.add(factName(seen));
    return { ...to, again: null };
  }
  if (now < missingAt) {
    to.undecided.add(factName(seen));
    return { ...to, again: missingAt };
  }
  noteGone(to, site.mode, { ...fact, lookedAt: member.lastSeenAt }, { observed: "", observedAt: new Date(now).toISOString() });
  return { ...to, again: null };
}

/** Compares the hour at which a device is there with those at which it usually is. */
export function compareHours(member: Pick<Member, "week" | "presence" | "lastSeenAt">, baseline: Baseline, now: number): Comparison {
  const to = emptyComparison();
  const usual = describeWeek(member.week);
  const seen: SeenFact = { kind: "presence", key: "week", value: usual, lookedAt: member.lastSeenAt, scope: "probe" };
  const fact = baseline.facts.get(factName(seen));
  if (member.presence === "online" && baseline.mode !== "learning" && isUnusual(member, now)) {
    const at = new Date(now).toISOString();
    to.differences.push({
      kind: "presence", key: "week", outcome: "changed", expected: fact?.value ?? usual, observed: `${at.slice(11, 13)}:00 UTC on ${DAYS[new Date(now).getUTCDay()]}`,
      expectedAt: fact?.lookedAt ?? null, observedAt: at,
    });
  } else if (usual !== "" && (fact === undefined || fact.isLearned) && (baseline.mode !== "frozen")) to.learned.push(seen);
  return to;
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
