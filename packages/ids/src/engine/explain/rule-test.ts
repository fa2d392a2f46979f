/**
 * One rule against one capture: whether it matches, and if not, which part of it does not. The engine itself says so: it runs the rule
 * together with rules that ask for its first part alone, for the first two, and so on, and with rules that leave one part out.
 */

import { createCaptureReader, type Malformed } from "@lanthorn/packets";
import { createAnalyzer } from "@lanthorn/traffic";
import { APPLICATIONS } from "../../applications/table.ts";
import type { Refusal } from "../../rules/parse-rule.ts";
import type { Rule } from "../../rules/rule.ts";
import { parseRules, type RuleSetOptions } from "../../rules/rule-set.ts";
import { readLines } from "../../rules/text/lines.ts";
import { splitRule } from "../../rules/text/options.ts";
import type { IdsAlert } from "../alert.ts";
import { createIds, type Ids } from "../ids.ts";
import { buildRuleBase, type RuleBase } from "../rule-base/rule-base.ts";
import { partsOf, type RulePart, ruleWith } from "./rule-parts.ts";

/** A part of the rule and what the capture has of it. */
export interface TestedPart extends Pick<RulePart, "kind" | "text" | "buffer"> {
  /** How often it and all before it matched: packets, chunks of streams, transactions. */
  readonly matches: number;
}

/** The part that did not match. */
export interface MissedPart extends Pick<RulePart, "kind" | "text" | "buffer"> {
  /** Whether the rule matches without it; `null` where it cannot be left out alone, as behind a content others count from it. */
  readonly matchesWithout: boolean | null;
  /** The first place in the capture that has all parts before it; `null` where it is the first part. */
  readonly candidate: IdsAlert | null;
}

/** What a capture says of a rule. */
export interface RuleTested {
  readonly rule: Rule;
  /** Without regard to thresholds. */
  readonly matches: number;
  /** What it would alert; less than `matches` by its thresholds, or as it is of `noalert`. */
  readonly alerts: number;
  /** The first `MAX_SHOWN_MATCHES` of `matches`. */
  readonly shown: readonly IdsAlert[];
  /** Most of a rule that matched have been found; those of one that did not, up to the one that is missed. */
  readonly parts: readonly TestedPart[];
  /** `null` where it gives an alert. */
  readonly missed: MissedPart | null;
  readonly frames: number;
  /** Why the capture was not read to its end; `null` where it was. */
  readonly problem: string | null;
  /** Flowbits and the like that it asks for, and that none of the rules sets. */
  readonly unsetBits: readonly string[];
  /** Of the rules before it. */
  readonly refusals: readonly Refusal[];
}

/** A test that takes a capture. */
export interface RuleTest {
  /** Takes bytes of a pcap or pcapng file in their order. @returns False behind what cannot be read: no more is needed. */
  push(bytes: Uint8Array): boolean;
  /** The capture is over; call it once. */
  end(): RuleTested;
}

/** A test, or why the rule cannot be run. */
export type RuleTestOpening = { readonly ok: true; readonly test: RuleTest } | { readonly ok: false; readonly refusal: Refusal };

/** Enough to see which ones. */
export const MAX_SHOWN_MATCHES = 20;

/** In which the rule is told from those that are made of it. */
const GID = 2_000_000;

/**
 * @param text Rules as published. The last is tested; those before it run too, so that bits are set that it asks for.
 * @param random From 0 to below 1.
 */
export function openRuleTest(text: Uint8Array, options: RuleSetOptions, random: () => number): RuleTestOpening {
  const { rules, refusals, unmet, unsetBits } = parseRules(text, options);
  const last = [...readLines(text)].at(-1);
  const rule = rules.find(({ line }) => line === last?.number);
  const none: Refusal = { line: 1, id: null, gid: 1, keyword: "rule", reason: "there is no rule in the text" };
  if (!rule) return { ok: false, refusal: [...refusals, ...unmet].findLast(({ line }) => line === last?.number) ?? none };
  const header = splitRule(last?.text ?? "");
  const parts = partsOf(rule, header.ok ? header.header : []);
  const run = createRun(rule, parts, rules.filter((other) => other !== rule));
  const refused = run.base.refusals.find(({ id, gid }) => id === rule.id && gid === rule.gid);
  if (refused) return { ok: false, refusal: refused };
  const unset = unsetBits.filter(({ ids }) => ids.includes(rule.id)).map(({ name }) => name);
  return { ok: true, test: createTest(run, { random, unsetBits: unset, refusals: [...refusals, ...unmet, ...run.base.refusals.filter(({ gid }) => gid !== GID)] }) };
}

/** What is counted of one rule that was made. */
interface Tally {
  count: number;
  first: IdsAlert | null;
}

