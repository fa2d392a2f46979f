/** A whole rule against the buffers of one packet, stream or transaction. */

import type { Budget } from "@lanthorn/linear-regex";
import { type CompiledGroup, compileGroup } from "../matching/compile-group.ts";
import type { GroupRun } from "../matching/group-run.ts";
import { matchGroup } from "../matching/match-group.ts";
import type { BufferGroup, Rule } from "../rules/rule.ts";

/** A group of a rule, ready to be matched. */
interface RunnableGroup {
  readonly buffer: BufferGroup["buffer"];
  readonly transforms: BufferGroup["transforms"];
  readonly group: CompiledGroup;
  /** It matches where the buffer is not there. */
  readonly mayBeAbsent: boolean;
}

/** What a rule asks of bytes, ready to be matched. */
export interface RunnableRule {
  readonly groups: readonly RunnableGroup[];
  /** How many numbers its matches keep. */
  readonly variables: number;
}

/** Only what the bytes of a rule are about. */
export type RuleOfBytes = Pick<Rule, "buffers" | "variables">;

/** About 10 ms of work, of some 10 ns each, for all groups of one rule. */
export const MAX_RULE_STEPS = 1_000_000;

/** The bytes that are inspected. */
export interface BufferSource extends Pick<GroupRun, "isLittleEndian" | "dataset"> {
  /** @returns Each instance of a buffer; none where it is not there. */
  instancesOf(buffer: BufferGroup["buffer"], transforms: BufferGroup["transforms"]): readonly Uint8Array[];
}

/** Where one group of a rule matched. */
export interface GroupPlace {
  readonly buffer: BufferGroup["buffer"];
  /** The instance that matched; `null` where it matched because there was none. */
  readonly bytes: Uint8Array | null;
  /** Where each of its contents and expressions begins and ends, by its index in the group; some have no place. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Whether a rule matched; `gave-up` where its work was too much, which is no match. */
export type RuleOutcome = { readonly outcome: "matched"; readonly places: readonly GroupPlace[] } | { readonly outcome: "not-matched" | "gave-up" };

/** Makes a rule ready; its expressions when they are come to. */
export function compileRule({ buffers, variables }: RuleOfBytes): RunnableRule {
  const decodedGroup = buffers.find(({ buffer }) => buffer === "base64_data");
  const decoded = decodedGroup ? compileGroup(decodedGroup.matches) : null;
  const groups: RunnableGroup[] = [];
  for (const { buffer, transforms, matches } of buffers) {
    if (buffer === "base64_data") continue;
    groups.push({ buffer, transforms, group: compileGroup(matches, decoded), mayBeAbsent: matches.some(({ kind }) => kind === "absent") });
  }
  return { groups, variables: variables.length };
}

/**
 * Each group must match in one instance of its buffer. Numbers that one group keeps are known to those behind it.
 * @param budget For all groups together.
 */
export function matchRule(rule: RunnableRule, source: BufferSource, budget: Budget = { left: MAX_RULE_STEPS }): RuleOutcome {
  const variables = rule.variables === 0 ? NO_VARIABLES : new BigUint64Array(rule.variables);
  const places: GroupPlace[] = [];
  for (const one of rule.groups) {
    const place = placeOf(one, source, { variables, budget });
    if (budget.left <= 0) return { outcome: "gave-up" };
    if (place === null) return { outcome: "not-matched" };
    places.push(place);
  }
  return { outcome: "matched", places };
}

const NO_VARIABLES = new BigUint64Array(0);

function placeOf(one: RunnableGroup, source: BufferSource, kept: Pick<GroupRun, "variables" | "budget">): GroupPlace | null {
  const instances = source.instancesOf(one.buffer, one.transforms);
  if (instances.length === 0) return one.mayBeAbsent ? { buffer: one.buffer, bytes: null, starts: [], ends: [] } : null;
  for (const bytes of instances) {
    const run: GroupRun = { buffer: bytes, variables: kept.variables, isLittleEndian: source.isLittleEndian, budget: kept.budget, dataset: source.dataset, starts: [], ends: [] };
    if (matchGroup(one.group, run)) return { buffer: one.buffer, bytes, starts: run.starts, ends: run.ends };
    if (kept.budget.left <= 0) return null;
  }
  return null;
}
