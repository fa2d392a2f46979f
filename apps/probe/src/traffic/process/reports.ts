import type { PcapRecorded } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import type { FromProcess } from "../messages.ts";

/** Reports files to the daemon until it has them in its queue. */
export interface Reports {
  report(recorded: PcapRecorded): void;
  /** The daemon has this state of the file. @returns The file's facts when that was the last that there was to say of it. */
  noted(id: string, state: string): PcapRecorded | null;
  /** Says again what was not noted. */
  tick(): void;
}

/** More wait on the disk, and are reported after the next start. */
const MAX_WAITING = 1024;
const AGAIN_MS = 10_000;
/** Between two ticks: the daemon reads no more of them in a second. */
const MAX_AT_ONCE = 50;

/** Holds the last state of each file that was not noted. */
export function createReports(deps: {
  readonly send: (message: FromProcess) => boolean;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}): Reports {
  let said = 0;
  const waiting = new Map<string, { readonly recorded: PcapRecorded; readonly at: number; saidAt: number }>();

  function say(one: { readonly recorded: PcapRecorded; readonly at: number; saidAt: number }): void {
    said += 1;
    one.saidAt = deps.clock.monotonic();
    deps.send({ kind: "recorded", at: one.at, data: one.recorded });
  }

  return {
    report(recorded) {
      if (waiting.size >= MAX_WAITING && !waiting.has(recorded.pcap_id)) return;
      const one = { recorded, at: deps.clock.now(), saidAt: Number.NEGATIVE_INFINITY };
      waiting.set(recorded.pcap_id, one);
      if (said < MAX_AT_ONCE) say(one);
    },
    noted(id, state) {
      const one = waiting.get(id);
      if (one?.recorded.state !== state) return null;
      waiting.delete(id);
      return state === "recording" ? null : one.recorded;
    },
    tick() {
      said = 0;
      for (const one of waiting.values()) {
        if (said >= MAX_AT_ONCE) return;
        if (deps.clock.monotonic() - one.saidAt < AGAIN_MS) continue;
        say(one);
      }
    },
  };
}
