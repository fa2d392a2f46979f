/** A whole rule against the buffers of one packet, stream or transaction. */

import type { Budget } from "@lanthorn/linear-regex";
import type { GroupRun } from "../matching/group-run.ts";
import { matchGroup } from "../matching/match-group.ts";
import type { BufferMatch, Dataset } from "../rules/buffer-match.ts";
import type { BufferGroup, Rule } from "../rules/rule.ts";

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

/**
 * Each group must match in one instance of its buffer. Numbers that one group keeps are known to those behind it.
 * @param budget For all groups together.
 */
export function matchRule({ buffers, variables }: RuleOfBytes, source: BufferSource, budget: Budget = { left: MAX_RULE_STEPS }): RuleOutcome {
  RUN.variables = variables.length === 0 ? NO_VARIABLES : new BigUint64Array(variables.length);
  RUN.isLittleEndian = source.isLittleEndian;
  RUN.budget = budget;
  RUN.source = source;
  RUN.decoded = decodedOf(buffers);
  let places: GroupPlace[] | null = null;
  for (let index = 0; index < buffers.length; index += 1) {
    const group = buffers[index] as BufferGroup;
    if (group.buffer === DECODED) continue;
    const place = placeOf(group, source, budget);
    if (budget.left <= 0) return GAVE_UP;
    if (place === null) return NOT_MATCHED;
    if (places === null) places = [place];
    else places.push(place);
  }
  return { outcome: "matched", places: places ?? [] };
}

/** What `base64-decode` decodes: matched where it is decoded. */
const DECODED = "base64_data";

function decodedOf(buffers: RuleOfBytes["buffers"]): readonly BufferMatch[] | null {
  for (let index = 0; index < buffers.length; index += 1) if (buffers[index]?.buffer === DECODED) return buffers[index]?.matches ?? null;
  return null;
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
  decoded: readonly BufferMatch[] | null = null;
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

function placeOf({ buffer, transforms, matches }: BufferGroup, source: BufferSource, budget: Budget): GroupPlace | null {
  const instances = source.instancesOf(buffer, transforms);
  if (instances.length === 0) return matches.some(({ kind }) => kind === "absent") ? { buffer, bytes: null, starts: [], ends: [] } : null;
  const count = matches.length;
  for (let index = 0; index < instances.length; index += 1) {
    const bytes = instances[index] as Uint8Array;
    RUN.begin(bytes, count);
    if (matchGroup(matches, RUN)) return { buffer, bytes, starts: RUN.starts.slice(0, count), ends: RUN.ends.slice(0, count) };
    if (budget.left <= 0) return null;
  }
  return null;
}
