import type { BusModule } from "../bus/frame-bus.ts";
import type { Narrowing } from "../egress/policy.ts";
import { observeFrame } from "../observe/observe-frame.ts";
import type { Scans } from "../scan/scans.ts";
import type { SweepSummary } from "../sweep/sweeper.ts";
import { createParts, type HostDiscoveryDeps } from "./parts.ts";
import { createRounds } from "./rounds.ts";

/** Finds the hosts of the interface's own subnets, and keeps whether they are there. */
export interface HostDiscovery extends Required<BusModule> {
  /** A sweep of the same networks; one in progress is joined. */
  sweepNow(): Promise<SweepSummary>;
  /** What people ask for, beside the sweeps by schedule. */
  readonly scans: Pick<Scans, "start" | "cancel">;
  /** Appends presence reports of every host with evidence since the start: for each new connection to the collector. */
  reportAll(): void;
  /** Lays the collector's wishes over the settings. @returns What is wrong with them, in which case nothing changes; else null. */
  configure(narrowing: Narrowing | null): string | null;
  counts(): { readonly online: number; readonly known: number };
  /** The MAC of the host that was seen last at an address; "" where none was. */
  macAt(ip: string): string;
  /** Ends a sweep and scans too. */
  close(): Promise<void>;
}

/** Runs the parts by the bus's time and the link's changes. @throws As `createParts`. */
export function createHostDiscovery(deps: HostDiscoveryDeps): HostDiscovery {
  const { policy } = deps;
  const parts = createParts(deps);
  const { link, hosts, polls, schedule, routed, scans } = parts;
  const { table, tracker } = hosts;
  const rounds = createRounds(parts, deps.clock);
  return {
    name: "discovery",
    start() {
      hosts.load();
      routed.start();
      scans.recover();
      link.refresh();
      rounds.tick(deps.clock.monotonic());
    },
    tick: (now) => rounds.tick(now),
    onFrame(frame) {
      if (link.link) observeFrame(frame, link.link, tracker);
    },
    sweepNow() {
      rounds.readLink();
      if (link.up) routed.roundNow();
      return schedule.sweepNow();
    },
    scans: {
      start(scan) {
        rounds.readLink();
        return scans.start(scan);
      },
      cancel: (scanId) => scans.cancel(scanId),
    },
    reportAll: () => rounds.report("all"),
    configure(narrowing) {
      const wrong = policy.narrow(narrowing);
      if (wrong === null && !policy.sweepEnabled) void rounds.abort("sweeping is switched off");
      return wrong;
    },
    counts: () => ({ online: table.online + routed.counts.online, known: table.size + routed.counts.known }),
    macAt(ip) {
      const [latest] = table.bindingsAt(ip).toSorted((one, other) => other.lastSeenAt - one.lastSeenAt);
      return table.atAddress(ip).find((host) => latest !== undefined && host.bindings.includes(latest))?.mac ?? "";
    },
    async close() {
      const sent = polls.close();
      await rounds.abort("the probe stops");
      await scans.abort("the probe was stopped");
      await sent;
      hosts.close();
    },
  };
}
