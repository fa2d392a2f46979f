import type { Log } from "@lanthorn/runtime";
import { hasIpv4, type Host } from "../hosts/host.ts";
import type { HostListener } from "../hosts/host-events.ts";
import type { ListenerQueries } from "./listener-queries.ts";
import { createNewcomerSweep, type SweepDeps } from "./newcomer-sweep.ts";
import { planSweep } from "./sweep-plan.ts";
import { startSweep, type Sweep, type SweepSummary } from "./sweeper.ts";

/** When sweeps are made: on start, on schedule, when asked for, and for newcomers that hide; never two at once. */
export interface SweepSchedule extends Required<Pick<HostListener, "onSpoken" | "onNewAddress" | "onPending">> {
  /** Call it twice a second while the link is up. */
  tick(now: number): void;
  /** A sweep now; one in progress is joined. */
  sweepNow(): Promise<SweepSummary>;
  /** The link came up or has other addresses: the next sweep is due at `at` (monotonic). */
  sweepAt(at: number): void;
  /** Ends the sweep in progress. */
  abort(reason: string): Promise<void>;
}

const PASSES = 3;

/** The first sweep is due at once. A sweep asks three times for an address that does not answer. */
export function createSweepSchedule(deps: SweepDeps & {
  readonly log: Log;
  readonly listenerQueries: ListenerQueries["packets"];
  /** Says once that a subnet is not swept, and why. */
  readonly onRefused: (reason: string) => void;
}): SweepSchedule {
  const { policy, clock, log } = deps;
  let running: { readonly sweep: Sweep; readonly summary: Promise<SweepSummary> } | null = null;
  let dueAt = clock.monotonic();
  let newHosts = 0;
  const newcomers = createNewcomerSweep(deps);

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
  return {
    tick(now) {
      if (!policy.sweepEnabled) return;
      void newcomers.tick(now, running !== null && !running.sweep.isEnding);
      if (now < dueAt || running) return;
      dueAt = now + policy.sweepIntervalMs;
      void begin("schedule");
    },
    sweepNow: () => begin("asked for"),
    sweepAt(at) {
      dueAt = Math.min(dueAt, at);
    },
    onNewAddress(host: Host) {
      if (host.published !== null || host.bindings.length !== 1) return;
      newHosts += 1;
      if (!hasIpv4(host)) newcomers.note(host.key);
    },
    onPending: (mac) => newcomers.note(mac),
    onSpoken(address) {
      running?.sweep.noteAnswer(address);
      newcomers.noteAnswer(address);
    },
    async abort(reason) {
      const ending = running?.summary;
      running?.sweep.abort(reason);
      await newcomers.abort(reason);
      await ending;
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
