import { once } from "node:events";
import type { Clock } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { alertRecord, describeAlert } from "./describe-alert.ts";
import { replayRules } from "./replay-rules.ts";

/** Options of the command that come with rules. */
export interface RulesGiven {
  /** `NAME=VALUE`. */
  readonly variable?: readonly string[];
  readonly classifications?: string;
  readonly references?: string;
  readonly thresholds?: string;
}

/** Of rules that are not run. */
const MAX_SHOWN_REFUSALS = 100;

/**
 * Prints the alerts that rules give for a capture file, one a line, and then what was read, refused and spent.
 * @throws ProbeError `config-invalid` for files of rules that cannot be read; `failed` for a capture that was not read to its end.
 */
export async function showAlerts({ path, rules, given, isJson, clock }: {
  readonly path: string; readonly rules: readonly string[]; readonly given: RulesGiven; readonly isJson: boolean; readonly clock: Pick<Clock, "monotonic">;
}): Promise<void> {
  const variables = (given.variable ?? []).map((text) => [text.slice(0, Math.max(text.indexOf("="), 0)), text.slice(text.indexOf("=") + 1)] as const);
  if (variables.some(([name]) => name === "")) throw new ProbeError("config-invalid", "--variable takes NAME=VALUE");
  const { classifications = null, references = null, thresholds = null } = given;
  const line = isJson ? (alert: Parameters<typeof alertRecord>[0]) => JSON.stringify(alertRecord(alert)) : describeAlert;
  const startedAt = clock.monotonic();
  const { counters, ids, costs, refusals, problems } = await replayRules({
    path, files: { rules, classifications, references, thresholds, variables: Object.fromEntries(variables) }, random: Math.random,
    print: async (alerts) => {
      if (!process.stdout.write(alerts.map((alert) => `${line(alert)}\n`).join(""))) await once(process.stdout, "drain");
    },
  });
  const seconds = Math.round(clock.monotonic() - startedAt) / 1000;
  process.stderr.write(`${JSON.stringify({ frames: counters.frames, refused: refusals.length, refusals: refusals.slice(0, MAX_SHOWN_REFUSALS), ids, costs, seconds })}\n`);
  if (problems.length > 0) throw new ProbeError("failed", problems.join("; "));
}
