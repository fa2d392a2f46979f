import type { BusModule } from "../../bus/frame-bus.ts";
import { createGuards, type Guards, type GuardsDeps } from "../../detect/guards.ts";
import { createHostDiscovery, type HostDiscovery } from "../../discover/host-discovery.ts";
import type { HostDiscoveryDeps } from "../../discover/parts.ts";
import { createEgressPolicy, type EgressPolicy } from "../../egress/policy.ts";
import type { EgressKeys } from "../../egress/settings.ts";
import { createNeighborListener, type NeighborListener } from "../../listen/neighbor-listener.ts";
import type { ScanSettings } from "../../scan/settings.ts";
import { packetsPerSecond, type SweepSettings } from "../../sweep/settings.ts";

/** What hears the link, or a capture file in its place. */
export interface BusModules {
  readonly discovery: HostDiscovery;
  readonly neighbors: NeighborListener;
  readonly guards: Guards;
  /** In the order in which they hear a frame. */
  readonly all: readonly BusModule[];
}

/** The table of the bus's modules. Another detector is another row. @throws As `createHostDiscovery`. */
export function createBusModules(deps: HostDiscoveryDeps & Pick<GuardsDeps, "guardSettings">): BusModules {
  const discovery = createHostDiscovery(deps);
  const neighbors = createNeighborListener({ ...deps, ownMac: () => deps.interfaceFacts()?.mac ?? "" });
  const guards = createGuards(deps);
  return { discovery, neighbors, guards, all: [discovery, neighbors, guards] };
}

/** The ways out of a capture file: none. */
export const NO_WAYS_OUT = { openScanLink: null, routeTo: async () => null, nmap: null, reverseNames: null } as const;

/** What the file lets out. @param isReplay A capture file is read: nothing is swept. @throws ProbeError `config-invalid`. */
export function policyOf(
  { sweep, scan, networks, excluded }: EgressKeys & { readonly sweep: SweepSettings; readonly scan: ScanSettings }, isReplay: boolean,
): EgressPolicy {
  return createEgressPolicy({
    sweep: {
      enabled: sweep.enabled && !isReplay, intervalSeconds: sweep.interval_seconds, packetsPerSecond: packetsPerSecond(sweep),
      networks, routed: sweep.routed,
    },
    scanPacketsPerSecond: scan.packets_per_second, scanNetworks: scan.networks, excluded,
  });
}
