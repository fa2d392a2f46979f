/** Takes the decoys' own addresses, and reports the state of each. */
import type { OwnAddressReport } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { OwnAddresses } from "./address-state.ts";
import { type AddressChange, keepOnInterface } from "./keep-interface.ts";
import type { OwnDecoy } from "./own-decoys.ts";

/** Addresses that are kept until they are closed. */
export interface KeptAddresses {
  readonly now: () => OwnAddresses;
  close(): Promise<void>;
}

const MAX_PROBLEM = 255;

/** Starts at once. @param deps.onChange The report of an address has changed. */
export function keepAddresses(decoys: readonly OwnDecoy[], { onChange, random, clock, log }: {
  readonly onChange: () => void; readonly random: () => number; readonly clock: Clock; readonly log: Pick<Log, "info" | "warn">;
}): KeptAddresses {
  const reports = new Map<string, OwnAddressReport>(decoys.map(({ name, parent, mac }) => [name, { interface: parent, mac, state: "probing", used_by: null, is_mac_refused: null, problem: null }]));
  const take = (decoy: OwnDecoy, { isMacRefused, ...condition }: AddressChange) => {
    const before = reports.get(decoy.name);
    // While an address that another device uses is tried again, its report still says so.
    if (!before || (before.state === "in_use" && condition.state === "probing")) return;
    const after = { ...before, ...condition, ...(isMacRefused !== undefined && { is_mac_refused: isMacRefused }) };
    const problem = explain(decoy, after)?.slice(0, MAX_PROBLEM) ?? null;
    reports.set(decoy.name, { ...after, problem });
    if (after.state === before.state && problem === before.problem && after.is_mac_refused === before.is_mac_refused) return;
    const said = { decoy: decoy.name, address: decoy.ip, mac: decoy.mac, interface: decoy.parent, state: after.state };
    if (problem === null) log.info(said, "a decoy's own address");
    else log.warn({ ...said, reason: problem }, "a decoy's own address");
    onChange();
  };
  const parents = new Set(decoys.map(({ parent }) => parent));
  const ends = [...parents].map((parent) => keepOnInterface(parent, decoys.filter((decoy) => decoy.parent === parent), { onChange: take, random, clock, log }));
  return {
    now: () => decoys.flatMap(({ name, ip }) => {
      const report = reports.get(name);
      return report ? [{ decoy: name, address: ip, report }] : [];
    }),
    close: async () => void (await Promise.all(ends.map((end) => end()))),
  };
}

function explain({ ip, mac, parent }: OwnDecoy, { state, used_by: owner, is_mac_refused: isMacRefused, problem }: OwnAddressReport): string | null {
  if (state === "in_use") return `another device${owner === null ? "" : ` (${owner})`} uses ${ip}: the decoy leaves it alone, and tries again in ten minutes`;
  if (state === "failed") return problem ?? `the kernel refused the address ${ip}`;
  if (state === "taken" && isMacRefused === true) {
    return `neighbors answer ${parent}, but never ${mac}: the switch or hypervisor drops frames of other MAC addresses (port security, forged transmits, Wi-Fi). Allow them, or give the decoy an address of this machine`;
  }
  return null;
}
