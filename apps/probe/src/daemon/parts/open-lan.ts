import * as packetIo from "@lanthorn/packet-io";
import type { ReplayClock } from "../../bus/bus-clock.ts";
import { createLanWatch, type LanWatch } from "../../capture/lan-watch.ts";
import { createReplayWatch } from "../../capture/replay-watch.ts";
import { ProbeError } from "../../errors.ts";
import type { RoundContext } from "./round-context.ts";

/** Opens the interface, or the capture file in its place. @param deps.replayClock Given with a capture file. */
export function openLan(context: RoundContext, deps: {
  readonly replayClock: ReplayClock | null;
  /** Frames that somebody else hears. */
  readonly isLeftOut: NonNullable<packetIo.CaptureOptions["isLeftOut"]>;
  readonly onFrames: packetIo.OnFrames;
  readonly onReplayEnd: (problem: string | null) => void;
}): LanWatch {
  const { configuration, clock, random, log } = context;
  const { replayClock, onFrames } = deps;
  if (context.replay && replayClock) {
    return createReplayWatch({
      path: context.replay.path, networks: configuration.networks, openReplay: packetIo.openReplay, clock, onFrames,
      onEnd(problem) {
        context.lifecycle.onClose("time of the capture file", replayClock.follow());
        deps.onReplayEnd(problem);
      },
    });
  }
  const openCapture: typeof packetIo.openCapture = (options) => packetIo.openCapture({ ...options, isLeftOut: deps.isLeftOut });
  return createLanWatch({
    interface: configuration.interface ?? "", packetIo: { ...packetIo, openCapture }, clock, random, log, onFrames,
    onDenied: (cause) =>
      context.finish({ kind: "failed", error: new ProbeError("missing-capability", "the probe may not capture frames", { cause }) }),
  });
}
