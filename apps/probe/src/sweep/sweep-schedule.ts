import type { Clock, Log } from "@lanthorn/runtime";
import type { Link } from "../capture/link.ts";
import type { ListenerQueries } from "./listener-queries.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { FrameSender } from "../egress/frame-sender.ts";
import { planSweep } from "./sweep-plan.ts";
import { startSweep, type Sweep, type SweepSummary } from "./sweeper.ts";

/** When sweeps are made: on start, on schedule, when asked for, and for newcomers that hide; never two at once. */
export interface SweepSchedule {
  /** Call it each second while the link is up. */
  tick(now: number): void;
  /** A sweep now; one that is under way is joined. */
  sweepNow(): Promise<SweepSummary>;
  /** The link came up or has other addresses: the next sweep is due at `at` (monotonic). */
  sweepAt(at: number): void;
  /** A host was found. */
  noteNewHost(): void;
  /** A MAC that was never seen is there; where it may be hiding an IPv4 address, it is looked for. */
  noteNewcomer(mac: number): void;
  noteAnswer(address: Uint8Array): void;
  /** Ends what is under way. */
  abort(reason: string): Promise<void>;
}

const PASSES = 3;
/**
 * A newcomer with a fixed IPv4 address may never speak from it where we hear it: its first frames are IPv6 or no IP at all. Small subnets
 * are looked through for it, without the addresses that are known, and not so often that made-up MACs could make us flood the link.
 */
const NEWCOMER = { afterMs: 500, mostAddresses: 1024, fewestPacketsPerSecond: 100, pauseMs: 15_000, mostAtOnce: 64 } as const;

export function createSweepSchedule(deps: {
  readonly policy: EgressPolicy;
  readonly link: () => Link | null;
  readonly sender: FrameSender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly listenerQuestions: ListenerQueries["questions"];
  /** Whether a host is there at this IPv4 address. */
  readonly isTaken: (address: Uint8Array) => boolean;
  /** Whether a MAC shows no IPv4 address and is not about to. */
  readonly isHiding: (mac: number) => boolean;
  /** Says once that a subnet is not swept, and why. */
  readonly onRefused: (reason: string) => void;
}): SweepSchedule {
  const { policy, clock, log } = deps;
  let running: { readonly sweep: Sweep; readonly summary: Promise<SweepSummary> } | null = null;
  let dueAt = clock.monotonic();
  let newHosts = 0;
  const newcomers = new Set<number>();
  let newcomersSince = 0;
  let newcomerLookAt = Number.NEGATIVE_INFINITY;
  let newcomerLook: Sweep | null = null;

  const begin = (why: string): Promise<SweepSummary> => {
    if (running) return running.summary;
    const link = deps.link();
    const plan = link?.up ? planSweep(link, policy.networks) : { ranges: [], refused: ["the interface is down"] };
    const reasons = policy.sweepEnabled ? plan.refused : ["sweeping is switched off"];
    for (const reason of plan.refused) if (link?.up) deps.onRefused(reason);
    if (!policy.sweepEnabled || plan.ranges.length === 0) return Promise.resolve(refused(reasons));
    newHosts = 0;
    const sweep = startSweep({ ...deps, ranges: plan.ranges, passes: PASSES, isSkipped: () => false });
    const summary = sweep.done.then((done) => {
      running = null;
      const whole = { ...done, reasons: [...reasons, ...done.reasons], newHosts };
      log.info({ why, ...whole }, "sweep ended");
      return whole;
    });
    running = { sweep, summary };
    return summary;
  };
  const lookForNewcomer = async (now: number) => {
    if (newcomers.size === 0 || now - newcomersSince < NEWCOMER.afterMs || now - newcomerLookAt < NEWCOMER.pauseMs) return;
    const isHiding = [...newcomers].some((mac) => deps.isHiding(mac));
    newcomers.clear();
    const link = deps.link();
    const ranges = link ? planSweep(link, policy.networks).ranges : [];
    const size = ranges.reduce((sum, { count }) => sum + count, 0);
    const isCoveredAnyway = running !== null && !running.sweep.isEnding;
    const isCheap = size <= NEWCOMER.mostAddresses && policy.packetsPerSecond >= NEWCOMER.fewestPacketsPerSecond;
    if (!isHiding || isCoveredAnyway || !isCheap || size === 0) return;
    newcomerLookAt = now;
    newcomerLook = startSweep({ ...deps, ranges, passes: 1, isSkipped: deps.isTaken, listenerQuestions: () => [] });
    await newcomerLook.done;
    newcomerLook = null;
  };
  return {
    tick(now) {
      if (!policy.sweepEnabled) return;
      void lookForNewcomer(now);
      if (now < dueAt || running) return;
      dueAt = now + policy.sweepIntervalMs;
      void begin("schedule");
    },
    sweepNow: () => begin("asked for"),
    sweepAt(at) {
      dueAt = Math.min(dueAt, at);
    },
    noteNewHost() {
      newHosts += 1;
    },
    noteNewcomer(mac) {
      if (newcomers.size === 0) newcomersSince = clock.monotonic();
      if (newcomers.size < NEWCOMER.mostAtOnce) newcomers.add(mac);
    },
    noteAnswer(address) {
      running?.sweep.noteAnswer(address);
      newcomerLook?.noteAnswer(address);
    },
    async abort(reason) {
      const ending = { sweep: running?.summary, look: newcomerLook?.done };
      running?.sweep.abort(reason);
      newcomerLook?.abort(reason);
      await ending.sweep;
      await ending.look;
    },
  };
}

function refused(reasons: readonly string[]): SweepSummary {
  const nothing = { networks: [], addresses: 0, packetsSent: 0, answered: 0, newHosts: 0, durationMs: 0 };
  return {
    outcome: "refused",
    reasons: reasons.length > 0 ? reasons : ["the interface has no IPv4 subnet with other addresses"],
    ...nothing,
  };
}
