import { toInstant } from "@lanthorn/runtime";
import { plain } from "../facts/plain.ts";
import {
  type Baseline, type Comparison, emptyComparison, factName, factsOfKind, noteAppeared, noteChanged, noteGone, noteUnlooked, type SeenFact,
} from "./result.ts";

/** Characters of the other ends at one port. */
const MAX_VALUE = 255;

/** The other end of a cable at a device's port. */
export interface NeighborNow {
  /** The device's own port. */
  readonly port: string;
  /** Name and port of the other end. */
  readonly value: string;
  /** `gone`: it announces itself no more. `unknown`: nobody listens now. */
  readonly state: "up" | "gone" | "unknown";
  readonly seenAt: string;
}

/**
 * Compares whom a device is connected to. A device of which no neighbor was known is one that nobody had asked before.
 * @param now Milliseconds since the epoch.
 */
export function compareNeighbors(neighbors: readonly NeighborNow[], baseline: Baseline, now: number): Comparison {
  const to = emptyComparison();
  const { mode, facts } = baseline;
  const known = factsOfKind(baseline, "neighbor");
  const up = new Map<string, NeighborNow[]>();
  for (const one of neighbors) if (one.state === "up") up.set(one.port, [...(up.get(one.port) ?? []), one]);
  for (const [key, here] of up) {
    const value = plain([...new Set(here.map((one) => one.value))].toSorted().join(", "), MAX_VALUE);
    const lookedAt = here.reduce((last, { seenAt }) => (seenAt > last ? seenAt : last), "");
    const seen: SeenFact = { kind: "neighbor", key, value, lookedAt, scope: "neighbor protocols" };
    const fact = facts.get(factName(seen));
    if (fact && fact.value === value) to.learned.push(seen);
    else if (fact) noteChanged(to, mode, fact, { seen, outcome: "changed" });
    else if (known.length === 0) {
      if (mode !== "frozen") to.learned.push(seen);
    } else noteAppeared(to, mode, seen);
  }
  for (const fact of known) {
    if (up.has(fact.key)) continue;
    if (neighbors.some(({ port, state }) => port === fact.key && state === "gone")) {
      noteGone(to, mode, fact, { observed: "", observedAt: toInstant(now) });
    } else noteUnlooked(to, mode, fact, now);
  }
  return to;
}
