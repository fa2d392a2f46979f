import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { LabError } from "../errors.ts";
import { createLab, type Lab } from "../lab.ts";
import { createLabId } from "../testing.ts";
import { recordScenario } from "./record.ts";
import { startScenario, stopScenario } from "./run-scenario.ts";
import { createVariant, type Scenario, type Variant } from "./scenario.ts";
import { SCENARIO_LAN, SCENARIOS } from "./scenarios.ts";

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
    .argument("<names...>")
    .option("--out <folder>", "where the pcap files go", fileURLToPath(new URL(".", import.meta.url)))
    .description("record attacks or look-alikes at the probe's port, each in a lab of its own")
    .action(async (names: readonly string[], { out }: { readonly out: string }) => {
      for (const { scenario, variant: { index } } of names.map((name) => findScenario(name))) {
        const variant = createVariant(SCENARIOS.indexOf(scenario), index, true);
        const lab = await createLab({ id: createLabId(), hosts: SCENARIO_LAN });
        try {
          await recordScenario(lab, scenario, { variant, file: join(resolve(out), `${scenario.name}.pcap`) });
        } finally {
          await lab.close();
        }
        console.log(`${scenario.name}: recorded`);
      }
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
