import { parseMac } from "@lanthorn/packets";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { ServiceFinding } from "../identify/finding.ts";
import { factsText, KEY_CONFIDENCE, mergeFacts, type ServiceFact } from "./facts.ts";
import { macKey } from "./host.ts";
import type { HostTable } from "./host-table.ts";
import type { Telling } from "./telling.ts";

/** It was tried: nobody else would have answered so. */
const ROLE_CONFIDENCE = 0.9;
/** Fields that are about the device and not about one of its services, which have ports of their own. */
const DEVICE_FIELDS = ["device_type", "os", "os_version", "model"] as const;
/** Facts of a finding: device fields as believed, and strong identity keys. */
export function factsOf({ verdicts, keys }: Pick<ServiceFinding, "verdicts" | "keys">, seenAt: string): readonly ServiceFact[] {
  const said = DEVICE_FIELDS.flatMap((field) => {
    const verdict = verdicts[field];
    return verdict ? [{ field, value: verdict.value, source: verdict.source, confidence: verdict.confidence, seen_at: seenAt }] : [];
  });
  return [...keys.map(({ field, value, source }) => ({ field, value, source, confidence: KEY_CONFIDENCE, seen_at: seenAt })), ...said];
}

/** @returns What to call with each finding: whoever is online at its address is told with it. */
export function createFactsTaker(deps: { readonly table: HostTable; readonly telling: Pick<Telling, "tellChange">; readonly clock: Pick<Clock, "now"> }) {
  return (ip: string, finding: Pick<ServiceFinding, "verdicts" | "keys">): void => {
    const found = factsOf(finding, toInstant(deps.clock.now()));
    if (found.length === 0) return;
    for (const host of deps.table.atAddress(ip).filter(({ presence }) => presence === "online")) {
      host.facts = mergeFacts(host.facts, found);
      if (factsText(host.facts) !== host.told?.evidence) deps.telling.tellChange(host);
    }
  };
}

/** @returns What to call with what a scan found a device to be for others: it becomes evidence of whoever has the MAC, or the address. */
export function createRoleTaker(deps: { readonly table: HostTable; readonly telling: Pick<Telling, "tellChange">; readonly clock: Pick<Clock, "now"> }) {
  return (who: { readonly mac: string; readonly ip: string; readonly code: string }): void => {
    const mac = parseMac(who.mac);
    const byMac = mac ? deps.table.byMac(macKey(mac)) : undefined;
    const fact = { field: "role", value: who.code, source: "scan", confidence: ROLE_CONFIDENCE, seen_at: toInstant(deps.clock.now()) };
    for (const host of byMac ? [byMac] : deps.table.atAddress(who.ip).filter(({ presence }) => presence === "online")) {
      host.facts = mergeFacts(host.facts, [fact]);
      if (factsText(host.facts) !== host.told?.evidence) deps.telling.tellChange(host);
    }
  };
}
