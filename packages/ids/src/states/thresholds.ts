/**
 * `threshold` and `detection_filter`: which of many matches are alerts, in the time of the packets.
 * @see https://docs.suricata.io/en/latest/rules/thresholding.html
 */
import type { DetectionFilter, Threshold } from "../rules/rule.ts";
import { type BoundedTable, createBoundedTable } from "./bounded-table.ts";
import { type Ends, trackKey } from "./track-key.ts";

/** What becomes of a match: an alert; silent where one was given for it before; or nothing, where there were too few. */
export type ThresholdAnswer = "alert" | "silent" | "nothing";

/** One match of a rule. */
export interface RuleMatch {
  /** Of the rule, unique with its `gid`. */
  readonly rule: number;
  readonly ends: Ends;
  readonly atMicroseconds: number;
}

/** Counts matches. A count that was given up for others begins anew: an alert may come twice, or later. */
export interface Thresholds {
  apply(threshold: Threshold, match: RuleMatch): ThresholdAnswer;
  /** @returns Whether there were more than `count` within `seconds`. */
  filter(filter: DetectionFilter, match: RuleMatch): boolean;
  readonly size: () => number;
  readonly evicted: () => number;
}

/** Some 200 bytes each. */
const MAX_COUNTS = 100_000;

interface Count {
  startedAt: number;
  matches: number;
  /** Of `backoff`: the match that is the next alert. */
  next: number;
}

/** @param maxCounts How many counts are kept, of all rules and hosts. */
export function createThresholds(maxCounts = MAX_COUNTS): Thresholds {
  const counts = createBoundedTable<Count>(maxCounts);
  return {
    apply: (threshold, match) => {
      const key = `t${match.rule} ${trackKey(threshold.track, match.ends)}`;
      return threshold.kind === "backoff" ? backOff(counts, key, threshold) : answer(threshold, countMatch(counts, key, threshold.seconds, match.atMicroseconds));
    },
    filter: ({ track, count, seconds }, match) => {
      return countMatch(counts, `f${match.rule} ${trackKey(track, match.ends)}`, seconds, match.atMicroseconds).matches > count;
    },
    size: counts.size,
    evicted: counts.evicted,
  };
}

/** A window begins with the first match, and the next with the first behind its end. Packets of a little before it are in it; of longer before than it lasts they begin another: the clock was set back. */
function countMatch(counts: BoundedTable<Count>, key: string, seconds: number, at: number): Count {
  const count = counts.get(key);
  if (count && Math.abs(at - count.startedAt) <= seconds * 1_000_000) {
    count.matches += 1;
    return count;
  }
  const begun = { startedAt: at, matches: 1, next: 0 };
  counts.put(key, begun);
  return begun;
}

function answer({ kind, count: wanted }: Threshold, count: Count): ThresholdAnswer {
  switch (kind) {
    case "limit":
      return count.matches <= wanted ? "alert" : "silent";
    case "threshold":
      if (count.matches < wanted) return "nothing";
      count.matches = 0;
      return "alert";
    case "both":
    case "backoff":
    default:
      if (count.matches < wanted) return "nothing";
      return count.matches === wanted ? "alert" : "silent";
  }
}

/** Alerts at the match `count`, and then each time at `multiplier` times as many. */
function backOff(counts: BoundedTable<Count>, key: string, { count: first, multiplier }: Threshold): ThresholdAnswer {
  let count = counts.get(key);
  if (!count) {
    count = { startedAt: 0, matches: 0, next: first };
    counts.put(key, count);
  }
  count.matches += 1;
  if (count.matches < count.next) return count.next === first ? "nothing" : "silent";
  count.next *= Math.max(multiplier, 2);
  return "alert";
}
