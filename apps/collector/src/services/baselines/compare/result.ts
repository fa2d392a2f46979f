import type { BaselineFactKind, BaselineOutcome } from "@lanthorn/contract";

/** One thing that is normal, as a comparison sees it. */
export interface KnownFact {
  readonly kind: BaselineFactKind;
  readonly key: string;
  readonly value: string;
  /** When it became part of the baseline; null for one of a template. */
  readonly firstSeen: string | null;
  /** When it was last looked for; null where it never was. */
  readonly lookedAt: string | null;
  /** Whether a learning baseline may change and remove it: nobody has said that it is right. */
  readonly isLearned: boolean;
}

/** One thing that is there. */
export interface SeenFact {
  readonly kind: BaselineFactKind;
  readonly key: string;
  readonly value: string;
  readonly lookedAt: string;
  /** What looked for it, for people. */
  readonly scope: string;
}

/** Something that differs from the baseline. */
export interface Found {
  readonly kind: BaselineFactKind;
  readonly key: string;
  readonly outcome: BaselineOutcome;
  readonly expected: string;
  readonly observed: string;
  readonly expectedAt: string | null;
  readonly observedAt: string | null;
}

/** `learning`: it follows what is there. `active`: what was never looked at before becomes part of it. `frozen`: nothing does. */
export type Mode = "learning" | "active" | "frozen";

/** What a baseline has. */
export interface Baseline {
  readonly mode: Mode;
  /** By `factName`; those of templates too, where it has none of its own. */
  readonly facts: ReadonlyMap<string, KnownFact>;
  /** Ids of the lists of ports with which it has been looked at. */
  readonly scopes: ReadonlySet<string>;
}

/** What a comparison comes to. Arrays are in the order in which things were found; nothing is in two of them. */
export interface Comparison {
  readonly differences: Found[];
  /** Becomes part of the baseline, or was looked at again. */
  readonly learned: SeenFact[];
  /** Is no part of a learning baseline any more. */
  readonly forgotten: Pick<KnownFact, "kind" | "key">[];
  /** By `factName`: nothing can be said of these now, so that what was said of them stays. */
  readonly undecided: Set<string>;
}

/** Nobody has looked for a fact in so long: it is listed as not checked. */
export const NOT_CHECKED_MS = 7 * 86_400_000;

/** Nothing yet. */
export function emptyComparison(): Comparison {
  return { differences: [], learned: [], forgotten: [], undecided: new Set() };
}

/** What a fact is called among those of its baseline. */
export function factName({ kind, key }: Pick<KnownFact, "kind" | "key">): string {
  return `${kind} ${key}`;
}

/** The known facts of a kind. */
export function factsOfKind({ facts }: Baseline, kind: BaselineFactKind): readonly KnownFact[] {
  return [...facts.values()].filter((fact) => fact.kind === kind);
}

/** Notes that a known fact is not there. A learning baseline forgets what it has learned itself. */
export function noteGone(to: Comparison, mode: Mode, known: KnownFact, { observed, observedAt }: Pick<Found, "observed" | "observedAt">): void {
  if (mode !== "learning") to.differences.push({ ...differs(known, "gone"), observed, observedAt });
  else if (known.isLearned) to.forgotten.push(known);
}

/** Notes a known fact that has another value. A learning baseline takes it. */
export function noteChanged(to: Comparison, mode: Mode, known: KnownFact, { seen, outcome }: { readonly seen: SeenFact; readonly outcome: BaselineOutcome }): void {
  if (mode === "learning" && known.isLearned) to.learned.push(seen);
  else to.differences.push({ ...differs(known, outcome), observed: seen.value, observedAt: seen.lookedAt });
}

/** Notes something that is not in the baseline though it was looked for before. A learning baseline takes it. */
export function noteAppeared(to: Comparison, mode: Mode, seen: SeenFact): void {
  if (mode === "learning") to.learned.push(seen);
  else {
    const { kind, key, value: observed, lookedAt: observedAt } = seen;
    to.differences.push({ kind, key, outcome: "appeared", expected: "", observed, expectedAt: null, observedAt });
  }
}

/** Notes that nobody has looked for a known fact, once that is a week; until then nothing can be said of it. */
export function noteUnlooked(to: Comparison, mode: Mode, known: KnownFact, now: number): void {
  const since = known.lookedAt ?? known.firstSeen;
  if (mode !== "learning" && since !== null && now - Date.parse(since) > NOT_CHECKED_MS) {
    to.differences.push({ ...differs(known, "not_checked"), observed: "", observedAt: null });
  } else to.undecided.add(factName(known));
}

function differs({ kind, key, value, lookedAt }: KnownFact, outcome: BaselineOutcome): Omit<Found, "observed" | "observedAt"> {
  return { kind, key, outcome, expected: value, expectedAt: lookedAt };
}
