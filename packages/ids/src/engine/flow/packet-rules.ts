/** Which rules of a scope bytes may match: those whose content is there, and those that have none. */

import type { Evaluator } from "../inspect/evaluator.ts";
import type { RuleScope } from "../rule-base/rule-scope.ts";
import { sortPlaces } from "./place-order.ts";

/** Reused: an engine's work is one packet after the other. */
const found: number[] = [];
const NO_PLACES: readonly number[] = [];

/**
 * @param evaluator Its subject's flow and direction say which ports the bytes go from and to.
 * @param bytes Empty for packets without payload.
 * @returns Places of rules in their order, each once; good until the next call.
 */
export function findPlaces(evaluator: Evaluator, scope: RuleScope, bytes: Uint8Array): ArrayLike<number> {
  const { flow, direction } = evaluator.subject;
  if (scope.count === 0 || flow === null) return NO_PLACES;
  found.length = 0;
  if (bytes.length > 0) {
    for (const filter of scope.filters) {
      if (filter.transforms.length > 0) collectTransformed(evaluator, scope, filter);
      else collect(scope, filter, bytes);
    }
  }
  const isToServer = direction === "to-server";
  const { others, byDestinationPort, bySourcePort } = scope.unfiled;
  const to = byDestinationPort.get(isToServer ? flow.server.port : flow.client.port);
  const from = bySourcePort.get(isToServer ? flow.client.port : flow.server.port);
  if (found.length === 0 && to === undefined && from === undefined) return others;
  addAll(others);
  if (to !== undefined) addAll(to);
  if (from !== undefined) addAll(from);
  sortPlaces(found);
  return eachOnce(found);
}

/** Tries them all. */
export function attemptScope(evaluator: Evaluator, scope: RuleScope, bytes: Uint8Array): void {
  const places = findPlaces(evaluator, scope, bytes);
  for (let at = 0; at < places.length; at += 1) evaluator.attempt(places[at] as number);
}

function addAll(places: Uint32Array): void {
  for (let at = 0; at < places.length; at += 1) found.push(places[at] as number);
}

function eachOnce(sorted: number[]): readonly number[] {
  let kept = 0;
  for (let at = 0; at < sorted.length; at += 1) {
    if (at > 0 && sorted[at] === sorted[kept - 1]) continue;
    sorted[kept] = sorted[at] as number;
    kept += 1;
  }
  sorted.length = kept;
  return sorted;
}

function collect(scope: RuleScope, filter: RuleScope["filters"][number], bytes: Uint8Array): void {
  const count = filter.find(bytes);
  for (let at = 0; at < count; at += 1) found.push(scope.filed[filter.found[at] as number] as number);
}

function collectTransformed({ subject }: Evaluator, scope: RuleScope, filter: RuleScope["filters"][number]): void {
  for (const bytes of subject.instancesOf(filter.buffer, filter.transforms)) collect(scope, filter, bytes);
}
