/** Holds transactions against their rules as they come: each buffer is searched once it is there, each rule tried once all that it needs is. */

import { type Direction, STAGE_DONE, type Transaction } from "../../applications/application.ts";
import type { EngineRule } from "../rule-base/engine-rule.ts";
import type { RuleBase, RuleStages, TransactionScope } from "../rule-base/rule-base.ts";
import type { FlowContext } from "./context.ts";
import { sortPlaces } from "./place-order.ts";

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
  searched: number[];
  /** Filters that have more to search. */
  left: number;
  /** Rules that may match, by place. */
  candidates: number[];
  events: number;
  isOver: boolean;
  /** Rules that have matched, by key; `null` for none. */
  matched: Set<number> | null;
}

interface TransactionProgress {
  "to-server": Progress | null;
  "to-client": Progress | null;
}

const ALL_SEARCHED = -1;

/** The open transactions of one flow. */
export class TransactionInspector {
  readonly #context: FlowContext;
  readonly #owner: TransactionOwner;
  /** `null` for none: what is between two transactions is kept for as long as its flow. */
  #open: Map<Transaction, TransactionProgress> | null = null;

  constructor(context: FlowContext, owner: TransactionOwner) {
    this.#context = context;
    this.#owner = owner;
  }

  change(transaction: Transaction, direction: Direction): void {
    this.#inspect(transaction, direction, transaction.stageOf(direction));
  }

  end(transaction: Transaction): void {
    // Of a direction in which nothing was said there is nothing to look at: messages of DNS have one only.
    for (const direction of ["to-server", "to-client"] as const) if (transaction.stageOf(direction) > 0) this.#inspect(transaction, direction, STAGE_DONE);
    this.#open?.delete(transaction);
    if (this.#open?.size === 0) this.#open = null;
  }

  endAll(): void {
    for (const transaction of this.#open?.keys() ?? []) this.end(transaction);
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
    if (progress.candidates.length > 0) this.#attempt(scope, progress, stage, hasGrown);
    subject.transaction = null;
  }

  #progressOf(transaction: Transaction, direction: Direction): Progress {
    const base = this.#context.evaluator.base;
    this.#open ??= new Map();
    let open = this.#open.get(transaction);
    if (open === undefined) {
      this.#context.work.transactions += 1;
      open = { "to-server": null, "to-client": null };
      this.#open.set(transaction, open);
    }
    const progress = (open[direction] ??= startProgress(base, transaction, direction));
    // Other rules are used since: all that is there is looked at again.
    if (progress.base !== base) Object.assign(progress, startProgress(base, transaction, direction), { matched: progress.matched });
    return progress;
  }

  /** @returns Whether anything was searched: rules may match that did not before. */
  #search(scope: TransactionScope, progress: Progress, stage: number): boolean {
    if (progress.left === 0) return false;
    const { subject } = this.#context.evaluator;
    const { filters, filterStages, filed } = scope;
    let hasSearched = false;
    for (let index = 0; index < filters.length; index += 1) {
      const before = progress.searched[index] as number;
      const facts = filterStages[index];
      const filter = filters[index];
      if (before === ALL_SEARCHED || !facts || !filter) continue;
      const isWhole = stage >= facts.stage;
      if (!isWhole && !facts.grows) continue;
      const instances = subject.instancesOf(filter.buffer, filter.transforms);
      let size = 0;
      for (let at = 0; at < instances.length; at += 1) size += (instances[at] as Uint8Array).length;
      // Searched again at twice the size, so that all searches together are linear.
      if (!isWhole && (size === 0 || size < before * 2)) continue;
      progress.searched[index] = isWhole ? ALL_SEARCHED : size;
      if (isWhole) progress.left -= 1;
      hasSearched = true;
      for (let instance = 0; instance < instances.length; instance += 1) {
        const count = filter.find(instances[instance] as Uint8Array);
        for (let at = 0; at < count; at += 1) addCandidate(progress.candidates, filed[filter.found[at] as number] as number);
      }
    }
    return hasSearched;
  }

  #attempt(scope: TransactionScope, progress: Progress, stage: number, hasGrown: boolean): void {
    const { evaluator } = this.#context;
    const { rules } = progress.base;
    const { candidates } = progress;
    sortPlaces(candidates);
    let kept = 0;
    for (let index = 0; index < candidates.length; index += 1) {
      const place = candidates[index] as number;
      const rule = rules[place];
      const stages = scope.ready.get(place);
      if (!rule || !stages || progress.matched?.has(rule.key)) continue;
      if (isDue(rule, stages, stage, hasGrown)) {
        if (evaluator.attempt(place)) {
          (progress.matched ??= new Set()).add(rule.key);
          continue;
        }
        if (stage >= stages.last) continue;
      }
      candidates[kept] = place;
      kept += 1;
    }
    candidates.length = kept;
  }
}

function isDue({ isNegative }: EngineRule, { first, last }: RuleStages, stage: number, hasGrown: boolean): boolean {
  if (stage >= last) return true;
  return stage >= first && hasGrown && !isNegative;
}

function addCandidate(candidates: number[], place: number): void {
  if (!candidates.includes(place)) candidates.push(place);
}

function startProgress(base: RuleBase, { application }: Transaction, direction: Direction): Progress {
  const scope = base.transactions.get(application)?.[direction];
  const filters = scope?.filters.length ?? 0;
  const searched: number[] = [];
  for (let filter = 0; filter < filters; filter += 1) searched.push(0);
  return { base, searched, left: filters, candidates: scope?.always.slice() ?? [], events: 0, isOver: false, matched: null };
}
