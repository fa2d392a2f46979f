import type { Clock } from "@lanthorn/runtime";
import type { NmapScanner } from "./nmap-stage.ts";
import type { FindProgram } from "./find-program.ts";

/** The profile `deep`'s part of the daemon. Nothing of it but this is loaded before the first such scan. */
export function openNmapScanner(
  deps: { readonly find: FindProgram; readonly interfaceName: string; readonly clock: Pick<Clock, "every"> },
): NmapScanner {
  const { clock } = deps;
  return {
    problem: () => (deps.find("nmap") ? null : "the profile deep needs nmap, which is not on this probe's PATH: apt-get install nmap"),
    run: async (order) => (await import("./scan-with-nmap.ts")).scanWithNmap(
      { ...deps, every: (periodMs, task) => clock.every(periodMs, task) }, order,
    ),
  };
}
