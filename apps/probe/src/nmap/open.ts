import type { Clock } from "@lanthorn/runtime";
import type { DeepLook } from "./nmap-stage.ts";
import type { FindProgram } from "./find-program.ts";

/** The profile `deep`'s part of the daemon. Nothing of it but this is loaded before the first such scan. */
export function openDeepLook(
  deps: { readonly find: FindProgram; readonly interfaceName: string; readonly clock: Pick<Clock, "every"> },
): DeepLook {
  const { clock } = deps;
  return {
    problem: () => (deps.find("nmap") ? null : "the profile deep needs nmap, which is not on this probe's PATH: apt-get install nmap"),
    run: async (order) => (await import("./look-deeper.ts")).lookDeeper(
      { ...deps, every: (periodMs, task) => clock.every(periodMs, task) }, order,
    ),
  };
}
