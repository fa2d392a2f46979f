/** The engine: packets with their flows in, alerts out. */

import { createStreamCounters, createStreamMemory, type OpenFlowWatch, type StreamCounters } from "@lanthorn/traffic";
import type { ThresholdEntry } from "../rules/files/threshold-file.ts";
import type { IdsAlert } from "./alert.ts";
import type { FlowContext, FlowWork } from "./flow/context.ts";
import { IdsFlow } from "./flow/ids-flow.ts";
import type { RuleCost } from "./inspect/costs.ts";
import { Evaluator, type EvaluatorCounters } from "./inspect/evaluator.ts";
import { ENGINE_LIMITS, type EngineLimits } from "./limits.ts";
import type { RuleBase } from "./rule-base/rule-base.ts";

/** What the engine has seen and done. */
export interface IdsCounters extends Readonly<FlowWork>, EvaluatorCounters {
  readonly rules: number;
  readonly heldBytes: number;
  readonly streams: Readonly<StreamCounters>;
}

/** Rules at work. */
export interface Ids {
  /** For `createAnalyzer`'s `watch`: one decoding and one flow table for all. */
  readonly watch: OpenFlowWatch;
  /** Uses other rules, and other lines of threshold.config, from the next packet on; flows keep what they know, and counts of thresholds go on. */
  replace(base: RuleBase, thresholds?: readonly ThresholdEntry[]): void;
  counters(): IdsCounters;
  /** The rules that cost most since they were loaded, first. */
  costs(count: number): readonly RuleCost[];
}

/** How an engine is made. */
export interface IdsOptions {
  /** Of `buildRuleBase`. */
  readonly base: RuleBase;
  readonly limits?: Partial<EngineLimits>;
  /** Of `parseThresholds`. */
  readonly thresholds?: readonly ThresholdEntry[];
  /** In the order in which they are found; synchronous. */
  readonly onAlert: (alert: IdsAlert) => void;
}

/** @returns An engine that has seen nothing. It has no clock: packets bring their time. */
export function createIds({ base, onAlert, thresholds = [], ...options }: IdsOptions): Ids {
  const limits = { ...ENGINE_LIMITS, ...options.limits };
  const counters = createStreamCounters();
  const memory = createStreamMemory(limits.total);
  const evaluator = new Evaluator({ base, limits, thresholds, onAlert });
  const context: FlowContext = {
    evaluator, limits, memory, streams: { counters, maxHeldBytes: limits.heldPerStream },
    work: { packets: 0, streamOctets: 0, recognized: 0, transactions: 0, evictions: 0, beyondDepth: 0 },
  };
  return {
    watch: (packet, key) => new IdsFlow(context, packet, key),
    replace: (next, entries) => evaluator.replace(next, entries),
    counters: () => ({ ...context.work, ...evaluator.counters(), rules: evaluator.base.rules.length, heldBytes: memory.usedBytes, streams: { ...counters } }),
    costs: (count) => evaluator.costs(count),
  };
}
