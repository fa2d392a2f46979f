/** Which bits rules ask for that no rule ever sets, so that they never match. */

import type { Rule } from "./rule.ts";
import type { StateCondition } from "./state-condition.ts";

/** A bit that is asked for in vain. */
export interface UnsetBit {
  readonly kind: "flow-bit" | "host-bit" | "flow-number";
  readonly name: string;
  /** Ids of the rules that ask for it; at most `MAX_IDS`. */
  readonly ids: readonly number[];
}

const MAX_IDS = 100;
/** Bits that are named; a file of nothing but bits must not take more memory than its rules do. */
export const MAX_UNSET_BITS = 1000;

/** Names that are looked at in one step. */
const NAMES_A_STEP = 2000;

type Kind = UnsetBit["kind"];
type Row = { readonly kind: Kind; readonly name: string; readonly ids: number[] };

/** @returns The first `MAX_UNSET_BITS`, in the order in which rules first ask; in small steps. */
export function* censusSteps(rules: readonly Rule[]): Generator<void, readonly UnsetBit[], void> {
  const set = yield* findSet(rules);
  const rows = new Map<string, Row>();
  let work = 0;
  for (const { id, states } of rules) {
    for (const state of states) {
      const names = state.operation === "is-set" ? namesOf(state) : NONE;
      for (const name of names) if (!set[state.kind].has(name)) noteAsked(rows, { kind: state.kind, name, id });
      work += names.length;
    }
    work += 1;
    if (work >= NAMES_A_STEP) {
      work = 0;
      yield;
    }
  }
  return [...rows.values()];
}

const NONE: readonly string[] = [];
const SETS: ReadonlySet<string> = new Set(["set", "toggle", "add", "subtract"]);

function* findSet(rules: readonly Rule[]): Generator<void, Readonly<Record<Kind, ReadonlySet<string>>>, void> {
  const set = { "flow-bit": new Set<string>(), "host-bit": new Set<string>(), "flow-number": new Set<string>() };
  for (const [index, { states }] of rules.entries()) {
    if (index % NAMES_A_STEP === 0) yield;
    for (const state of states) if (SETS.has(state.operation)) for (const name of namesOf(state)) set[state.kind].add(name);
  }
  return set;
}

function namesOf(state: StateCondition): readonly string[] {
  return state.kind === "flow-bit" ? state.names : [state.name];
}

function noteAsked(rows: Map<string, Row>, { kind, name, id }: { readonly kind: Kind; readonly name: string; readonly id: number }): void {
  const key = `${kind} ${name}`;
  const row = rows.get(key) ?? { kind, name, ids: [] };
  if (row.ids.length === 0) {
    if (rows.size >= MAX_UNSET_BITS) return;
    rows.set(key, row);
  }
  if (row.ids.length < MAX_IDS && row.ids.at(-1) !== id) row.ids.push(id);
}
