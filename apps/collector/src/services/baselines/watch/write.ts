import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Appended, EventLog, NewEvent } from "../../../events/log.ts";
import { differenceEvent, type DifferencePlace } from "../differences/events.ts";
import type { Transition } from "../differences/transition.ts";
import { type BaselineRow, type BaselineState, setBaselines } from "../store/baselines.ts";
import { addDifferences, type DifferenceRow, setDifferences } from "../store/differences.ts";
import { putFacts, removeFacts } from "../store/facts.ts";
import type { FactChanges } from "./learn.ts";

/** All that comparisons of one tenant have changed. */
export interface Changes {
  readonly states: readonly BaselineState[];
  readonly facts: readonly FactChanges[];
  readonly differences: readonly Transition[];
  /** Beside the differences. */
  readonly events: readonly NewEvent[];
}

/** Writes changes, and publishes what is to be reported of them. @returns Where in the log; null where nothing is reported. */
export async function writeChanges(
  trx: Transaction<Schema>, log: Pick<EventLog, "append">, tenantId: string, changes: Changes,
  { at, placeOf, baselineAt }: {
    readonly at: string; readonly placeOf: (row: DifferenceRow) => DifferencePlace; readonly baselineAt: (row: DifferenceRow) => string;
  },
): Promise<Appended | null> {
  const { facts, differences } = changes;
  await setBaselines(trx, changes.states);
  await removeFacts(trx, [...facts.flatMap(({ remove }) => remove), ...differences.flatMap(({ dropped }) => dropped)]);
  // A window's word is the last one on a fact.
  const taken = differences.flatMap((one) => one.taken);
  const isTaken = new Set(taken.map(({ baseline_id: id, kind, key }) => `${id} ${kind} ${key}`));
  const learned = facts.flatMap(({ put }) => put).filter(({ baseline_id: id, kind, key }) => !isTaken.has(`${id} ${kind} ${key}`));
  await putFacts(trx, [...learned, ...taken]);
  await setDifferences(trx, differences.flatMap(({ changed }) => changed));
  await addDifferences(trx, differences.flatMap(({ added }) => added));
  const events = [
    ...differences.flatMap(({ published }) => published).map((row) => differenceEvent(row, placeOf(row), { at, baselineAt: baselineAt(row) })),
    ...changes.events,
  ];
  return events.length === 0 ? null : log.append(trx, tenantId, events);
}

/** When a baseline was taken: when somebody approved it, else when it was learned. */
export function takenAt({ approved_at: approved, learned_at: learned, created_at: created }: BaselineRow): string {
  return approved ?? learned ?? created;
}
