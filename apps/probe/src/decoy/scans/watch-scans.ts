/** The daemon's part in scans of decoys: it may capture, which their process may not, and gives that what it saw. */
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import { createScanCaptures } from "./scan-captures.ts";
import { MAX_LOOKS, type ScanLook } from "./scan-look.ts";
import { createScanWatch } from "./scan-watch.ts";

/** Runs until it is closed. */
export interface WatchedScans {
  /** Frames that were passed over in a flood, and looks that there was no room for. */
  counts(): { readonly passedOver: number; readonly leftOut: number };
  close(): Promise<void>;
}

const LOOK_MS = 1000;

/**
 * @param deps.addresses Of decoys, while their process runs; none otherwise. @param deps.send Gives looks to the decoys' process. False where it is away: then they wait.
 */
export function watchScans({ addresses, send, ...deps }: Omit<Parameters<typeof createScanCaptures>[0], "onFrames" | "clock"> & {
  readonly addresses: () => readonly string[]; readonly send: (looks: readonly ScanLook[]) => boolean; readonly random: () => number; readonly clock: Clock; readonly log: Pick<Log, "info" | "warn" | "debug">;
}): WatchedScans {
  const { clock, log, random } = deps;
  let watched: ReadonlySet<string> = new Set();
  const watch = createScanWatch({ addresses: () => watched, random });
  const captures = createScanCaptures({
    ...deps,
    onFrames(batch) {
      for (const frame of batch) watch.onFrame(frame);
    },
  });
  let waiting: readonly ScanLook[] = [];
  let said = 0;
  const turn = () => {
    const now = addresses();
    watched = new Set(now);
    captures.watch(now);
    watch.tick(clock.now());
    if (waiting.length === 0) waiting = watch.take(MAX_LOOKS);
    if (waiting.length > 0 && send(waiting)) waiting = [];
    const { passedOver, leftOut } = watch.counts();
    if (passedOver + leftOut > said) log.debug({ passedOver, leftOut, at: toInstant(clock.now()) }, "a flood at decoys: not all of it was looked at");
    said = passedOver + leftOut;
  };
  const end = clock.every(LOOK_MS, turn);
  return {
    counts: watch.counts,
    async close() {
      end();
      await captures.close();
    },
  };
}
