/** Which bits rules ask for that no rule ever sets, so that they never match. */

import type { Rule } from "./rule.ts";

/** A bit that is asked for in vain. */
export interface UnsetBit {
  readonly kind: "flow-bit" | "host-bit" | "flow-number";
  readonly name: string;
  /** Ids of the rules that ask for it; at most `MAX_IDS`. */
  readonly ids: readonly number[];
}

const MAX_IDS = 100;

/** @returns In the order in which rules first ask. */
export function censusOf(rules: readonly Rule[]): readonly UnsetBit[] {
  const set = new Set<string>();
  const asked = new Map<string, { readonly kind: UnsetBit["kind"]; readonly name: string; readonly ids: number[] }>();
  const askFor = (kind: UnsetBit["kind"], name: string, id: number) => {
    const key = `${kind} ${name}`;
    const row = asked.get(key) ?? { kind, name, ids: [] };
    if (row.ids.length < MAX_IDS && row.ids.at(-1) !== id) row.ids.push(id);
    asked.set(key, row);
  };
  for (const { id, states } of rules) {
    for (const state of states) {
      const names = state.kind === "flow-bit" ? state.names : [state.name];
      if (["set", "toggle", "add", "subtract"].includes(state.operation)) for (const name of names) set.add(`${state.kind} ${name}`);
      if (state.operation === "is-set") for (const name of names) askFor(state.kind, name, id);
    }
  }
  return [...asked].filter(([key]) => !set.has(key)).map(([, row]) => row);
}
