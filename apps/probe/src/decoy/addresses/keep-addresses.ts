/** Takes the addresses that decoys have of their own, and writes down how they are. */
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

/** Begins at once. @param deps.onChange One of them is another way than before. */
export function keepAddresses(decoys: readonly OwnDecoy[], { onChange, random, clock, log }: {
  readonly onChange: () => void; readonly random: () => number; readonly clock: Clock; readonly log: Pick<Log, "info" | "warn">;
}): KeptAddresses {
  const reports = new Map<string, OwnAddressReport>(decoys.map(({ name, parent, mac }) => [name, { interface: parent, mac, state: "probing", used_by: null, is_mac_refused: null, problem: null }]));
  const take = (decoy: OwnDecoy, { isMacRefused, ...condition }: AddressChange) => {
    const before = reports.get(decoy.name);
    // One that another device has is that one's while it is tried again.
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
  if (state === "in_use") return `${ip} is another device's${owner === null ? "" : ` (${owner})`}: it was left to that one, and is tried again in ten minutes`;
  if (state === "failed") return problem ?? `${ip} could not be taken`;
  if (state === "taken" && isMacRefused === true) {
    return `neighbors answer ${parent} and never ${mac}: its switch or hypervisor lets no other MAC address through (port security, forged transmits, Wi-Fi). Allow it, or give the decoy an address of this machine`;
  }
  return null;
}
