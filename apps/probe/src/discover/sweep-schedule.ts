import type { Clock, Log } from "@lanthorn/runtime";
import { hasIpv4, type Host } from "../hosts/host.ts";
import type { Link } from "../observe/link.ts";
import type { Policy } from "./policy.ts";
import type { QuestionSender } from "./question-sender.ts";
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
  /** A host appeared with this address as its first. */
  noteNewcomer(host: Host, now: number): void;
  noteAnswer(address: Uint8Array): void;
  /** Ends the sweep under way. */
  abort(reason: string): Promise<void>;
}

const PASSES = 3;
/** A newcomer with IPv6 alone may have a fixed IPv4 address that it never speaks from: small subnets are looked through for it. */
const NEWCOMER = { afterMs: 1000, mostAddresses: 1024, fewestPacketsPerSecond: 100, pauseMs: 60_000 } as const;

export function createSweepSchedule(deps: {
  readonly policy: Policy;
  readonly link: () => Link | null;
  readonly sender: QuestionSender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Says once that a subnet is not swept, and why. */
  readonly onRefused: (reason: string) => void;
}): SweepSchedule {
  const { policy, clock, log } = deps;
  let running: { readonly sweep: Sweep; readonly summary: Promise<SweepSummary> } | null = null;
  let dueAt = clock.monotonic();
  let newHosts = 0;
  let newcomer: { readonly host: Host; readonly at: number } | null = null;
  let newcomerSweepAt = Number.NEGATIVE_INFINITY;

  const begin = (passes: number, why: string): Promise<SweepSummary> => {
    if (running) return running.summary;
    const link = deps.link();
    const plan = link?.up ? planSweep(link, policy.networks) : { ranges: [], refused: ["the interface is down"] };
    const reasons = policy.sweepEnabled ? plan.refused : ["sweeping is switched off"];
    for (const reason of plan.refused) if (link?.up) deps.onRefused(reason);
    if (!policy.sweepEnabled || plan.ranges.length === 0) return Promise.resolve(refused(reasons));
    newHosts = 0;
    const sweep = startSweep({ ...deps, ranges: plan.ranges, passes });
    const summary = sweep.done.then((done) => {
      running = null;
      const whole = { ...done, reasons: [...reasons, ...done.reasons], newHosts };
      log.info({ why, ...whole }, "sweep ended");
      return whole;
    });
    running = { sweep, summary };
    return summary;
  };
  const sweepForNewcomer = (now: number) => {
    if (!newcomer || now - newcomer.at < NEWCOMER.afterMs) return;
    const isHiding = !hasIpv4(newcomer.host);
    newcomer = null;
    const link = deps.link();
    const size = link ? planSweep(link, policy.networks).ranges.reduce((sum, { count }) => sum + count, 0) : 0;
    const isCheap = size > 0 && size <= NEWCOMER.mostAddresses && policy.packetsPerSecond >= NEWCOMER.fewestPacketsPerSecond;
    if (!isHiding || !isCheap || running || now - newcomerSweepAt < NEWCOMER.pauseMs) return;
    newcomerSweepAt = now;
    void begin(1, "newcomer without an IPv4 address");
  };
  return {
    tick(now) {
      sweepForNewcomer(now);
      if (now < dueAt || running || !policy.sweepEnabled) return;
      dueAt = now + policy.sweepIntervalMs;
      void begin(PASSES, "schedule");
    },
    sweepNow: () => begin(PASSES, "asked for"),
    sweepAt(at) {
      dueAt = Math.min(dueAt, at);
    },
    noteNewcomer(host, now) {
      newHosts += 1;
      if (!hasIpv4(host)) newcomer = { host, at: now };
    },
    noteAnswer(address) {
      running?.sweep.noteAnswer(address);
    },
    async abort(reason) {
      const ending = running;
      ending?.sweep.abort(reason);
      await ending?.summary;
    },
  };
}

function refused(reasons: readonly string[]): SweepSummary {
  const nothing = { networks: [], addresses: 0, packetsSent: 0, answered: 0, newHosts: 0, durationMs: 0 };
  return { outcome: "refused", reasons: reasons.length > 0 ? reasons : ["the interface has no IPv4 subnet with other addresses"], ...nothing };
}
