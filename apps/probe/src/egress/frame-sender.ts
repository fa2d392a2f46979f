import type { PacedSender } from "@lanthorn/packet-io";
import type { Exclusions } from "./exclusions.ts";
import { type EgressKind, mayLeave } from "./frames.ts";

/** The one way out for everything that discovery sends: no frame to an excluded address passes, and all share one rate. */
export interface FrameSender {
  /**
   * Sends frames at the rate of the moment, each made when its turn comes.
   * @returns How many left; fewer where the sender takes no more of them.
   * @throws What the interface's sender throws, and the signal's reason.
   */
  send(frames: Iterable<Uint8Array>, signal: AbortSignal): Promise<number>;
}

/** Frames in one order to the paced sender: so soon a change of the rate is felt. */
const SECONDS_AN_ORDER = 1;

/** @param deps.allowed All others are left out. @param deps.packetsPerSecond Read once a second while frames go out. @param deps.onSent Called before each frame. */
export function createFrameSender(deps: {
  readonly sender: Pick<PacedSender, "send">;
  readonly allowed: readonly EgressKind[];
  readonly exclusions: () => Exclusions;
  readonly packetsPerSecond: () => number;
  readonly onSent: (count: number) => void;
}): FrameSender {
  return {
    async send(frames, signal) {
      const source = frames[Symbol.iterator]();
      let sent = 0;
      let ended = false;
      let taken = 0;
      function* order(limit: number): Generator<Uint8Array> {
        for (let left = limit; left > 0; left -= 1) {
          const next = source.next();
          taken += 1;
          if (next.done === true) {
            ended = true;
            return;
          }
          if (!mayLeave(next.value, deps.allowed, deps.exclusions())) continue;
          sent += 1;
          deps.onSent(1);
          yield next.value;
        }
      }
      while (!ended) {
        signal.throwIfAborted();
        const before = taken;
        const framesPerSecond = deps.packetsPerSecond();
        await deps.sender.send(order(Math.ceil(framesPerSecond * SECONDS_AN_ORDER)), { framesPerSecond, signal });
        // A sender that takes nothing, as where a capture file stands in for the interface, would be asked for ever.
        if (taken === before) break;
      }
      return sent;
    },
  };
}
