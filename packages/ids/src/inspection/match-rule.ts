/** A whole rule against the buffers of one packet, stream or transaction. */

import type { Budget } from "@lanthorn/linear-regex";
import { type CompiledGroup, compileGroup } from "../matching/compile-group.ts";
import type { GroupRun } from "../matching/group-run.ts";
import { matchGroup } from "../matching/match-group.ts";
import type { Dataset } from "../rules/buffer-match.ts";
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
  /** Where each of its contents and expressions begins and ends, by its index in the group; -1 for what has no place. */
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
  RUN.variables = rule.variables === 0 ? NO_VARIABLES : new BigUint64Array(rule.variables);
  RUN.isLittleEndian = source.isLittleEndian;
  RUN.budget = budget;
  RUN.source = source;
  let places: GroupPlace[] | null = null;
  for (let index = 0; index < rule.groups.length; index += 1) {
    const place = placeOf(rule.groups[index] as RunnableGroup, source, budget);
    if (budget.left <= 0) return GAVE_UP;
    if (place === null) return NOT_MATCHED;
    if (places === null) places = [place];
    else places.push(place);
  }
  return { outcome: "matched", places: places ?? [] };
}

const NO_VARIABLES = new BigUint64Array(0);
const NO_BYTES = new Uint8Array(0);
const GAVE_UP: RuleOutcome = { outcome: "gave-up" };
const NOT_MATCHED: RuleOutcome = { outcome: "not-matched" };

class Run implements GroupRun {
  buffer: Uint8Array = NO_BYTES;
  variables = NO_VARIABLES;
  isLittleEndian = false;
  budget: Budget = { left: 0 };
  source: BufferSource | null = null;
  readonly starts: number[] = [];
  readonly ends: number[] = [];

  dataset(dataset: Dataset, bytes: Uint8Array): boolean {
    return this.source?.dataset(dataset, bytes) ?? false;
  }

  /** Another buffer of so many matches. */
  begin(buffer: Uint8Array, matches: number): void {
    this.buffer = buffer;
    for (let index = 0; index < matches; index += 1) {
      this.starts[index] = -1;
      this.ends[index] = -1;
    }
  }
}

/** Filled anew for each rule: most do not match, and one rule is over before the next begins. */
const RUN = new Run();

function placeOf({ buffer, transforms, group, mayBeAbsent }: RunnableGroup, source: BufferSource, budget: Budget): GroupPlace | null {
  const instances = source.instancesOf(buffer, transforms);
  if (instances.length === 0) return mayBeAbsent ? { buffer, bytes: null, starts: [], ends: [] } : null;
  const matches = group.steps.length;
  for (let index = 0; index < instances.length; index += 1) {
    const bytes = instances[index] as Uint8Array;
    RUN.begin(bytes, matches);
    if (matchGroup(group, RUN)) return { buffer, bytes, starts: RUN.starts.slice(0, matches), ends: RUN.ends.slice(0, matches) };
    if (budget.left <= 0) return null;
  }
  return null;
}
