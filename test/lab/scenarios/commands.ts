import { resolve } from "node:path";
import type { Command } from "commander";
import { LabError } from "../errors.ts";
import type { Lab } from "../lab.ts";
import { recordScenario } from "./record.ts";
import { startScenario, stopScenario } from "./run-scenario.ts";
import { createVariant, type Scenario, type Variant } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";

/** The commands about attacks and look-alikes: `attack`, `normal`, `capture` and `scenarios`. */
export function addScenarioCommands(program: Command, open: () => Promise<Lab>): void {
  for (const kind of ["attack", "normal"] as const) {
    program
      .command(kind)
      .argument("<name>")
      .option("--stop", "end it: its hosts leave the LAN")
      .description(kind === "attack" ? "start an attack on the LAN" : "start something normal that looks like an attack")
      .action(async (name: string, { stop = false }: { readonly stop?: boolean }) => {
        const { scenario, variant } = findScenario(name, kind);
        if (stop) return stopScenario(await open(), scenario, variant);
        await startScenario(await open(), scenario, variant);
        console.log(`${scenario.what}; end it with: npm run lab -- ${kind} ${name} --stop`);
      });
  }
  program
    .command("capture")
    .argument("<name>")
    .requiredOption("--out <file>", "the pcap file to write")
    .description("record an attack or a look-alike at the probe's port")
    .action(async (name: string, { out }: { readonly out: string }) => {
      const { scenario, variant } = findScenario(name);
      await recordScenario(await open(), scenario, { variant, file: resolve(out) });
    });
  program
    .command("scenarios")
    .option("--json", "as one line of JSON")
    .description("list attacks and look-alikes")
    .action(({ json = false }: { readonly json?: boolean }) => {
      const rows = SCENARIOS.map(({ name, kind, what, guards, packages, seconds }) => ({ name, kind, what, guards, packages, seconds }));
      if (json) console.log(JSON.stringify(rows));
      else for (const { name, kind, what } of rows) console.log(`${kind.padEnd(7)} ${name.padEnd(20)} ${what}`);
    });
}

/** @throws LabError `unknown-host` for a name of no scenario. */
function findScenario(name: string, kind?: Scenario["kind"]): { readonly scenario: Scenario; readonly variant: Variant } {
  const index = SCENARIOS.findIndex((one) => one.name === name && (kind === undefined || one.kind === kind));
  const scenario = SCENARIOS[index];
  if (!scenario) throw new LabError("unknown-host", `there is no ${kind ?? "scenario"} "${name}"; see them with: npm run lab -- scenarios`);
  return { scenario, variant: createVariant(index, 0) };
}
