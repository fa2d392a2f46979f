import { parseIp } from "@lanthorn/packets";
import { createExclusions, parsePrefixes } from "../discover/exclusions.ts";
import { askDatagram } from "../identify/datagrams.ts";
import type { SwitchWatch, SwitchWatchDeps } from "./switch-watch.ts";

/**
 * The daemon's part that asks switches. What speaks SNMP is loaded when there is somebody to ask.
 * @param deps.excluded As text, asked each time.
 */
export function openSwitches(deps: Omit<SwitchWatchDeps, "isExcluded" | "ask"> & { readonly excluded: () => readonly string[] }): SwitchWatch {
  const isExcluded = (ip: string) => {
    const parsed = parsePrefixes(deps.excluded());
    const address = parseIp(ip);
    // With an exclusion that cannot be read, nobody is asked.
    return !address || "wrong" in parsed || createExclusions(parsed.prefixes).holds(address);
  };
  let watch: Promise<SwitchWatch> | null = null;
  let isClosed = false;
  const possible = () => [...deps.devices, ...deps.credentials.namedHosts(), ...deps.announced()];
  const hasSomebody = () => possible().some((ip) => deps.credentials.forHost(ip).length > 0);
  const pollNow = async () => {
    if (isClosed || (!watch && !hasSomebody())) return;
    watch ??= import("./switch-watch.ts").then(({ createSwitchWatch }) => createSwitchWatch({ ...deps, isExcluded, ask: askDatagram }));
    await (await watch).pollNow();
  };
  const cancel = [deps.clock.after(FIRST_MS, () => void pollNow()), deps.clock.every(deps.intervalMs, () => void pollNow())];
  return {
    pollNow,
    async close() {
      isClosed = true;
      for (const one of cancel) one();
      await (await watch)?.close();
    },
  };
}

/** The collector's configuration and the neighbours' words come first. */
const FIRST_MS = 30_000;
