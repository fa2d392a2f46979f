/**
 * One rule against one capture: whether it matches, and if not, which part of it does not. The engine itself says so: it runs the rule
 * together with rules that ask for its first part alone, for the first two, and so on, and with rules that leave one part out.
 */

import { createCaptureReader, type Malformed } from "@lanthorn/packets";
import { createAnalyzer } from "@lanthorn/traffic";
import { findRefusedExpression } from "../../expressions/refused-expression.ts";
import type { Refusal } from "../../rules/parse-rule.ts";
import type { Rule } from "../../rules/rule.ts";
import { parseRules, type RuleSetOptions } from "../../rules/rule-set.ts";
import { readLines } from "../../rules/text/lines.ts";
import { splitRule } from "../../rules/text/options.ts";
import type { IdsAlert } from "../alert.ts";
import { createIds, type Ids } from "../ids.ts";
import { partsOf, type RulePart } from "./rule-parts.ts";
import { createRuleRun, MADE_GID, type PartTally, type RuleRun } from "./rule-run.ts";

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
  /** What it would alert: less than `matches` by its thresholds, none of `pass` and `noalert`. */
  readonly alerts: number;
  /** The first `MAX_SHOWN_MATCHES` of `matches`. */
  readonly shown: readonly IdsAlert[];
  /** In the order in which a person looks at them. */
  readonly parts: readonly TestedPart[];
  /** `null` where it matches and its thresholds let it through. */
  readonly missed: MissedPart | null;
  readonly frames: number;
  /** Why the capture was not read to its end; `null` where it was. */
  readonly problem: string | null;
  /** Some rules gave up at their bound of work, so that a match may be missing. */
  readonly gaveUp: boolean;
  /** Flowbits and the like that it asks for, and that none of the rules sets. */
  readonly unsetBits: readonly string[];
  /** Of the rules before it; at most `MAX_SHOWN_REFUSALS`. */
  readonly refusals: readonly Refusal[];
}

/** A test that takes a capture. */
export interface RuleTest {
  /** Takes bytes of a pcap or pcapng file in their order. @returns False where no more is needed: behind what cannot be read, and when time is over. */
  push(bytes: Uint8Array): boolean;
  /** The capture is over; call it once. */
  end(): RuleTested;
}

/** A test, or why the rule cannot be run. */
export type RuleTestOpening = { readonly ok: true; readonly test: RuleTest } | { readonly ok: false; readonly refusal: Refusal };

/** What a test is made with. */
export interface RuleTestOptions extends RuleSetOptions {
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Asked at each frame: whether the rest of the capture is to be left out. */
  readonly isOver: () => boolean;
}

/** Enough to see which ones. */
export const MAX_SHOWN_MATCHES = 20;
/** The same of rules beside it that are refused. */
export const MAX_SHOWN_REFUSALS = 50;

/** @param text Rules as published. The last is tested; those before it run too, so that bits are set that it asks for. */
export function openRuleTest(text: Uint8Array, options: RuleTestOptions): RuleTestOpening {
  const { rules, refusals, unmet, unsetBits } = parseRules(text, options);
  const last = [...readLines(text)].at(-1);
  const rule = rules.find(({ line }) => line === last?.number);
  const none: Refusal = { line: 1, id: null, gid: 1, keyword: "rule", reason: "there is no rule in the text" };
  if (!rule) return { ok: false, refusal: [...refusals, ...unmet].findLast(({ line }) => line === last?.number) ?? none };
  const refusal = findRefusedExpression(rule);
  if (refusal) return { ok: false, refusal };
  const header = splitRule(last?.text ?? "");
  const run = createRuleRun(rule, partsOf(rule, header.ok ? header.header : []), rules.filter((other) => other !== rule), MAX_SHOWN_MATCHES);
  const refused = run.base.refusals.find(({ gid, id }) => gid === MADE_GID && id === 1);
  if (refused) return { ok: false, refusal: { ...refused, id: rule.id, gid: rule.gid } };
  const beside = [...refusals, ...unmet, ...run.base.refusals.filter(({ gid }) => gid !== MADE_GID)].slice(0, MAX_SHOWN_REFUSALS);
  return { ok: true, test: createTest(rule, run, options, { unsetBits: unsetBits.filter(({ ids }) => ids.includes(rule.id)).map(({ name }) => name), refusals: beside }) };
}

