import { readFileSync } from "node:fs";
import {
  APPLICATIONS, buildRuleBase, createIds, findRefusedExpression, type IdsAlert, type IdsCounters, parseClassifications, parseReferences, parseRules, parseThresholds, type Refusal, type RuleBase, type RuleCost,
} from "@lanthorn/ids";
import type { AnalyzerCounters } from "@lanthorn/traffic";
import { ProbeError } from "../errors.ts";
import { readFlows } from "../flows/read-flows.ts";

/** Files of rules and what comes with them. */
export interface RuleFiles {
  readonly rules: readonly string[];
  readonly classifications: string | null;
  readonly references: string | null;
  readonly thresholds: string | null;
  /** Values of `$NAME` in rules, of addresses and ports alike. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What a replay has found out. */
export interface RulesReplayed {
  readonly counters: AnalyzerCounters;
  readonly ids: IdsCounters;
  readonly costs: readonly RuleCost[];
  readonly refusals: readonly Refusal[];
  readonly problems: readonly string[];
}

const COSTS = 20;

/**
 * Holds the frames of a capture file against rules, on the file's own time.
 * @param deps.print Takes alerts in their order.
 * @throws ProbeError `config-invalid` for a file of rules that cannot be read.
 */
export async function replayRules(deps: {
  readonly path: string;
  readonly files: RuleFiles;
  readonly random: () => number;
  readonly print: (alerts: readonly IdsAlert[]) => Promise<void> | void;
}): Promise<RulesReplayed> {
  const { base, refusals, thresholds } = loadRules(deps.files);
  let alerts: IdsAlert[] = [];
  const ids = createIds({ base, thresholds, onAlert: (alert) => void alerts.push(alert) });
  const printSome = async () => {
    const some = alerts;
    alerts = [];
    if (some.length > 0) await deps.print(some);
  };
  const { counters, problems } = await readFlows({ paths: [deps.path], random: deps.random, onMessage: null, watch: ids.watch, print: printSome, onChunk: printSome });
  await printSome();
  return { counters, ids: ids.counters(), costs: ids.costs(COSTS), refusals, problems };
}

function loadRules(files: RuleFiles): { readonly base: RuleBase; readonly refusals: readonly Refusal[]; readonly thresholds: ReturnType<typeof parseThresholds>["entries"] } {
  const text = Buffer.concat(files.rules.flatMap((path) => [readFile(path), Buffer.from("\n")]));
  const { rules, refusals } = parseRules(text, {
    addresses: files.variables, ports: files.variables,
    ...(files.classifications !== null && { classes: parseClassifications(readFile(files.classifications)).entries }),
    ...(files.references !== null && { references: parseReferences(readFile(files.references)).entries }),
  });
  const expressions = rules.flatMap((rule) => findRefusedExpression(rule) ?? []);
  const steps = buildRuleBase(rules, APPLICATIONS);
  for (;;) {
    const step = steps.next();
    if (!step.done) continue;
    const thresholds = files.thresholds === null ? [] : parseThresholds(readFile(files.thresholds), files.variables).entries;
    return { base: step.value, refusals: [...refusals, ...expressions, ...step.value.refusals], thresholds };
  }
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new ProbeError("config-invalid", `cannot read ${path}`, { cause });
  }
}