interface Run {
  readonly rule: Rule;
  readonly parts: readonly RulePart[];
  readonly base: RuleBase;
  /** The rule as it is, but that it alerts, and without thresholds. */
  readonly whole: Tally;
  /** With thresholds. */
  readonly alerts: Tally;
  readonly shown: IdsAlert[];
  /** By part: the rule up to it. */
  readonly upTo: readonly Tally[];
  /** By part: the rule without it; `null` where it cannot be left out. */
  readonly without: readonly (Tally | null)[];
  readonly onAlert: (alert: IdsAlert) => void;
}

function createRun(rule: Rule, parts: readonly RulePart[], others: readonly Rule[]): Run {
  const tallies = new Map<Rule, Tally>();
  const add = (made: Rule): Tally => {
    const tally: Tally = { count: 0, first: null };
    tallies.set({ ...made, gid: GID, id: tallies.size + 1 }, tally);
    return tally;
  };
  const isLimit = ({ kind }: RulePart) => kind === "threshold";
  const bytes = parts.filter((part) => !isLimit(part));
  // It changes what is remembered as it does in earnest.
  const whole = add({ ...rule, action: "alert", noAlert: false, threshold: null, detectionFilter: null });
  const alerts = add(ruleWith(rule, parts));
  const upTo = parts.map((_, index) => add(ruleWith(rule, parts.slice(0, index + 1))));
  const without = parts.map((part) => (part.isApart ? add(ruleWith(rule, (isLimit(part) ? parts : bytes).filter((other) => other !== part))) : null));
  const shown: IdsAlert[] = [];
  const steps = buildRuleBase([...others, rule, ...tallies.keys()], APPLICATIONS);
  for (;;) {
    const step = steps.next();
    if (!step.done) continue;
    return {
      rule, parts, base: step.value, whole, alerts, shown, upTo, without,
      onAlert: (alert) => {
        const tally = tallies.get(alert.rule);
        if (!tally) return;
        tally.count += 1;
        tally.first ??= alert;
        if (tally === whole && shown.length < MAX_SHOWN_MATCHES) shown.push(alert);
      },
    };
  }
}

function createTest(run: Run, { random, ...known }: { readonly random: () => number; readonly unsetBits: readonly string[]; readonly refusals: readonly Refusal[] }): RuleTest {
  const ids: Ids = createIds({ base: run.base, onAlert: run.onAlert, limits: TEST_LIMITS });
  const analyzer = createAnalyzer({ random, onFlow: () => {}, onMessage: null, watch: ids.watch });
  const reader = createCaptureReader();
  let problem: string | null = null;
  return {
    push(bytes) {
      if (problem !== null) return false;
      const { records, malformed } = reader.push(bytes);
      for (const { bytes: frame, originalLength, seconds, nanoseconds, linkType } of records) analyzer.frame(frame, originalLength, seconds * 1e6 + Math.floor(nanoseconds / 1000), linkType);
      problem = describeProblem(malformed);
      return problem === null;
    },
    end() {
      problem ??= describeProblem(reader.end());
      analyzer.flush();
      return { ...resultOf(run), ...known, frames: analyzer.counters().frames, problem };
    },
  };
}

/** Many rules are made of one: a packet may take their work together. */
const TEST_LIMITS = { stepsPerPacket: 50_000_000 };

function resultOf({ rule, parts, whole, alerts, shown, upTo, without }: Run): Pick<RuleTested, "rule" | "matches" | "alerts" | "shown" | "parts" | "missed"> {
  const tested = parts.map(({ kind, text, buffer }, index) => ({ kind, text, buffer, matches: upTo[index]?.count ?? 0 }));
  const matches = whole.count;
  const isWhole = matches > 0 && (alerts.count > 0 || !parts.some(({ kind }) => kind === "threshold"));
  const result = { rule, matches, alerts: rule.noAlert || rule.action === "pass" ? 0 : Math.min(alerts.count === 0 ? matches : alerts.count, matches), shown, parts: tested };
  if (isWhole) return { ...result, missed: null };
  // Behind the farthest part that matched with all before it.
  const at = Math.min(tested.findLastIndex((part) => part.matches > 0) + 1, parts.length - 1);
  const part = parts[at];
  if (!part) return { ...result, missed: null };
  const other = without[at];
  return {
    ...result, alerts: 0, missed: { kind: part.kind, text: part.text, buffer: part.buffer, matchesWithout: other ? other.count > 0 : null, candidate: upTo[at - 1]?.first ?? null },
  };
}

function describeProblem(malformed: Malformed | null): string | null {
  if (malformed === null) return null;
  if (malformed.layer === "capture-file") return "it is no pcap or pcapng file";
  return malformed.code === "truncated" ? `it is cut off at byte ${malformed.offset}` : `${malformed.layer} makes no sense at byte ${malformed.offset}`;
}