function createTest(rule: Rule, run: RuleRun, { random, isOver }: RuleTestOptions, known: Pick<RuleTested, "unsetBits" | "refusals">): RuleTest {
  const ids: Ids = createIds({ base: run.base, onAlert: run.onAlert, limits: TEST_LIMITS });
  const analyzer = createAnalyzer({ random, onFlow: () => {}, onMessage: null, watch: ids.watch });
  const reader = createCaptureReader();
  let problem: string | null = null;
  return {
    push(bytes) {
      if (problem !== null) return false;
      const { records, malformed } = reader.push(bytes);
      for (const { bytes: frame, originalLength, seconds, nanoseconds, linkType } of records) {
        if (isOver()) {
          problem = `the time is over: what comes behind frame ${analyzer.counters().frames} was not looked at`;
          return false;
        }
        analyzer.frame(frame, originalLength, seconds * 1e6 + Math.floor(nanoseconds / 1000), linkType);
      }
      problem = describeProblem(malformed);
      return problem === null;
    },
    end() {
      problem ??= describeProblem(reader.end());
      analyzer.flush();
      const { shed, gaveUp } = ids.counters();
      return { rule, ...resultOf(rule, run), ...known, frames: analyzer.counters().frames, problem, gaveUp: shed + gaveUp > 0 };
    },
  };
}

/** Many rules are made of one: a packet may take their work together. */
const TEST_LIMITS = { stepsPerPacket: 10_000_000 };

function resultOf(rule: Rule, { whole, alerts, shown, parts: tallies }: RuleRun): Pick<RuleTested, "matches" | "alerts" | "shown" | "parts" | "missed"> {
  const matches = whole.count;
  const isSilent = rule.noAlert || rule.action === "pass";
  // What matches whole matches in part, though what it changed may keep its parts from matching after it.
  const parts = tallies.map(({ part, upTo }): TestedPart => ({ ...shownPart(part), matches: part.kind === "threshold" ? upTo.count : Math.max(upTo.count, matches) }));
  return { matches, alerts: isSilent ? 0 : alerts.count, shown, parts, missed: matches > 0 && (alerts.count > 0 || isSilent) ? null : missedOf(tallies, matches > 0) };
}

/** The part without which the rule matches, else the one behind the farthest that matched with all before it. @param isLimited All but thresholds matched. */
function missedOf(tallies: RuleRun["parts"], isLimited: boolean): MissedPart | null {
  const own = tallies.map((tally, index) => ({ ...tally, before: tallies[index - 1] })).filter(({ part }) => (part.kind === "threshold") === isLimited);
  const farthest = own.find((_, index) => own.slice(index).every(({ upTo }) => upTo.count === 0)) ?? own.at(-1);
  const matchesWithout = (one: PartTally | undefined) => one?.without !== null && (one?.without.count ?? 0) > 0;
  const missed = matchesWithout(farthest) ? farthest : (own.findLast(matchesWithout) ?? farthest);
  return missed ? { ...shownPart(missed.part), matchesWithout: missed.without && missed.without.count > 0, candidate: missed.before?.upTo.first ?? null } : null;
}

function shownPart({ kind, text, buffer }: RulePart): Pick<RulePart, "kind" | "text" | "buffer"> {
  return { kind, text: text.length > MAX_PART_TEXT ? `${text.slice(0, MAX_PART_TEXT)}…` : text, buffer };
}

const MAX_PART_TEXT = 512;

function describeProblem(malformed: Malformed | null): string | null {
  if (malformed === null) return null;
  if (malformed.layer === "capture-file") return "it is no pcap or pcapng file";
  return malformed.code === "truncated" ? `it is cut off at byte ${malformed.offset}` : `${malformed.layer} makes no sense at byte ${malformed.offset}`;
}
