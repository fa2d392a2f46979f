/** Makes an engine's rules of a bundle's files, beside the capture. */
import type { IdsBundle, IdsState } from "@lanthorn/contract/uplink";
import {
  APPLICATIONS, buildRuleBase, parseClassifications, parseReferences, parseRulesInSteps, parseThresholds, type Refusal, type RuleBase, type ThresholdEntry,
} from "@lanthorn/ids";
import type { Clock } from "@lanthorn/runtime";
import type { PacedWork } from "../paced-work.ts";

/** Rules that can be run. */
export interface LoadedRules {
  readonly base: RuleBase;
  readonly thresholds: readonly ThresholdEntry[];
  readonly refused: number;
  /** The first ones. */
  readonly refusals: IdsState["refusals"];
}

/** The contract's limit. */
const MAX_REFUSALS = 200;
const STEP_MS = 4;
const NOTHING = new Uint8Array(0);

/**
 * @param deps.homeNetworks What `HOME_NET` is, unless the bundle says so; empty for the engine's own.
 * @returns Null where the work was closed before its end.
 */
export async function loadRules(bundle: IdsBundle, deps: {
  readonly homeNetworks: readonly string[]; readonly work: PacedWork; readonly clock: Pick<Clock, "monotonic">;
}): Promise<LoadedRules | null> {
  const { homeNetworks, work } = deps;
  const { index, classification, references, thresholds, rules } = bundle;
  work.begin();
  const home = homeNetworks.length === 0 ? {} : { HOME_NET: `[${homeNetworks.join(",")}]` };
  const parsed = await inPaces(parseRulesInSteps(rules, {
    addresses: { ...home, ...index.addresses }, ports: index.ports, classes: parseClassifications(classification ?? NOTHING).entries, references: parseReferences(references ?? NOTHING).entries,
  }), deps);
  if (parsed === null) return null;
  const base = await inPaces(buildRuleBase(parsed.rules, APPLICATIONS), deps);
  if (base === null) return null;
  return {
    base, thresholds: parseThresholds(thresholds ?? NOTHING).entries, refused: parsed.refusedCount + base.refusals.length,
    refusals: [...parsed.refusals, ...base.refusals].slice(0, MAX_REFUSALS).map(toRefusal),
  };
}

/** Some milliseconds of steps at a time. @returns Null where it was stopped. */
async function inPaces<T>(
  steps: Generator<unknown, T, void>, { work, clock }: { readonly work: PacedWork; readonly clock: Pick<Clock, "monotonic"> },
): Promise<T | null> {
  for (;;) {
    const until = clock.monotonic() + STEP_MS;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (clock.monotonic() < until);
    if (!(await work.pace())) return null;
  }
}

function toRefusal({ gid, id, keyword, reason }: Refusal): IdsState["refusals"][number] {
  return { generator_id: gid, signature_id: id, keyword: keyword.slice(0, 64), reason: reason.slice(0, 255) };
}
