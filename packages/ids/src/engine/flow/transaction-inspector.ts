/** Holds transactions against their rules as they come: each buffer is searched once it is there, each rule tried once all that it needs is. */

import { type Direction, STAGE_DONE, type Transaction } from "../../applications/application.ts";
import type { EngineRule } from "../rule-base/engine-rule.ts";
import type { RuleBase, RuleStages, TransactionScope } from "../rule-base/rule-base.ts";
import type { FlowContext } from "./context.ts";

/** What a transaction needs of its flow. */
export interface TransactionOwner {
  /** Makes the flow and a direction what rules are held against. */
  focus(direction: Direction): void;
  /** A message is whole: what came of the stream is looked at with it. */
  endMessage(direction: Direction): void;
}

/** How far one direction of a transaction has been looked at. */
interface Progress {
  base: RuleBase;
  /** By filter: bytes that were searched; -1 once all of it was. */
  searched: Float64Array;
  /** Rules that may match, by place. */
  candidates: number[];
  events: number;
  isOver: boolean;
}

interface TransactionProgress {
  readonly "to-server": Progress;
  readonly "to-client": Progress;
  /** Rules that have matched, by key and direction. */
  readonly matched: Set<string>;
}

const ALL_SEARCHED = -1;

/** The open transactions of one flow. */
export class TransactionInspector {
  readonly #context: FlowContext;
  readonly #owner: TransactionOwner;
  readonly #open = new Map<Transaction, TransactionProgress>();

  constructor(context: FlowContext, owner: TransactionOwner) {
    this.#context = context;
    this.#owner = owner;
  }

  change(transaction: Transaction, direction: Direction): void {
    this.#inspect(transaction, direction, transaction.stageOf(direction));
  }

  end(transaction: Transaction): void {
    for (const direction of ["to-server", "to-client"] as const) this.#inspect(transaction, direction, STAGE_DONE);
    this.#open.delete(transaction);
  }

  endAll(): void {
    for (const transaction of this.#open.keys()) this.end(transaction);
  }

  #inspect(transaction: Transaction, direction: Direction, stage: number): void {
    const { evaluator } = this.#context;
    const { subject } = evaluator;
    const progress = this.#progressOf(transaction, direction);
    if (progress.isOver) return;
    this.#owner.focus(direction);
    if (stage === STAGE_DONE) {
      progress.isOver = true;
      this.#owner.endMessage(direction);
    }
    const scope = progress.base.transactions.get(transaction.application)?.[direction];
    if (scope === undefined || scope.count === 0) return;
    subject.transaction = transaction;
    const hasGrown = this.#search(scope, progress, stage) || transaction.events.size !== progress.events;
    progress.events = transaction.events.size;
    this.#attempt(scope, progress, { stage, hasGrown, matched: this.#open.get(transaction)?.matched ?? new Set(), direction });
    subject.transaction = null;
  }

  #progressOf(transaction: Transaction, direction: Direction): Progress {
    const base = this.#context.evaluator.base;
    let open = this.#open.get(transaction);
    if (open === undefined) {
      this.#context.work.transactions += 1;
      open = { "to-server": startProgress(base, transaction, "to-server"), "to-client": startProgress(base, transaction, "to-client"), matched: new Set() };
      this.#open.set(transaction, open);
    }
    const progress = open[direction];
    // Other rules are used since: all that is there is looked at again.
    if (progress.base !== base) Object.assign(progress, startProgress(base, transaction, direction));
    return progress;
  }

  /** @returns Whether anything was searched: rules may match that did not before. */
  #search(scope: TransactionScope, progress: Progress, stage: number): boolean {
    const { subject } = this.#context.evaluator;
    let hasSearched = false;
    for (const [index, filter] of scope.filters.entries()) {
      const before = progress.searched[index] ?? ALL_SEARCHED;
      const facts = scope.application.buffers.get(filter.buffer);
      if (before === ALL_SEARCHED || facts === undefined) continue;
      const isWhole = stage >= facts.stage;
      if (!isWhole && !facts.grows) continue;
      const instances = subject.instancesOf(filter.buffer, filter.transforms);
      const size = instances.reduce((sum, { length }) => sum + length, 0);
      // Searched again at twice the size, so that all searches together are linear.
      if (!isWhole && (size === 0 || size < before * 2)) continue;
      progress.searched[index] = isWhole ? ALL_SEARCHED : size;
      hasSearched = true;
      for (const bytes of instances) {
        const count = filter.find(bytes);
        for (let at = 0; at < count; at += 1) addCandidate(progress.candidates, scope.filed[filter.found[at] ?? 0] ?? 0);
      }
    }
    return hasSearched;
  }

  #attempt(scope: TransactionScope, progress: Progress, now: {
    readonly stage: number; readonly hasGrown: boolean; readonly matched: Set<string>; readonly direction: Direction;
  }): void {
    const { evaluator } = this.#context;
    const { rules } = progress.base;
    progress.candidates.sort((one, other) => one - other);
    progress.candidates = progress.candidates.filter((place) => {
      const [rule, stages] = [rules[place], scope.ready.get(place)];
      if (!rule || !stages) return false;
      if (!isDue(rule, stages, now)) return true;
      const key = `${rule.key} ${now.direction}`;
      if (now.matched.has(key)) return false;
      if (evaluator.attempt(place)) {
        now.matched.add(key);
        return false;
      }
      return now.stage < stages.last;
    });
  }
}

function isDue({ isNegative }: EngineRule, { first, last }: RuleStages, { stage, hasGrown }: { readonly stage: number; readonly hasGrown: boolean }): boolean {
  if (stage >= last) return true;
  return stage >= first && hasGrown && !isNegative;
}

function addCandidate(candidates: number[], place: number): void {
  if (!candidates.includes(place)) candidates.push(place);
}

function startProgress(base: RuleBase, { application }: Transaction, direction: Direction): Progress {
  const scope = base.transactions.get(application)?.[direction];
  const unfiled = scope === undefined ? [] : [scope.unfiled.others, ...scope.unfiled.byDestinationPort.values(), ...scope.unfiled.bySourcePort.values()].flatMap((places) => [...places]);
  return { base, searched: new Float64Array(scope?.filters.length ?? 0), candidates: [...new Set(unfiled)], events: 0, isOver: false };
}
