import type { TrafficHealth } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import type { ProcessCounters } from "../messages.ts";
import type { TrafficSettings } from "../settings.ts";

/** What the daemon knows of the process, as it is reported to the collector. */
export function toHealth(facts: {
  readonly state: TrafficHealth["state"]; readonly rssBytes: number; readonly restarts: number; readonly problem: string | null;
  readonly gap: { readonly from: number; readonly to: number | null; readonly reason: string } | null;
  readonly counters: ProcessCounters | null; readonly settings: TrafficSettings;
}): TrafficHealth {
  const { counters, gap } = facts;
  return {
    state: facts.state,
    error: facts.problem?.slice(0, 512) ?? null, memory_bytes: facts.rssBytes, restarts: facts.restarts,
    gap: gap && { from: toInstant(gap.from), to: gap.to === null ? null : toInstant(gap.to), reason: gap.reason },
    interfaces: counters?.interfaces
      ?? facts.settings.interfaces.map((name) => ({ name, up: false, frames: 0, octets: 0, dropped_by_kernel: 0 })),
    shed: counters?.shed ?? [], ring: counters?.ring ?? { seconds: 0, bytes: 0 }, captures: counters?.captures ?? [],
    continuous: counters?.continuous ?? null, ...(counters?.flows && { flows: counters.flows }), ...(counters?.dns && { dns: counters.dns }), ...(counters?.anomaly && { anomaly: counters.anomaly }),
  };
}
