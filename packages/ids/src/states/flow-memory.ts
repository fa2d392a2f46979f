/** `flowbits` and `flowint`: what rules remember with a flow. */

import { compare } from "../matching/test-number.ts";
import type { FlowBit, FlowNumber } from "../rules/state-condition.ts";

/** What is remembered with one flow; made when a rule first sets something. Names come from rules alone, so that rules bound it. */
export interface FlowMemory {
  readonly bits: Set<string>;
  readonly numbers: Map<string, number>;
}

/** @returns A memory that knows nothing. */
export function createFlowMemory(): FlowMemory {
  return { bits: new Set(), numbers: new Map() };
}

/** @returns Whether what the rule asks holds; true for what changes something. */
export function holdsFlowBit({ operation, names }: FlowBit, memory: FlowMemory | null): boolean {
  const isSet = names.some((name) => memory?.bits.has(name));
  if (operation === "is-set") return isSet;
  // Of several names, one that is not set is enough.
  if (operation === "is-not-set") return names.some((name) => !memory?.bits.has(name));
  return true;
}

/** Does what the rule says once all of it matched. */
export function changeFlowBit({ operation, names }: FlowBit, { bits }: FlowMemory): void {
  for (const name of names) {
    if (operation === "set" || (operation === "toggle" && !bits.has(name))) bits.add(name);
    else if (operation === "unset" || operation === "toggle") bits.delete(name);
  }
}

/** @returns Whether what the rule asks holds; true for what changes something. A number that is not set compares with nothing. */
export function holdsFlowNumber(condition: FlowNumber, memory: FlowMemory | null): boolean {
  const number = memory?.numbers.get(condition.name);
  const { operation } = condition;
  if (operation === "is-set") return number !== undefined;
  if (operation === "is-not-set") return number === undefined;
  if (operation === "set" || operation === "add" || operation === "subtract") return true;
  return number !== undefined && compare(operation, number, operandOf(condition, memory));
}

/** Does what the rule says once all of it matched. Numbers are of 32 bits, and wrap; what is not set is 0, but nothing is taken from it. */
export function changeFlowNumber(condition: FlowNumber, memory: FlowMemory): void {
  const { name, operation } = condition;
  const value = operandOf(condition, memory);
  const number = memory.numbers.get(name);
  if (operation === "set") memory.numbers.set(name, value >>> 0);
  if (operation === "add") memory.numbers.set(name, ((number ?? 0) + value) >>> 0);
  if (operation === "subtract" && number !== undefined) memory.numbers.set(name, (number - value) >>> 0);
}

function operandOf({ value }: FlowNumber, memory: FlowMemory | null): number {
  return typeof value === "string" ? memory?.numbers.get(value) ?? 0 : value ?? 0;
}
