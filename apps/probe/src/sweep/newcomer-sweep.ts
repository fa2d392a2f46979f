import type { Clock } from "@lanthorn/runtime";
import type { Link } from "../capture/link.ts";
import type { FrameSender } from "../egress/frame-sender.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { planSweep } from "./sweep-plan.ts";
import { startSweep, type Sweep } from "./sweeper.ts";

/** Sweeps small subnets for the IPv4 addresses of newcomers that show none. */
export interface NewcomerSweep {
  /** A newcomer that may be hiding an IPv4 address. */
  note(mac: number): void;
  /** Call it twice a second. @param isSwept A sweep asks for all addresses anyway. */
  tick(now: number, isSwept: boolean): Promise<void>;
  noteAnswer(address: Uint8Array): void;
  /** Ends the sweep in progress. */
  abort(reason: string): Promise<void>;
}

/** What sweeps need of the probe. */
export interface SweepDeps {
  readonly policy: EgressPolicy;
  readonly link: () => Link | null;
  readonly sender: FrameSender;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether a host is there at this IPv4 address. */
  readonly isTaken: (address: Uint8Array) => boolean;
  /** Whether a MAC shows no IPv4 address and is not about to. */
  readonly isHiding: (mac: number) => boolean;
}

/**
 * A newcomer with a fixed IPv4 address may never speak from it where we hear it: its first frames are IPv6 or no IP at all. Small subnets
 * are swept for it, without the addresses that are known, and not so often that made-up MACs could make us flood the link.
 */
const NEWCOMER = { afterMs: 500, maxAddresses: 1024, minPacketsPerSecond: 100, pauseMs: 15_000, maxAtOnce: 64 } as const;

/** Asks once in 15 seconds at most, and nothing in subnets of more than 1024 addresses in all. */
export function createNewcomerSweep(deps: SweepDeps): NewcomerSweep {
  const { policy, clock } = deps;
  const newcomers = new Set<number>();
  let since = 0;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let sweep: Sweep | null = null;
  return {
    note(mac) {
      if (newcomers.size === 0) since = clock.monotonic();
      if (newcomers.size < NEWCOMER.maxAtOnce) newcomers.add(mac);
    },
    async tick(now, isSwept) {
      if (newcomers.size === 0 || now - since < NEWCOMER.afterMs || now - sweptAt < NEWCOMER.pauseMs) return;
      const isHiding = [...newcomers].some((mac) => deps.isHiding(mac));
      newcomers.clear();
      const link = deps.link();
      const ranges = link ? planSweep(link, policy.networks).ranges : [];
      const size = ranges.reduce((sum, { count }) => sum + count, 0);
      const isCheap = size <= NEWCOMER.maxAddresses && policy.packetsPerSecond >= NEWCOMER.minPacketsPerSecond;
      if (!isHiding || isSwept || !isCheap || size === 0) return;
      sweptAt = now;
      sweep = startSweep({ ...deps, ranges, passes: 1, isSkipped: deps.isTaken, listenerQueries: () => [] });
      await sweep.done;
      sweep = null;
    },
    noteAnswer: (address) => sweep?.noteAnswer(address),
    async abort(reason) {
      sweep?.abort(reason);
      await sweep?.done;
    },
  };
}
