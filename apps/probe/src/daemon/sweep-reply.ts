import type { Reply } from "@lanthorn/contract";
import type { SweepSummary } from "../discover/sweeper.ts";

/** What one sweep did, as the reply to its command says it. */
export function toReplyData(summary: SweepSummary): Reply["data"] {
  return {
    outcome: summary.outcome, reasons: summary.reasons, networks: summary.networks, addresses: summary.addresses,
    packets_sent: summary.packetsSent, answered: summary.answered, new_hosts: summary.newHosts, duration_ms: Math.round(summary.durationMs),
  };
}
