import type { Clock } from "@lanthorn/runtime";
import type { Link } from "../capture/link.ts";
import type { FrameSender } from "../egress/frame-sender.ts";
import { startSweep, type Sweep } from "../sweep/sweeper.ts";
import type { SweepRange } from "../sweep/sweep-plan.ts";

/** A search of own IPv4 subnets at discovery's rate, where a scan has no frames of its own or is to be gentle. */
export interface PacedSearch extends Sweep {
  /** @param remaining Addresses that are still asked in each pass. @returns 0 to 1. */
  progress(remaining: number): number;
}

const PASSES = 3;

/** Begins the search. @param deps.sender The paced way out. */
export function startPacedSearch(deps: {
  readonly ranges: readonly SweepRange[];
  readonly link: () => Link | null;
  readonly sender: FrameSender;
  readonly clock: Clock;
  readonly random: () => number;
}): PacedSearch {
  let pass = 0;
  let asked = 0;
  const sender: FrameSender = {
    send(frames, signal) {
      pass += 1;
      asked = 0;
      function* counted() {
        for (const frame of frames) {
          asked += 1;
          yield frame;
        }
      }
      return deps.sender.send(counted(), signal);
    },
  };
  const sweep = startSweep({ ...deps, sender, passes: PASSES, isSkipped: () => false, asksAllNodes: false });
  return Object.assign(sweep, { progress: (remaining: number) => (pass - 1 + asked / Math.max(1, remaining)) / PASSES });
}
