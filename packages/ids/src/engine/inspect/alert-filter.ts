/** Which matches become alerts: suppressions, thresholds and filters of rules, and of an operator's threshold.config. */

import type { RateFilter, Suppression, ThresholdEntry } from "../../rules/files/threshold-file.ts";
import type { Action, Rule, Threshold } from "../../rules/rule.ts";
import { createThresholds, type RuleMatch, type Thresholds } from "../../states/thresholds.ts";
import { type HeaderEnd, holdsAddress } from "../rule-base/header-test.ts";

/** A match that may become an alert. */
export interface FilteredMatch extends RuleMatch {
  readonly from: HeaderEnd;
  readonly to: HeaderEnd;
}

/** Decides on alerts. */
export interface AlertFilter {
  /** @returns The action with which the alert is given; `null` where it is not given. */
  actionOf(rule: Rule, match: FilteredMatch): Action | null;
  /** Uses other lines; what was counted stays. */
  replace(entries: readonly ThresholdEntry[]): void;
  readonly size: () => number;
  readonly evicted: () => number;
}

interface OperatorLines {
  readonly suppressions: readonly Suppression[];
  readonly threshold: Threshold | null;
  readonly rates: readonly RateFilter[];
}

const NO_LINES: OperatorLines = { suppressions: [], threshold: null, rates: [] };

/** @param first Of `parseThresholds`. */
export function createAlertFilter(first: readonly ThresholdEntry[], maxCounts: number): AlertFilter {
  let entries = first;
  const thresholds = createThresholds(maxCounts);
  const lines = new Map<string, OperatorLines>();
  const rateEnds = new Map<string, number>();

  function linesOf(rule: Rule): OperatorLines {
    if (entries.length === 0) return NO_LINES;
    const key = `${rule.gid}:${rule.id}`;
    const found = lines.get(key) ?? collect(entries.filter(({ gid, id }) => (gid === 0 || gid === rule.gid) && (id === 0 || id === rule.id)));
    lines.set(key, found);
    return found;
  }

  function actionByRate(rates: readonly RateFilter[], rule: Rule, match: FilteredMatch): Action {
    for (const rate of rates) {
      const key = `${match.rule} ${rate.track} ${rate.track === "destination" ? match.ends.destination : match.ends.source}`;
      const end = rateEnds.get(key) ?? -Infinity;
      if (match.atMicroseconds <= end) return rate.action;
      if (!thresholds.filter({ track: rate.track, count: rate.count, seconds: rate.seconds }, { ...match, rule: -match.rule })) continue;
      if (rateEnds.size >= maxCounts) rateEnds.clear();
      rateEnds.set(key, rate.timeoutSeconds === 0 ? Infinity : match.atMicroseconds + rate.timeoutSeconds * 1e6);
      return rate.action;
    }
    return rule.action;
  }

  return {
    actionOf: (rule, match) => {
      const { suppressions, threshold, rates } = linesOf(rule);
      if (suppressions.some((one) => isSuppressed(one, match))) return null;
      if (!passesThresholds(thresholds, rule, threshold ?? rule.threshold, match)) return null;
      return rates.length === 0 ? rule.action : actionByRate(rates, rule, match);
    },
    replace: (next) => {
      entries = next;
      lines.clear();
    },
    size: thresholds.size,
    evicted: thresholds.evicted,
  };
}

function passesThresholds(thresholds: Thresholds, rule: Rule, threshold: Threshold | null, match: FilteredMatch): boolean {
  if (rule.detectionFilter !== null && !thresholds.filter(rule.detectionFilter, match)) return false;
  return threshold === null || thresholds.apply(threshold, match) === "alert";
}

function collect(entries: readonly ThresholdEntry[]): OperatorLines {
  return {
    suppressions: entries.filter((entry) => entry.kind === "suppress"), rates: entries.filter((entry) => entry.kind === "rate-filter"),
    threshold: entries.findLast((entry) => entry.kind === "threshold")?.threshold ?? null,
  };
}

function isSuppressed({ track, addresses }: Suppression, { from, to }: FilteredMatch): boolean {
  if (track === null || addresses === null) return true;
  return (track !== "destination" && holdsAddress(addresses, from)) || (track !== "source" && holdsAddress(addresses, to));
}
