/** The daemon's side: it listens where the decoys' process of this machine may connect, and takes what it saw. */
import type { Clock, Log } from "@lanthorn/runtime";
import type { ChannelRate } from "../../channel/channel.ts";
import { listenOnSocket, type SocketListener } from "../../channel/socket-listener.ts";
import { FromDecoys, type ReportedHit, type ToDecoys } from "./messages.ts";

const RATE: ChannelRate = { messages: 100, bytes: 512 * 1024 };

/**
 * Begins at once, and tries again where it cannot.
 * @param deps.onHit False where it could not be written down: the decoys keep it.
 */
export function listenForDecoys(path: string, deps: {
  readonly onHit: (hit: ReportedHit) => boolean; readonly clock: Pick<Clock, "after" | "monotonic">; readonly log: Pick<Log, "warn">;
}): SocketListener {
  return listenOnSocket<FromDecoys, ToDecoys>(path, {
    who: "the decoys", incoming: FromDecoys, rate: RATE, clock: deps.clock, log: deps.log, onAllGone: () => undefined,
    onMessage({ number, hit }, answer) {
      if (deps.onHit(hit)) answer({ kind: "taken", number });
    },
  });
}
