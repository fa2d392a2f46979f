/** Tries the rules of a scope on bytes: those whose content is there, and those that have none. */

import type { RuleScope } from "../rule-base/rule-scope.ts";
import type { Evaluator } from "../inspect/evaluator.ts";
import { sortPlaces } from "./place-order.ts";

/** Which rules, on what. */
export interface ScopeWork {
  readonly evaluator: Evaluator;
  readonly scope: RuleScope;
  /** Empty for packets without payload. */
  readonly bytes: Uint8Array;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** Reused: an engine's work is one packet after the other. */
const found: number[] = [];

/** @param attempt Tries one rule. */
export function inspectScope({ evaluator, scope, bytes, sourcePort, destinationPort }: ScopeWork, attempt: (place: number) => void = (place) => evaluator.attempt(place)): void {
  if (scope.count === 0) return;
  found.length = 0;
  if (bytes.length > 0) {
    for (const filter of scope.filters) {
      if (filter.transforms.length > 0) collectTransformed(evaluator, scope, filter);
      else collect(scope, filter, bytes);
    }
  }
  const { others, byDestinationPort, bySourcePort } = scope.unfiled;
  const [to, from] = [byDestinationPort.get(destinationPort), bySourcePort.get(sourcePort)];
  if (found.length === 0 && to === undefined && from === undefined) {
    for (let at = 0; at < others.length; at += 1) attempt(others[at] as number);
    return;
  }
  addAll(others);
  if (to !== undefined) addAll(to);
  if (from !== undefined) addAll(from);
  sortPlaces(found);
  let before = -1;
  for (let at = 0; at < found.length; at += 1) {
    const place = found[at] as number;
    if (place !== before) attempt(place);
    before = place;
  }
}

function addAll(places: Uint32Array): void {
  for (let at = 0; at < places.length; at += 1) found.push(places[at] as number);
}

function collect(scope: RuleScope, filter: RuleScope["filters"][number], bytes: Uint8Array): void {
  const count = filter.find(bytes);
  for (let at = 0; at < count; at += 1) found.push(scope.filed[filter.found[at] as number] as number);
}

function collectTransformed({ subject }: Evaluator, scope: RuleScope, filter: RuleScope["filters"][number]): void {
  for (const bytes of subject.instancesOf(filter.buffer, filter.transforms)) collect(scope, filter, bytes);
}
