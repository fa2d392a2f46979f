/** An engine with rules, for tests only. */
import { type Analyzer, createAnalyzer } from "@lanthorn/traffic";
import type { Application } from "../../applications/application.ts";
import { parseRules } from "../../rules/rule-set.ts";
import type { IdsAlert } from "../alert.ts";
import { createIds, type Ids } from "../ids.ts";
import type { EngineLimits } from "../limits.ts";
import { buildRuleBase, type RuleBase } from "../rule-base/rule-base.ts";
import type { Packet } from "./conversation.ts";

/** Rules as texts; those without a header are about all of TCP, and numbered from 1. */
export function baseOf(rules: readonly string[], applications: readonly Application[] = []): RuleBase {
  const text = rules.map((rule, at) => (rule.startsWith("alert ") ? rule : `alert tcp any any -> any any (${rule} sid:${at + 1};)`)).join("\n");
  const steps = buildRuleBase(parseRules(new TextEncoder().encode(text)).rules, applications);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Rules at work on frames. */
export interface RunningRules {
  readonly ids: Ids;
  readonly analyzer: Analyzer;
  /** `sid>` for each alert to the server, `sid<` to the client, in their order. */
  readonly alerts: string[];
  /** The same, whole. */
  readonly given: readonly IdsAlert[];
  play(packets: readonly Packet[]): void;
}

/** @returns An engine that has seen nothing. */
export function runRules(rules: readonly string[], limits: Partial<EngineLimits> = {}, applications: readonly Application[] = []): RunningRules {
  const alerts: string[] = [];
  const given: IdsAlert[] = [];
  const onAlert = (alert: IdsAlert): void => {
    given.push(alert);
    alerts.push(`${alert.rule.id}${alert.direction === "to-server" ? ">" : "<"}`);
  };
  const ids = createIds({ base: baseOf(rules, applications), limits, onAlert });
  const analyzer = createAnalyzer({ random: () => 0.5, onFlow: () => {}, onMessage: null, watch: ids.watch });
  return {
    ids, analyzer, alerts, given,
    play: (packets) => {
      for (const { frame, at } of packets) analyzer.placedFrame(frame, 0, frame.length, frame.length, at);
    },
  };
}
