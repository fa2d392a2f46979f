import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findSuricata, runSuricata, type Suricata } from "../lab/suricata.ts";
import { readCases, type VerifyCase } from "./ids/cases.ts";
import { type EveAlert, judgeAlerts } from "./ids/checks.ts";
import { framesOf } from "./ids/capture-frames.ts";
import { runEngine } from "./ids/engine.ts";
import { findChanged } from "./ids/mutated-cases.ts";
import { unmetRequirement } from "./ids/requirements.ts";
import { readSettings } from "./ids/settings.ts";

/** What an engine made of a case. */
interface CaseRun {
  readonly alerts: readonly EveAlert[];
  /** Rules that it refused, in words. */
  readonly refused: readonly string[];
}

type RunnableCase = VerifyCase & { readonly rules: string; readonly capture: string };
type RunCase = (one: RunnableCase) => CaseRun | Promise<CaseRun>;

/**
 * Runs our engine over cases in the layout of suricata-verify and counts those of which every check on alerts holds. What is compared is
 * written in ids/README.md. `--list` prints each case that is not right, with the reason; `--suricata` has a real Suricata in the
 * place of our engine, to show what the cases ask of an engine that is right; `--only TEXT` takes the cases with TEXT in their names.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals: [folder, ...others] } = parseArgs({
    args: [...args], allowPositionals: true, options: { list: { type: "boolean", default: false }, suricata: { type: "boolean", default: false }, only: { type: "string", default: "" }, mutations: { type: "string", default: "0" } },
  });
  if (folder === undefined || others.length > 0 || !existsSync(folder)) throw new Error("ids-verify takes one argument: a folder of cases");
  const { cases, unreadable } = readCases(folder);
  const chosen = cases.filter(({ name }) => name.includes(values.only));
  const counts = { right: 0, refused: 0, wrong: 0, noAlertChecks: 0, notCompared: 0, checks: 0, otherChecks: 0 };
  const leftOut = new Map<string, number>();
  const say = (name: string, kind: string, reasons: readonly string[]) => {
    if (values.list) for (const reason of reasons) console.log(`${name}: ${kind}: ${reason}`);
  };
  const mutations = { runs: 0, changed: 0 };
  const mutate = (one: RunnableCase) => {
    const { runs, changed } = findChanged(readFileSync(one.rules), framesOf(readFileSync(one.capture)), readSettings(one), Number(values.mutations));
    mutations.runs += runs;
    mutations.changed += changed.length;
    say(one.name, "changed", changed.map(({ mutation, seed, missing, extra }) => `${mutation} ${seed}: missing ${missing.join(", ") || "none"}; extra ${extra.join(", ") || "none"}`));
  };
  for (const { name, reason } of unreadable) say(name, "not compared", [reason]);
  await withRunner(values.suricata, async (runCase) => {
    for (const one of chosen) {
      const reason = whyNotCompared(one);
      const { rules, capture } = one;
      if (reason !== null || rules === null || capture === null) {
        counts.notCompared += 1;
        say(one.name, "not compared", [reason ?? ""]);
        continue;
      }
      const { alerts, refused } = await runCase({ ...one, rules, capture });
      const verdict = judgeAlerts(one.filters, alerts, one.folder);
      counts.checks += verdict.compared;
      counts.otherChecks += verdict.notOurs + one.otherChecks.length;
      for (const [field, count] of verdict.leftOut) leftOut.set(field, (leftOut.get(field) ?? 0) + count);
      if (verdict.compared === 0) counts.noAlertChecks += 1;
      else if (verdict.failed.length === 0) {
        counts.right += 1;
        if (!values.suricata) mutate({ ...one, rules, capture });
      }
      else counts[refused.length > 0 ? "refused" : "wrong"] += 1;
      if (verdict.failed.length > 0) say(one.name, refused.length > 0 ? "refused" : "wrong", [...refused, ...verdict.failed]);
    }
  });
  const total = counts.right + counts.refused + counts.wrong;
  console.log(JSON.stringify({
    bench: "ids-verify", cases: total, right: counts.right, refused: counts.refused, wrong: counts.wrong, share: Math.round((counts.right / Math.max(total, 1)) * 1000) / 1000,
    no_alert_checks: counts.noAlertChecks, not_compared: counts.notCompared + unreadable.length, checks: counts.checks, other_checks: counts.otherChecks,
    left_out_fields: [...leftOut.values()].reduce((sum, count) => sum + count, 0), engine: values.suricata ? "suricata" : "lanthorn",
    ...(mutations.runs > 0 && { mutations: mutations.runs, mutations_same: mutations.runs - mutations.changed }),
  }));
}

/** What stands in the way of a comparison, or `null`. */
function whyNotCompared({ requires, folder, rules, capture, isOfProgram }: VerifyCase): string | null {
  const unmet = unmetRequirement(requires, folder);
  if (unmet !== null) return `it requires ${unmet}`;
  if (isOfProgram) return "it is about the program, not about alerts";
  return rules === null ? "it has no rules" : capture === null ? "it has no capture" : null;
}

async function withRunner(isSuricata: boolean, work: (runCase: RunCase) => Promise<void>): Promise<void> {
  if (!isSuricata) return work((one) => runEngine({ rules: readFileSync(one.rules), capture: readFileSync(one.capture), settings: readSettings(one) }));
  const found = await findSuricata();
  if (typeof found === "string") throw new Error(found);
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-bench-ids-verify-"));
  try {
    await work((one) => runReference(found, one, folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runReference(suricata: Suricata, one: RunnableCase, folder: string): Promise<CaseRun> {
  const { addresses, ports } = readSettings(one);
  const args = one.args.filter((argument, place) => argument !== "-S" && one.args[place - 1] !== "-S" && !argument.startsWith("--runmode"));
  const { alerts } = await runSuricata(suricata, { folder: join(folder, "out"), rules: one.rules, capture: one.capture, addresses, ports, args });
  return { alerts, refused: [] };
}
