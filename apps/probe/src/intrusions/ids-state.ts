/** How intrusion detection is, as the health report has it. */
import type { IdsState } from "@lanthorn/contract/uplink";
import type { IntrusionCounts } from "./intrusions.ts";

/** Without a process that runs rules. */
const OFF: Omit<IdsState, "suppressed" | "suricata" | "since"> = {
  state: "off", error: null, version: null, loaded_at: null, load_seconds: null, rules: { loaded: 0, refused: 0 }, refusals: [], frames: { inspected: 0, shed: 0 },
  alerts: 0, costs: [],
};

/**
 * @param rules Of the process that runs them; null where there is none, or before it has said anything.
 * @param since When the probe began.
 */
export function toIdsState({ rules, counts, suricata, since }: {
  readonly rules: Omit<IdsState, "suppressed" | "suricata"> | null;
  readonly counts: IntrusionCounts;
  readonly suricata: IdsState["suricata"] | null;
  readonly since: string;
}): IdsState {
  return {
    ...OFF, since, ...rules, suppressed: [...counts.suppressed].map(([suppression_id, count]) => ({ suppression_id, count })), ...(suricata && { suricata }),
  };
}
