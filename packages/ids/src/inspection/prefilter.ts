/** Which of many rules a buffer may match: those whose chosen content it holds. */

import { createPatternSetSteps, type Pattern, type PatternSet } from "../patterns/pattern-set.ts";
import type { BufferGroup, Rule } from "../rules/rule.ts";
import { choosePattern } from "./choose-pattern.ts";

/** Rules that are filed under contents of one buffer, with its transforms. */
export interface BufferPrefilter {
  readonly buffer: BufferGroup["buffer"];
  readonly transforms: BufferGroup["transforms"];
  /** @returns How many rules may match; their places in the list of rules are the first of `found`, each once, until the next call. */
  find(bytes: Uint8Array): number;
  readonly found: Uint32Array;
  /** Bytes of memory of its tables. */
  readonly size: number;
  readonly patterns: number;
}

/** All rules, filed. */
export interface Prefilters {
  readonly buffers: readonly BufferPrefilter[];
  /** Places of the rules that no content stands for; all of these are tried. */
  readonly unfiled: readonly number[];
}

/** Only what a prefilter needs of a rule. */
export type FiledRule = Pick<Rule, "buffers" | "fastPattern">;

/** @param rules Their places in this list name them. */
export function createPrefilters(rules: readonly FiledRule[]): Prefilters {
  const steps = createPrefilterSteps(rules);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Rules that are filed in one step. */
const RULES_A_STEP = 250;

/** The same in small steps: what it returns at its end are the prefilters. */
export function* createPrefilterSteps(rules: readonly FiledRule[]): Generator<undefined, Prefilters> {
  const buffers = new Map<string, Filing>();
  const unfiled: number[] = [];
  for (const [index, rule] of rules.entries()) {
    if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
    const chosen = choosePattern(rule);
    const group = chosen && rule.buffers[chosen.group];
    if (!chosen || !group) {
      unfiled.push(index);
      continue;
    }
    const key = bufferKey(group);
    const filing = buffers.get(key) ?? { group, rules: new Map() };
    buffers.set(key, filing);
    const pattern = patternKey(chosen.pattern);
    const same = filing.rules.get(pattern);
    if (same) same.rules.push(index);
    else filing.rules.set(pattern, { pattern: chosen.pattern, rules: [index] });
  }
  const created: BufferPrefilter[] = [];
  for (const filing of buffers.values()) created.push(yield* createBufferPrefilter(filing));
  return { buffers: created, unfiled };
}

interface Filing {
  readonly group: BufferGroup;
  readonly rules: Map<string, { readonly pattern: Pattern; readonly rules: number[] }>;
}

function bufferKey({ buffer, transforms }: BufferGroup): string {
  return transforms.length === 0 ? buffer : `${buffer} ${JSON.stringify(transforms)}`;
}

function patternKey({ bytes, ignoreCase, offset, depth, endsWith }: Pattern): string {
  return `${Number(ignoreCase)} ${offset} ${depth} ${Number(endsWith)} ${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")}`;
}

function* createBufferPrefilter({ group, rules }: Filing): Generator<undefined, BufferPrefilter> {
  const filed = [...rules.values()];
  const set = yield* createPatternSetSteps(filed.map(({ pattern }) => pattern));
  yield;
  const starts = new Uint32Array(filed.length + 1);
  for (let index = 0; index < filed.length; index += 1) starts[index + 1] = (starts[index] ?? 0) + (filed[index]?.rules.length ?? 0);
  const all = new Uint32Array(starts[filed.length] ?? 0);
  for (let index = 0; index < filed.length; index += 1) all.set(filed[index]?.rules ?? [], starts[index]);
  yield;
  const found = new Uint32Array(all.length);
  return {
    buffer: group.buffer,
    transforms: group.transforms,
    find: (bytes) => rulesOf(set, set.find(bytes), { starts, all, found }),
    found,
    size: set.size + starts.byteLength + all.byteLength + found.byteLength,
    patterns: filed.length,
  };
}

interface RuleLists {
  readonly starts: Uint32Array;
  readonly all: Uint32Array;
  readonly found: Uint32Array;
}

function rulesOf(set: PatternSet, patterns: number, { starts, all, found }: RuleLists): number {
  let count = 0;
  for (let index = 0; index < patterns; index += 1) {
    const pattern = set.found[index] ?? 0;
    const end = starts[pattern + 1] ?? 0;
    for (let at = starts[pattern] ?? 0; at < end; at += 1) {
      found[count] = all[at] ?? 0;
      count += 1;
    }
  }
  return count;
}
