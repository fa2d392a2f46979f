import type { DecoysListener } from "../decoy/link/decoy-listener.ts";
import type { Guards } from "../detect/guards.ts";
import type { HostDiscovery } from "../discover/host-discovery.ts";
import type { CommandHandlers } from "../uplink/commands.ts";
import { captureHandlers, type StoredCaptures } from "./capture-handlers.ts";

/**
 * What the collector may ask of discovery, the guards and the traffic process.
 * @param parts.interfaceRead Resolves when it is known whether the interface is up: a command that arrives as soon as the probe connects must not fail for it.
 */
export function commandHandlers({ discovery, guards, interfaceRead, traffic = null, stored = null, decoys = null }: {
  readonly discovery: Pick<HostDiscovery, "sweepNow" | "scans">;
  readonly guards: Pick<Guards, "learn" | "state">;
  readonly interfaceRead: Promise<void>;
  /** Null where no interface's traffic is read. */
  readonly traffic?: Parameters<typeof captureHandlers>[0];
  readonly stored?: StoredCaptures | null;
  /** Null where none are installed. */
  readonly decoys?: Pick<DecoysListener, "test"> | null;
}): CommandHandlers {
  return {
    async sweep() {
      await interfaceRead;
      const summary = await discovery.sweepNow();
      return {
        data: {
          outcome: summary.outcome, reasons: summary.reasons, networks: summary.networks, addresses: summary.addresses,
          packets_sent: summary.packetsSent, answered: summary.answered, new_hosts: summary.newHosts,
          duration_ms: Math.round(summary.durationMs),
        },
      };
    },
    async scan_start(command) {
      await interfaceRead;
      const begun = discovery.scans.start(command);
      return "refused" in begun ? begun : { data: { hosts_total: begun.hostsTotal } };
    },
    scan_cancel: async ({ scan_id: scanId }) => ({ data: { running: await discovery.scans.cancel(scanId) } }),
    guards_learn() {
      if (!guards.state().enabled) return Promise.resolve({ refused: "the guards are turned off" });
      guards.learn();
      return Promise.resolve({ data: { learning_until: guards.state().learning_until } });
    },
    async decoy_test({ decoy }) {
      if (!decoys) return { refused: "no decoys are installed beside this probe: see systemd/install.sh decoy", reason: "not-configured" };
      const outcome = await decoys.test(decoy);
      if ("problem" in outcome) return { refused: outcome.problem };
      const { incident_id: incidentId, service, destination_port: port } = outcome.hit;
      return { data: { incident_id: incidentId, service, port } };
    },
    ...captureHandlers(traffic, stored),
  };
}
